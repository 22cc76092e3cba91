#include "core/query/read_profile.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/query/limits.h"
#include "core/query/read_distribution.h"
#include "core/query/read_order.h"
#include "core/query/read_streams.h"

namespace prism::query {
namespace {

using prism::v1::Segment;
using step::ScheduleKind;
using step::StepProfile;

constexpr int64_t kMostCopies = 1 << 20;  // of anything in one layout

class ProfileReader {
 public:
  ProfileReader(const prism::v1::StepProfile& message, const FieldPath& path,
                Checker& checker)
      : message_(message), path_(path), checker_(checker) {}

  StepProfile Read() {
    profile_.schedule = ReadSchedule(message_, path_, checker_);
    ReadLayout();
    ReadOrder(message_, path_, checker_, profile_);
    const int64_t forward = ReadSegments(
        message_.forward(), path_.Field("forward"), profile_.forward);
    CheckWork(forward + ReadBackward());
    ReadStreams(message_, path_, checker_, profile_);
    ReadStageScale();
    ReadDistributions();
    ReadSlowdown();
    return std::move(profile_);
  }

 private:
  int Size(uint32_t value, const FieldPath& path) {
    return static_cast<int>(checker_.BetweenOr(value, 1, 1, kMostCopies, path));
  }

  void ReadLayout() {
    const FieldPath path = path_.Field("layout");
    const auto& layout = message_.layout();
    profile_.data = Size(layout.data(), path.Field("data"));
    profile_.pipeline = Size(layout.pipeline(), path.Field("pipeline"));
    profile_.tensor = Size(layout.tensor(), path.Field("tensor"));
    profile_.virtual_stages =
        layout.virtual_() == 0 ? step::DefaultChunks(profile_.schedule)
                               : Size(layout.virtual_(), path.Field("virtual"));
    profile_.microbatches =
        Size(layout.microbatches(), path.Field("microbatches"));
    sizes_fit_ = checker_.Require(
        profile_.ranks() <= kMostRanks, path,
        absl::StrCat("has ", profile_.ranks(),
                     " ranks (data * pipeline * tensor); must be at most ",
                     kMostRanks));
    CheckPipelineSize(
        {profile_.pipeline, profile_.virtual_stages, profile_.microbatches},
        path, checker_);
    if (IsContinuous(profile_.schedule)) CheckRun(path);
  }

  // Steps that are simulated for one.
  int64_t Steps() const {
    return IsContinuous(profile_.schedule)
               ? step::WarmUpSteps(profile_.pipeline, profile_.microbatches) + 1
               : 1;
  }

  void CheckRun(const FieldPath& path) {
    const int64_t passes =
        Steps() * profile_.microbatches * profile_.virtual_stages;
    sizes_fit_ =
        checker_.Require(
            passes <= kMostOperationsPerStage &&
                passes * profile_.pipeline <= kMostOperations,
            path,
            absl::StrCat("has ", passes * profile_.pipeline,
                         " micro-batches times virtual stages in the ", Steps(),
                         " steps that are simulated for one; must be at most ",
                         kMostOperations, ", and ", kMostOperationsPerStage,
                         " a stage")) &&
        sizes_fit_;
  }

  // Whether the two parts of a backward are ever run apart.
  bool RunsParts() const {
    if (profile_.schedule != ScheduleKind::kCustom) {
      return NeedsParts(profile_.schedule);
    }
    return std::any_of(profile_.order.begin(), profile_.order.end(),
                       [](const auto& operations) {
                         return std::any_of(
                             operations.begin(), operations.end(),
                             [](const step::Operation& op) {
                               return op.phase == step::Phase::kBackwardInput;
                             });
                       });
  }

  // Returns how many runs of segments a backward has. Parts that always follow
  // each other are read as one.
  int64_t ReadBackward() {
    const bool parts = RunsParts();
    const bool has_parts = !message_.backward_input().empty() ||
                           !message_.backward_weight().empty();
    if (!parts && !has_parts) {
      return ReadSegments(message_.backward(), path_.Field("backward"),
                          profile_.backward);
    }
    checker_.Require(
        message_.backward().empty(), path_.Field("backward"),
        parts ? absl::StrCat("is given; must be given as backward_input and "
                             "backward_weight for the ",
                             std::string(NameOf(profile_.schedule)),
                             " schedule, which runs them apart")
              : "is given beside its parts; must be left out where "
                "backward_input and backward_weight are given");
    auto& input = profile_.backward_input;
    auto& weight = profile_.backward_weight;
    const int64_t runs = ReadSegments(message_.backward_input(),
                                      path_.Field("backward_input"), input) +
                         ReadSegments(message_.backward_weight(),
                                      path_.Field("backward_weight"), weight);
    if (!parts) {
      profile_.backward = std::exchange(input, {});
      profile_.backward.insert(profile_.backward.end(), weight.begin(),
                               weight.end());
      weight.clear();
    }
    return runs;
  }

  // Returns how many runs of segments one operation has.
  int64_t ReadSegments(
      const google::protobuf::RepeatedPtrField<Segment>& messages,
      const FieldPath& path, std::vector<step::ProfileSegment>& segments) {
    checker_.Require(!messages.empty(), path,
                     "is missing; must have at least one segment");
    int64_t runs = 0;
    for (int i = 0; i < messages.size(); ++i) {
      segments.push_back(ReadSegment(messages[i], path.Item(i)));
      runs += segments.back().count;
    }
    checker_.Require(
        runs <= kMostRunsPerOperation, path,
        absl::StrCat("runs ", runs,
                     " segments in all (the sum of count); must be at most ",
                     kMostRunsPerOperation));
    return runs;
  }

