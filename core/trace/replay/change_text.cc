#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>
#include <map>
#include <string>

#include "core/trace/replay/change.h"

namespace prism::trace {
namespace {

template <typename Number>
std::optional<Number> Parse(std::string_view text) {
  Number value{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// `text` at the first `mark`; the second part is nothing without one.
std::pair<std::string_view, std::optional<std::string_view>> Cut(
    std::string_view text, char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, at), text.substr(at + 1)};
}

absl::Status Wrong(std::string_view what, std::string_view takes) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", std::string(what), "\" ", std::string(takes)));
}

bool SetKinds(std::string_view name, Source& source) {
  bool any = false;
  for (int i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    const bool forward_end = kind == OperationKind::kForwardSend ||
                             kind == OperationKind::kForwardReceive;
    const bool is_in =
        name == KindName(kind) ||
        (name == "forward" && kind == OperationKind::kForwardCompute) ||
        (name == "backward" && kind == OperationKind::kBackwardCompute) ||
        (name == "compute" && IsCompute(kind)) ||
        (name == "communication" && IsCommunication(kind)) ||
        (name == "forward-pp-comm" && forward_end) ||
        (name == "backward-pp-comm" && IsPointToPoint(kind) && !forward_end);
    source.kinds[static_cast<size_t>(i)] = is_in;
    any = any || is_in;
  }
  return any;
}

absl::StatusOr<Source> ParseSource(std::string_view text) {
  Source source;
  source.name = std::string(text);
  if (SetKinds(text, source)) return source;
  const auto [by, number_text] = Cut(text, ':');
  const std::optional<int32_t> number =
      Parse<int32_t>(number_text.value_or(""));
  if (number && *number >= 0) {
    source.kinds.fill(true);
    if (by == "stage") source.stage = *number;
    if (by == "rank") source.replica = *number;
    if (by == "worker") source.rank = *number;
    if (source.stage || source.replica || source.rank) return source;
  }
  return Wrong(text,
               "names no source; must be a kind of operation, forward, "
               "backward, compute, communication, stage:N, rank:N or worker:N");
}

absl::StatusOr<Change> ParseScale(std::string_view rest, Change change) {
  const auto [source_text, factor_text] = Cut(rest, '=');
  const std::optional<double> factor = Parse<double>(factor_text.value_or(""));
  if (!factor || !std::isfinite(*factor) || *factor < 0) {
    return Wrong(rest, "has no factor; must be SOURCE=FACTOR, from 0");
  }
  absl::StatusOr<Source> source = ParseSource(source_text);
  if (!source.ok()) return source.status();
  change.source = *std::move(source);
  change.factor = *factor;
  return change;
}

absl::StatusOr<Change> ParseFreeze(std::string_view rest, Change change) {
  absl::StatusOr<Source> source = ParseSource(rest);
  if (!source.ok()) return source.status();
  change.source = *std::move(source);
  return change;
}

absl::StatusOr<Change> ParseReplace(std::string_view rest, Change change) {
  const std::optional<int32_t> rank = Parse<int32_t>(rest);
  if (!rank || *rank < 0) return Wrong(rest, "is no rank");
  change.rank = *rank;
  return change;
}

absl::StatusOr<Change> ParseRebalance(std::optional<std::string_view> rest,
                                      Change change) {
  while (rest) {
    const auto [first, others] = Cut(*rest, ',');
    const std::optional<int> layers = Parse<int>(first);
    constexpr int kMostLayers = 1'000'000;
    if (!layers || *layers < 1 || *layers > kMostLayers) {
      return Wrong(first, "is no number of layers, from 1");
    }
    change.layers.push_back(*layers);
    rest = others;
  }
  return change;
}

}  // namespace

absl::StatusOr<Change> ParseChange(std::string_view text) {
  using Type = Change::Type;
  static constexpr std::pair<std::string_view, Type> kTypes[] = {
      {"scale", Type::kScale},
      {"freeze", Type::kFreeze},
      {"replace-rank", Type::kReplaceRank},
      {"rebalance-stages", Type::kRebalanceStages},
      {"sort-sequences", Type::kSortSequences}};
  const auto [name, rest] = Cut(text, ':');
  for (const auto& [known, type] : kTypes) {
    if (name != known) continue;
    Change change{std::string(text), type, {}, 1, 0, {}};
    switch (type) {
      case Type::kScale:
        return ParseScale(rest.value_or(""), change);
      case Type::kFreeze:
        return ParseFreeze(rest.value_or(""), change);
      case Type::kReplaceRank:
        return ParseReplace(rest.value_or(""), change);
      case Type::kRebalanceStages:
        return ParseRebalance(rest, change);
      case Type::kSortSequences:
        if (!rest) return change;
        return Wrong(*rest, "is too much: sort-sequences takes nothing");
    }
  }
  return Wrong(text,
               "is no change known here; must be scale:SOURCE=FACTOR, "
               "freeze:SOURCE, replace-rank:RANK, rebalance-stages or "
               "sort-sequences");
}

}  // namespace prism::trace
