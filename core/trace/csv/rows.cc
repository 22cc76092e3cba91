#include "core/trace/csv/rows.h"

#include <algorithm>

namespace prism::trace {

void RowSplitter::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return Keep(bytes);
    if (rest_.empty()) {
      Row(bytes.substr(0, std::min(end, kMostLineBytes)));
    } else {
      Keep(bytes.substr(0, end));
      Row(rest_);
      rest_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

void RowSplitter::Finish() {
  if (!rest_.empty()) Row(rest_);
  rest_.clear();
}

void RowSplitter::Keep(std::string_view part) {
  rest_ += part.substr(0, kMostLineBytes - rest_.size());
}

void RowSplitter::Row(std::string_view line) {
  ++line_;
  if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return;
  fields_.clear();
  if (line.find('"') != std::string_view::npos) {
    SplitQuoted(line);
  } else {
    size_t comma = 0;
    while ((comma = line.find(',')) != std::string_view::npos) {
      fields_.push_back(line.substr(0, comma));
      line.remove_prefix(comma + 1);
    }
    fields_.push_back(line);
  }
  visit_(line_, fields_);
}

void RowSplitter::SplitQuoted(std::string_view line) {
  unquoted_.assign(1, "");
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool doubled = quoted && c == '"' && line.substr(i + 1, 1) == "\"";
    if (doubled) {
      unquoted_.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      unquoted_.emplace_back();
    } else {
      unquoted_.back() += c;
    }
  }
  fields_.assign(unquoted_.begin(), unquoted_.end());
}

}  // namespace prism::trace
