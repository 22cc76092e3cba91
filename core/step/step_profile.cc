#include "core/step/step_profile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/check.h"
#include "core/step/schedules/round_robin.h"

namespace prism::step {
namespace {

constexpr double kSecondsPerMillisecond = 1e-3;

constexpr int kTensorGroup = 0;
constexpr int kDataGroup = 1;

enum Kind {
  kCompute,
  kTensorCommunication,
  kDataCommunication,
  kPipelineCommunication,
  kOptimizer,
  kParameterUpload  // where there is any
};

class GraphBuilder {
 public:
  explicit GraphBuilder(const StepProfile& profile) : profile_(profile) {}

  StepGraph Build() {
    graph_.grid = {profile_.data, profile_.pipeline, profile_.tensor};
    graph_.kinds = {"compute", "tensor_communication", "data_communication",
                    "pipeline_communication", "optimizer"};
    graph_.groups = {{.lane_count = profile_.tensor},
                     {.replica_count = profile_.data}};
    AddStages();
    AddClosing();
    AddHops();
    AddFactors();
    return std::move(graph_);
  }

 private:
  int AddSeconds(const stats::Distribution& milliseconds) {
    return graph_.add_distribution(
        milliseconds.ScaledBy(kSecondsPerMillisecond));
  }

  void AddStages() {
    if (IsContinuous(profile_.schedule)) return AddRun();
    auto order = OrderOf(profile_);
    PRISM_CHECK(order.ok());
    AddPrograms(PhasesOf(*order));
    PutOrder(*std::move(order), graph_);
    graph_.stage_scale = profile_.stage_scale;
  }

  void AddRun() {
    auto run = MakeRun(profile_.schedule, profile_.shape());
    PRISM_CHECK(run.ok());
    graph_.microbatches = run->microbatches;
    graph_.stage_of = std::move(run->stage_of);
    graph_.order = std::move(run->order);
    graph_.updates = std::move(run->updates);
    if (profile_.uploads_weights()) AddUploads(std::move(run->fetches));
    const size_t stages = graph_.stage_of.size();
    std::array<std::vector<bool>, kPhases> runs;
    runs[0].assign(stages, true);
    runs[1].assign(stages, profile_.schedule != ScheduleKind::kRoundRobin);
    AddPrograms(runs);
    graph_.stage_scale = profile_.stage_scale;
    if (profile_.schedule == ScheduleKind::kRoundRobin) AddExecutions();
  }

  // The rank waits for the upload under way, which is of what it runs next, and
  // begins that of what it runs then.
  void AddUploads(std::vector<std::vector<size_t>> fetches) {
    constexpr int kUploadStream = 1;
    Task wait{.distribution = AddSeconds(stats::Distribution::MakeConstant(0)),
              .stream = kUploadStream,
              .after = {},
              .kind = kParameterUpload};
    Task upload{.distribution = AddSeconds(profile_.weight_upload),
                .factor_class = FactorClass::kNetwork,
                .stream = kUploadStream,
                .detached = true,
                .kind = kParameterUpload};
    graph_.streams = 2;
    graph_.kinds.push_back("parameter_upload");
    graph_.fetch = static_cast<int>(graph_.programs.size());
    graph_.programs.push_back({{{.name = "fetch", .tasks = {wait, upload}}}});
    graph_.fetches = std::move(fetches);
  }

  // Virtual stages of a round-robin run are the executions of a step.
  void AddExecutions() {
    const int executions = graph_.virtual_stages();
    const int backward = static_cast<int>(graph_.programs.size());
    graph_.programs.emplace_back();
    for (const auto* segments : SegmentsOf(Phase::kBackward)) {
      AddSegments(*segments);
    }
    std::vector<double> scale;
    for (int k = 0; k < executions; ++k) {
      const Execution execution = ExecutionAt(k, executions / 2);
      if (!execution.forward) graph_.program_of[0][k] = backward;
      if (profile_.stage_scale.empty()) continue;
      scale.push_back(profile_.stage_scale[execution.model_stage]);
    }
    graph_.stage_scale = std::move(scale);
  }

