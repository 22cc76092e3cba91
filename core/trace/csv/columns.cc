#include "core/trace/csv/columns.h"

#include <absl/status/status.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace prism::trace {
namespace {

// No job is larger, no clock runs longer.
constexpr int64_t kMostIndex = 10'000'000;
constexpr int64_t kMostChunk = std::numeric_limits<int16_t>::max();
constexpr double kMostSeconds = 1e12;

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// "7" and, as tables with missing values have it, "7.0".
std::optional<int64_t> ParseWhole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  const std::optional<double> number = ParseNumber(text);
  constexpr double kMostExact = 9e15;
  if (!number || std::abs(*number) > kMostExact ||
      *number != std::floor(*number)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*number);
}

bool IsBlank(std::string_view text) {
  return text.empty() || text == "nan" || text == "NaN" || text == "<NA>";
}

}  // namespace

const std::array<std::string_view, Columns::kColumns> Columns::kNames = {
    "dp_rank", "stage",  "step", "optype", "start_ts", "duration",
    "rank",    "seq_id", "mc",   "mb_id",  "gmc"};

absl::StatusOr<Columns> Columns::Find(std::span<const std::string_view> heading,
                                      DamageLog* damage) {
  Columns columns;
  columns.width_ = heading.size();
  columns.places_.fill(kMissing);
  for (size_t i = 0; i < heading.size(); ++i) {
    const auto* name = std::find(kNames.begin(), kNames.end(), heading[i]);
    int* place =
        name == kNames.end()
            ? nullptr
            : &columns.places_[static_cast<size_t>(name - kNames.begin())];
    if (place != nullptr && *place == kMissing) {
      *place = static_cast<int>(i);
    } else if (damage != nullptr) {
      damage->Add(1, "", "column ignored", heading[i]);
    }
  }
  std::vector<std::string> missing;
  for (int i = 0; i < kRequired; ++i) {
    if (columns.places_[i] == kMissing) missing.emplace_back(kNames[i]);
  }
  if (missing.empty()) return columns;
  return absl::InvalidArgumentError(absl::StrCat(
      "is no operator trace: its heading lacks the column",
      missing.size() > 1 ? "s " : " ", absl::StrJoin(missing, ", ")));
}

// Reads the fields of one row and remembers whether all were usable.
struct Columns::Reader {
  const Columns& columns;
  int64_t line;
  std::span<const std::string_view> fields;
  DamageLog* damage;
  bool ok = true;

  std::string_view Text(Column column) const {
    const int place = columns.places_[column];
    return place == kMissing ? std::string_view() : fields[place];
  }

  void Fail(Column column, std::string_view what) {
    ok = false;
    if (damage == nullptr) return;
    damage->Add(line, kNames[column], std::string(what) + "; row left out",
                Text(column));
  }

  double Seconds(Column column, double least) {
    const std::optional<double> value = ParseNumber(Text(column));
    if (value && *value >= least && *value <= kMostSeconds) return *value;
    Fail(column, !value || std::isnan(*value) ? "is not a number"
                 : *value < least             ? "is negative"
                                              : "is too large");
    return 0;
  }

  int64_t Index(Column column, int64_t below, std::string_view what) {
    const std::optional<int64_t> value = ParseWhole(Text(column));
    if (value && *value >= 0 && *value < below) return *value;
    Fail(column, value ? what : "is not a whole number");
    return 0;
  }

  // kNone where nothing is recorded.
  int64_t Optional(Column column, int64_t below) {
    const std::string_view text = Text(column);
    if (IsBlank(text)) return kNone;
    const std::optional<int64_t> value = ParseWhole(text);
    if (value && *value >= kNone && *value < below) return *value;
    Fail(column, value ? "is out of range" : "is not a whole number");
    return kNone;
  }

  OperationKind Kind() {
    const std::optional<OperationKind> kind = KindNamed(Text(kKind));
    if (kind) return *kind;
    ok = false;
    if (damage != nullptr) {
      damage->Add(
          line, kNames[kKind],
          absl::StrCat("names no kind of operation known here (",
                       absl::CHexEscape(std::string(Text(kKind).substr(0, 40))),
                       "); row left out"));
    }
    return OperationKind::kForwardCompute;
  }
};

std::optional<Columns::Row> Columns::Read(
    int64_t line, std::span<const std::string_view> fields,
    const std::optional<Sizes>& sizes, DamageLog* damage) const {
  if (fields.size() != width_) {
    if (damage != nullptr) {
      damage->Add(line, "",
                  absl::StrCat("the row has ", fields.size(), " of ", width_,
                               " fields; left out"));
    }
    return std::nullopt;
  }
  Reader reader{*this, line, fields, damage};
  Row row;
  Operation& operation = row.operation;
  row.step =
      reader.Index(kStep, std::numeric_limits<int64_t>::max(), "is negative");
  operation.kind = reader.Kind();
  operation.replica = static_cast<int32_t>(
      reader.Index(kReplica, sizes ? sizes->data : kMostIndex,
                   "is no data rank of the job"));
  operation.stage = static_cast<int32_t>(reader.Index(
      kStage, sizes ? sizes->pipeline : kMostIndex, "is no stage of the job"));
  operation.rank = static_cast<int32_t>(reader.Optional(kRank, kMostIndex));
  operation.sequence =
      static_cast<int32_t>(reader.Optional(kSequence, kMostIndex));
  operation.chunk = static_cast<int16_t>(reader.Optional(kChunk, kMostChunk));
  operation.virtual_stage =
      static_cast<int32_t>(reader.Optional(kVirtualStage, kMostIndex));
  operation.microbatch =
      static_cast<int32_t>(reader.Optional(kMicrobatch, kMostIndex));
  operation.start_seconds = reader.Seconds(kStart, -kMostSeconds);
  operation.duration_seconds = reader.Seconds(kDuration, 0);
  if (!reader.ok) return std::nullopt;
  return row;
}

}  // namespace prism::trace
