#include "core/trace/damage.h"

#include <absl/strings/str_cat.h>

namespace prism::trace {
namespace {

constexpr size_t kMostExampleBytes = 40;

// `text` in quotes, unprintable bytes as '?', cut where it is long.
std::string Shown(std::string_view text) {
  std::string shown = "\"";
  for (const char c : text.substr(0, kMostExampleBytes)) {
    shown += c >= ' ' && c <= '~' ? c : '?';
  }
  return shown + (text.size() > kMostExampleBytes ? "...\"" : "\"");
}

}  // namespace

std::string Describe(const Damage& damage) {
  std::string text = damage.file;
  if (damage.line > 0) absl::StrAppend(&text, ":", damage.line);
  if (!text.empty()) text += ": ";
  if (!damage.field.empty()) absl::StrAppend(&text, damage.field, " ");
  if (!damage.example.empty()) absl::StrAppend(&text, damage.example, " ");
  text += damage.what;
  if (damage.count > 1) absl::StrAppend(&text, " (", damage.count, " times)");
  return text;
}

void DamageLog::Add(int64_t line, std::string_view field, std::string_view what,
                    std::string_view example, int64_t count) {
  Key key{file_, field, what};
  if (const auto found = index_.find(key); found != index_.end()) {
    entries_[found->second].count += count;
    return;
  }
  if (entries_.size() >= kMost) {
    unnamed_ += count;
    return;
  }
  index_.emplace(std::move(key), entries_.size());
  entries_.push_back({file_, line, std::string(field), std::string(what),
                      example.empty() ? "" : Shown(example), count});
}

int64_t DamageLog::total() const {
  int64_t total = unnamed_;
  for (const Damage& damage : entries_) total += damage.count;
  return total;
}

}  // namespace prism::trace
