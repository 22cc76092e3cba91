#include "core/query/read_order.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/query/limits.h"
#include "core/step/pass_progress.h"

namespace prism::query {
namespace {

using step::Operation;
using step::Phase;
using step::ScheduleKind;
using step::ShapeProblem;
using step::StepProfile;

// An operation as a document writes it.
struct Token {
  char letter = 'F';
  int microbatch = 0;
  int chunk = 0;
};

// Takes a number off the front of `text`.
std::optional<int> TakeNumber(std::string_view& text) {
  int number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// Nothing where `text` is no operation.
std::optional<Token> ParseToken(std::string_view text) {
  if (text.empty() ||
      std::string_view("FBW").find(text.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  Token token{.letter = text.front()};
  text.remove_prefix(1);
  const auto microbatch = TakeNumber(text);
  if (!microbatch) return std::nullopt;
  token.microbatch = *microbatch;
  if (text.empty()) return token;
  if (text.front() != '.') return std::nullopt;
  text.remove_prefix(1);
  const auto chunk = TakeNumber(text);
  if (!chunk || !text.empty()) return std::nullopt;
  token.chunk = *chunk;
  return token;
}

class CustomReader {
 public:
  CustomReader(const prism::v1::StepProfile& message, const FieldPath& path,
               Checker& checker, StepProfile& profile)
      : message_(message),
        path_(path),
        order_path_(path.Field("order")),
        checker_(checker),
        profile_(profile),
        chunks_(static_cast<size_t>(profile.pipeline)) {}

  void Read() {
    const int before = checker_.failures();
    ReadStageOf();
    if (!checker_.Require(
            message_.order_size() == profile_.pipeline, order_path_,
            absl::StrCat("has ", message_.order_size(),
                         " stages; must have one for each of the ",
                         profile_.pipeline,
                         " of layout.pipeline for the custom schedule"))) {
      return;
    }
    for (int s = 0; s < message_.order_size(); ++s) ReadStage(s);
    if (checker_.failures() > before) return;
    NameInputParts();
    CheckSteps();
    if (checker_.failures() > before) return;
    const auto order = OrderOf(profile_);
    checker_.Require(
        order.ok(), order_path_,
        absl::StrCat("cannot run: ", std::string(order.status().message())));
  }

 private:
  void ReadStageOf() {
    const FieldPath path = path_.Field("stage_of");
    const int count = profile_.pipeline * profile_.virtual_stages;
    std::vector<int> stage_of(static_cast<size_t>(count));
    for (int u = 0; u < count; ++u) stage_of[u] = u % profile_.pipeline;
    const auto looped = stage_of;
    if (message_.stage_of_size() > 0) {
      checker_.Require(
          message_.stage_of_size() == count, path,
          absl::StrCat("has ", message_.stage_of_size(),
                       " stages; must have one for each of the ", count,
                       " virtual stages (pipeline * virtual)"));
    }
    for (int u = 0; u < std::min(message_.stage_of_size(), count); ++u) {
      stage_of[u] = static_cast<int>(checker_.Between(
          message_.stage_of(u), 0, profile_.pipeline - 1, path.Item(u)));
    }
    for (int u = 0; u < count; ++u) chunks_[stage_of[u]].push_back(u);
    if (stage_of != looped) profile_.stage_of = std::move(stage_of);
  }

  void ReadStage(int stage) {
    const FieldPath item = order_path_.Item(stage);
    const FieldPath path = item.Field("operations");
    auto& operations = profile_.order.emplace_back();
    const auto& texts = message_.order(stage).operations();
    for (int k = 0; k < texts.size(); ++k) {
      const auto token = ParseToken(texts[k]);
      if (!token) {
        checker_.Fail(path.Item(k),
                      absl::StrCat("is \"", texts[k],
                                   "\"; must be F, B or W with a micro-batch "
                                   "and perhaps a chunk, as in F3 or B3.1"));
        continue;
      }
      if (const auto op = OperationOf(*token, stage, path.Item(k))) {
        operations.push_back(*op);
      }
    }
  }

  std::optional<Operation> OperationOf(const Token& token, int stage,
                                       const FieldPath& path) {
    const auto& chunks = chunks_[static_cast<size_t>(stage)];
    const int most = static_cast<int>(chunks.size());
    const bool exists = checker_.Require(
        token.microbatch < profile_.microbatches, path,
        absl::StrCat("is of micro-batch ", token.microbatch,
                     "; must be one of the ", profile_.microbatches,
                     " of layout.microbatches, counted from 0"));
    if (!checker_.Require(
            token.chunk < most, path,
            absl::StrCat("is on chunk ", token.chunk,
                         "; must be on one of the ", most, " of stage ", stage,
                         ", counted from 0")) ||
        !exists) {
      return std::nullopt;
    }
    const Phase phase = token.letter == 'F'   ? Phase::kForward
                        : token.letter == 'B' ? Phase::kBackward
                                              : Phase::kBackwardWeight;
    return Operation{phase, chunks[static_cast<size_t>(token.chunk)],
                     token.microbatch};
  }

  size_t IndexOf(const Operation& op) const {
    return static_cast<size_t>(op.virtual_stage) * profile_.microbatches +
           op.microbatch;
  }
  size_t Passes() const {
    return static_cast<size_t>(profile_.pipeline) * profile_.virtual_stages *
           profile_.microbatches;
  }

  // A backward that a weight part follows is the input part.
  void NameInputParts() {
    std::vector<bool> has_weight(Passes());
    for (const auto& operations : profile_.order) {
      for (const Operation& op : operations) {
        if (op.phase == Phase::kBackwardWeight) has_weight[IndexOf(op)] = true;
      }
    }
    for (auto& operations : profile_.order) {
      for (Operation& op : operations) {
        if (op.phase == Phase::kBackward && has_weight[IndexOf(op)]) {
          op.phase = Phase::kBackwardInput;
        }
      }
    }
  }

  void CheckSteps() {
    std::vector<step::PassProgress> progress(Passes());
    for (int stage = 0; stage < profile_.pipeline; ++stage) {
      const FieldPath item = order_path_.Item(stage);
      const FieldPath path = item.Field("operations");
      const auto& operations = profile_.order[static_cast<size_t>(stage)];
      for (size_t k = 0; k < operations.size(); ++k) {
        checker_.Require(
            step::Advance(operations[k].phase,
                          progress[IndexOf(operations[k])]),
            path.Item(static_cast<int64_t>(k)),
            absl::StrCat("is \"",
                         message_.order(stage).operations(static_cast<int>(k)),
                         "\"; must come once, F before B before W"));
      }
    }
  }

  const prism::v1::StepProfile& message_;
  const FieldPath& path_;
  const FieldPath order_path_;
  Checker& checker_;
  StepProfile& profile_;
  std::vector<std::vector<int>> chunks_;  // virtual stages, by stage
};

void ReadActivationLimit(double limit, const FieldPath& path, Checker& checker,
                         StepProfile& profile) {
  const double read = checker.AtLeast(limit, 1, path);
  const double plain = std::min(profile.pipeline, profile.microbatches);
  if (read != plain) profile.activation_limit = read;
}

}  // namespace

ScheduleKind ReadSchedule(const prism::v1::StepProfile& message,
                          const FieldPath& path, Checker& checker) {
  return checker.Choose<prism::v1::Schedule, ScheduleKind>(
      message.schedule(),
      {{prism::v1::SCHEDULE_UNSPECIFIED, ScheduleKind::kOneForwardOneBackward},
       {prism::v1::SCHEDULE_ONE_FORWARD_ONE_BACKWARD,
        ScheduleKind::kOneForwardOneBackward},
       {prism::v1::SCHEDULE_GPIPE, ScheduleKind::kGpipe},
       {prism::v1::SCHEDULE_INTERLEAVED, ScheduleKind::kInterleaved},
       {prism::v1::SCHEDULE_BREADTH_FIRST, ScheduleKind::kBreadthFirst},
       {prism::v1::SCHEDULE_ZERO_BUBBLE_H1, ScheduleKind::kZeroBubbleH1},
       {prism::v1::SCHEDULE_ZERO_BUBBLE_H2, ScheduleKind::kZeroBubbleH2},
       {prism::v1::SCHEDULE_ZERO_BUBBLE_V, ScheduleKind::kZeroBubbleV},
       {prism::v1::SCHEDULE_HALF_MEMORY_V, ScheduleKind::kHalfMemoryV},
       {prism::v1::SCHEDULE_THIRD_MEMORY_V, ScheduleKind::kThirdMemoryV},
       {prism::v1::SCHEDULE_DUAL_PIPE, ScheduleKind::kDualPipe},
       {prism::v1::SCHEDULE_DUAL_PIPE_V, ScheduleKind::kDualPipeV},
       {prism::v1::SCHEDULE_ZERO_BUBBLE_AUTOMATIC, ScheduleKind::kAutomatic},
       {prism::v1::SCHEDULE_CUSTOM, ScheduleKind::kCustom},
       {prism::v1::SCHEDULE_TWO_BUFFERED_WEIGHTS,
        ScheduleKind::kTwoBufferedWeights},
       {prism::v1::SCHEDULE_BUBBLE_FREE, ScheduleKind::kBubbleFree},
       {prism::v1::SCHEDULE_ROUND_ROBIN, ScheduleKind::kRoundRobin}},
      path.Field("schedule"));
}

void ReadOrder(const prism::v1::StepProfile& message, const FieldPath& path,
               Checker& checker, StepProfile& profile) {
  for (const ShapeProblem& problem :
       CheckShape(profile.schedule, profile.shape())) {
    checker.Fail(path.Field("layout").Field(std::string(NameOf(problem.size))),
                 problem.what);
  }
  if (profile.schedule == ScheduleKind::kCustom) {
    // Larger ones have failed by now.
    const int64_t virtual_stages =
        int64_t{profile.pipeline} * profile.virtual_stages;
    if (virtual_stages > kMostOperations ||
        virtual_stages * profile.microbatches > kMostOperations) {
      return;
    }
    CustomReader(message, path, checker, profile).Read();
  } else {
    checker.Require(message.order().empty(), path.Field("order"),
                    "is given; must be left out unless schedule is custom");
    checker.Require(message.stage_of().empty(), path.Field("stage_of"),
                    "is given; must be left out unless schedule is custom");
  }
  if (profile.schedule == ScheduleKind::kAutomatic) {
    const int64_t operations = int64_t{profile.pipeline} *
                               profile.virtual_stages * profile.microbatches;
    checker.Require(
        operations <= kMostSearchedOperations, path.Field("layout"),
        absl::StrCat("has ", operations,
                     " micro-batches times virtual stages; must be at most ",
                     kMostSearchedOperations, " for the zb-auto schedule"));
  }
  if (!message.has_activation_limit()) return;
  const FieldPath limit = path.Field("activation_limit");
  if (checker.Require(profile.schedule == ScheduleKind::kAutomatic, limit,
                      "is given; must be left out unless schedule is "
                      "zb-auto")) {
    ReadActivationLimit(message.activation_limit(), limit, checker, profile);
  }
}

}  // namespace prism::query
