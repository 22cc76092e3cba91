#include "client/validate/csv.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace prism::validate {
namespace {

using Cells = std::vector<std::string>;

std::string Is(std::string_view value, std::string_view accepted) {
  return absl::StrCat("is \"", std::string(value), "\"; must be ",
                      std::string(accepted));
}

// Splits lines into cells; quoted cells may hold commas, quotes and line ends.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  int line() const { return line_; }  // on which the next row begins

  Cells Next() {
    Cells cells(1);
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '"') {
        // A doubled quote inside quotes is one.
        if (quoted && text_.substr(at_ + 1, 1) == "\"") {
          cells.back() += text_[at_++];
        } else {
          quoted = !quoted;
        }
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else if (c == '\n' && !quoted) {
        ++at_;
        break;
      } else {
        cells.back() += c;
      }
    }
    for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
    return cells;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

bool Blank(const Cells& cells) { return cells.size() == 1 && cells[0].empty(); }

// The columns that `heading` lacks.
Cells Missing(const Cells& columns, const Cells& heading) {
  Cells missing;
  for (const std::string& column : columns) {
    if (std::find(heading.begin(), heading.end(), column) == heading.end()) {
      missing.push_back(column);
    }
  }
  return missing;
}

void AddTo(base::Violations& wrong, const CsvRow& row) {
  for (const base::Violation& violation : row.wrong().list()) {
    wrong.Add(absl::StrCat(row.place(), ": ", violation.field),
              violation.description);
  }
}

}  // namespace

CsvRow::CsvRow(const Cells& heading, const Cells& cells, std::string place)
    : heading_(heading), cells_(cells), place_(std::move(place)) {}

const std::string* CsvRow::Find(std::string_view column) const {
  const auto found = std::find(heading_.begin(), heading_.end(), column);
  const auto index = static_cast<size_t>(found - heading_.begin());
  if (index >= cells_.size() || cells_[index].empty()) return nullptr;
  return &cells_[index];
}

const std::string* CsvRow::Require(std::string_view column) {
  const std::string* cell = Find(column);
  if (cell == nullptr) Fail(column, "is missing");
  return cell;
}

bool CsvRow::Has(std::string_view column) const {
  return Find(column) != nullptr;
}

std::string CsvRow::Text(std::string_view column) {
  const std::string* cell = Require(column);
  return cell == nullptr ? "" : *cell;
}

std::string CsvRow::TextOr(std::string_view column,
                           std::string_view fallback) const {
  const std::string* cell = Find(column);
  return cell == nullptr ? std::string(fallback) : *cell;
}

uint32_t CsvRow::Count(std::string_view column) {
  const std::string* cell = Require(column);
  if (cell == nullptr) return 1;
  double value = 0;
  if (absl::SimpleAtod(*cell, &value) && value >= 1 && value <= UINT32_MAX &&
      value == std::floor(value)) {
    return static_cast<uint32_t>(value);
  }
  Fail(column,
       Is(*cell, absl::StrCat("a whole number from 1 to ", UINT32_MAX)));
  return 1;
}

uint32_t CsvRow::CountOr(std::string_view column, uint32_t fallback) {
  return Has(column) ? Count(column) : fallback;
}

double CsvRow::Positive(std::string_view column) {
  const std::string* cell = Require(column);
  if (cell == nullptr) return 1;
  double value = 0;
  if (absl::SimpleAtod(*cell, &value) && value > 0 && std::isfinite(value)) {
    return value;
  }
  Fail(column, Is(*cell, "a number above 0"));
  return 1;
}

bool CsvRow::Flag(std::string_view column) {
  const std::string* cell = Require(column);
  if (cell == nullptr) return false;
  bool value = false;
  if (!absl::SimpleAtob(*cell, &value)) {
    Fail(column, Is(*cell, "0, 1, true or false"));
  }
  return value;
}

void CsvRow::Fail(std::string_view column, std::string description) {
  wrong_.Add(std::string(column), std::move(description));
}

void ForEachRow(const std::string& name, const std::string& text,
                const Cells& columns, const std::function<void(CsvRow&)>& read,
                base::Violations& wrong) {
  Splitter splitter(text);
  const Cells heading = splitter.Next();
  const Cells missing = Missing(columns, heading);
  if (!missing.empty()) {
    wrong.Add(name + ":1",
              absl::StrCat("lacks the columns ", absl::StrJoin(missing, ", ")));
    return;
  }
  while (!splitter.done()) {
    const int line = splitter.line();
    const Cells cells = splitter.Next();
    if (Blank(cells)) continue;
    CsvRow row(heading, cells, absl::StrCat(name, ":", line));
    if (cells.size() != heading.size()) {
      row.Fail("row", absl::StrCat("has ", cells.size(), " cells; must have ",
                                   heading.size()));
    } else {
      read(row);
    }
    AddTo(wrong, row);
  }
}

}  // namespace prism::validate