  Task CollectiveTask(const ProfileSegment& segment) {
    Task task{.distribution = AddSeconds(segment.collective),
              .factor_class = FactorClass::kNetwork};
    switch (segment.sync) {
      case Sync::kNone:
        task.kind = kTensorCommunication;
        break;
      case Sync::kTensor:
        task.group = kTensorGroup;
        task.kind = kTensorCommunication;
        break;
      case Sync::kData:
        task.group = kDataGroup;
        task.kind = kDataCommunication;
        break;
    }
    return task;
  }

  // Appends the segments to the last program.
  void AddSegments(const std::vector<ProfileSegment>& segments) {
    for (const ProfileSegment& segment : segments) {
      const Task compute{.distribution = AddSeconds(segment.compute),
                         .factor_class = FactorClass::kCompute,
                         .kind = kCompute};
      graph_.programs.back().segments.push_back(
          {"", {compute, CollectiveTask(segment)}, segment.count});
    }
  }

  using SegmentLists = std::vector<const std::vector<ProfileSegment>*>;

  SegmentLists SegmentsOf(Phase phase) const {
    switch (phase) {
      case Phase::kForward:
        return {&profile_.forward};
      case Phase::kBackward:
        if (!profile_.backward.empty()) return {&profile_.backward};
        return {&profile_.backward_input, &profile_.backward_weight};
      case Phase::kBackwardInput:
        return {&profile_.backward_input};
      case Phase::kBackwardWeight:
        return {&profile_.backward_weight};
    }
    return {};
  }

  void AddPrograms(const std::array<std::vector<bool>, kPhases>& runs) {
    for (int phase = 0; phase < kPhases; ++phase) {
      if (std::find(runs[phase].begin(), runs[phase].end(), true) ==
          runs[phase].end()) {
        continue;
      }
      const int program = static_cast<int>(graph_.programs.size());
      graph_.programs.emplace_back();
      for (const auto* segments : SegmentsOf(static_cast<Phase>(phase))) {
        AddSegments(*segments);
      }
      for (const bool is_run : runs[phase]) {
        graph_.program_of[phase].push_back(is_run ? program : -1);
      }
    }
  }

  void AddClosing() {
    const Task reduce{.distribution = AddSeconds(profile_.gradient_sync),
                      .factor_class = FactorClass::kNetwork,
                      .group = kDataGroup,
                      .kind = kDataCommunication};
    const Task update{.distribution = AddSeconds(profile_.optimizer),
                      .factor_class = FactorClass::kOptimizer,
                      .kind = kOptimizer};
    graph_.programs.push_back(
        {{{.name = "closing", .tasks = {reduce, update}}}});
    graph_.closing.assign(profile_.pipeline,
                          static_cast<int>(graph_.programs.size()) - 1);
  }

  void AddHops() {
    const int hop = AddSeconds(profile_.transfer);
    graph_.forward_hop.assign(graph_.virtual_stages() - 1, hop);
    graph_.backward_hop.assign(graph_.virtual_stages() - 1, hop);
    graph_.hop_kind = kPipelineCommunication;
  }

  void AddFactors() {
    graph_.shared_factors = {
        {profile_.compute_regime, FactorScope::kStep, {true, true, false}},
        {profile_.network_regime, FactorScope::kStep, {false, false, true}},
        {profile_.microbatch_load,
         FactorScope::kReplicaMicrobatch,
         {true, false, false}}};
    if (profile_.slowdown.empty()) return;
    graph_.slowdown.assign(profile_.ranks(), 1.0);
    for (const auto& [rank, factor] : profile_.slowdown) {
      PRISM_CHECK(rank >= 0 && rank < profile_.ranks());
      graph_.slowdown[rank] = factor;
    }
  }

  const StepProfile& profile_;
  StepGraph graph_;
};

}  // namespace

StepGraph BuildGraph(const StepProfile& profile) {
  return GraphBuilder(profile).Build();
}

}  // namespace prism::step