  step::ProfileSegment ReadSegment(const Segment& message,
                                   const FieldPath& path) {
    step::ProfileSegment segment;
    segment.name = message.name();
    if (checker_.Require(message.has_compute(), path.Field("compute"),
                         "is missing; must be a distribution")) {
      segment.compute =
          ReadDistribution(message.compute(), path.Field("compute"), checker_);
    }
    if (message.has_collective()) {
      segment.collective = ReadDistribution(message.collective(),
                                            path.Field("collective"), checker_);
    }
    segment.sync = ReadSync(message.sync(), path.Field("sync"));
    if (message.has_count()) {
      segment.count = checker_.Between(
          message.count(), 1, kMostRunsPerOperation, path.Field("count"));
    }
    ReadSegmentStreams(message, path, checker_, segment);
    return segment;
  }

  step::Sync ReadSync(prism::v1::Sync value, const FieldPath& path) {
    const auto sync = checker_.Choose<prism::v1::Sync, step::Sync>(
        value,
        {{prism::v1::SYNC_UNSPECIFIED, step::Sync::kNone},
         {prism::v1::SYNC_NONE, step::Sync::kNone},
         {prism::v1::SYNC_TENSOR, step::Sync::kTensor},
         {prism::v1::SYNC_DATA, step::Sync::kData}},
        path);
    checker_.Require(sync != step::Sync::kData || profile_.pipeline == 1, path,
                     "is data; must be none or tensor unless layout.pipeline "
                     "is 1");
    return sync;
  }

  void CheckWork(int64_t runs) {
    if (!sizes_fit_ || runs > 3 * kMostRunsPerOperation) return;
    const int64_t operations = std::min<int64_t>(
        kMostOperationsPerStage,
        int64_t{profile_.microbatches} * profile_.virtual_stages);
    const int64_t draws = Steps() * profile_.ranks() * operations * runs;
    checker_.Require(
        draws <= kMostDraws, path_.Field("layout"),
        absl::StrCat("asks for ", draws,
                     " segment runs in one step (ranks * microbatches * "
                     "virtual * count); must be at most ",
                     kMostDraws));
  }

  void ReadStageScale() {
    if (message_.stage_scale().empty()) return;
    const FieldPath path = path_.Field("stage_scale");
    const int64_t stages = int64_t{profile_.pipeline} * profile_.virtual_stages;
    checker_.Require(
        message_.stage_scale_size() == stages, path,
        absl::StrCat("has ", message_.stage_scale_size(),
                     " factors; must have one for each of the ", stages,
                     " virtual stages (pipeline * virtual)"));
    auto& scale = profile_.stage_scale;
    for (int i = 0; i < message_.stage_scale_size(); ++i) {
      scale.push_back(checker_.Above(message_.stage_scale(i), 0, path.Item(i)));
    }
    const auto is_one = [](double factor) { return factor == 1; };
    if (std::all_of(scale.begin(), scale.end(), is_one)) scale.clear();
  }

  void ReadDistributions() {
    const auto& m = message_;
    const auto read = [this](bool has, const auto& message, const char* name,
                             auto reader, stats::Distribution& distribution) {
      if (!has) return;
      distribution = reader(message, path_.Field(name), checker_);
    };
    read(m.has_transfer(), m.transfer(), "transfer", ReadDistribution,
         profile_.transfer);
    read(m.has_gradient_sync(), m.gradient_sync(), "gradient_sync",
         ReadDistribution, profile_.gradient_sync);
    read(m.has_optimizer(), m.optimizer(), "optimizer", ReadDistribution,
         profile_.optimizer);
    read(m.has_weight_upload(), m.weight_upload(), "weight_upload",
         ReadDistribution, profile_.weight_upload);
    checker_.Require(!m.has_weight_upload() ||
                         profile_.schedule == ScheduleKind::kRoundRobin,
                     path_.Field("weight_upload"),
                     "is given; must be left out unless schedule is "
                     "round-robin");
    read(m.has_compute_regime(), m.compute_regime(), "compute_regime",
         ReadFactor, profile_.compute_regime);
    read(m.has_network_regime(), m.network_regime(), "network_regime",
         ReadFactor, profile_.network_regime);
    read(m.has_microbatch_load(), m.microbatch_load(), "microbatch_load",
         ReadFactor, profile_.microbatch_load);
  }

  void ReadSlowdown() {
    const FieldPath path = path_.Field("slowdown");
    auto& slowdown = profile_.slowdown;
    slowdown.assign(message_.slowdown().begin(), message_.slowdown().end());
    std::sort(slowdown.begin(), slowdown.end());
    for (const auto& [rank, factor] : slowdown) {
      const FieldPath item = path.Item(rank);
      checker_.Above(factor, 0, item);
      if (!sizes_fit_ || rank < profile_.ranks()) continue;
      checker_.Fail(item,
                    absl::StrCat("is for rank ", rank, "; must be from 0 to ",
                                 profile_.ranks() - 1));
    }
    std::erase_if(slowdown, [](const auto& s) { return s.second == 1; });
  }

  const prism::v1::StepProfile& message_;
  const FieldPath& path_;
  Checker& checker_;
  StepProfile profile_;
  bool sizes_fit_ = true;
};

}  // namespace

StepProfile ReadProfile(const prism::v1::StepProfile& message,
                        const FieldPath& path, Checker& checker) {
  return ProfileReader(message, path, checker).Read();
}

}  // namespace prism::query
