#include "core/step/step_profile.h"

#include "core/base/check.h"

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
  kOptimizer
};

class GraphBuilder {
 public:
  explicit GraphBuilder(const StepProfile& profile) : profile_(profile) {}

  StepGraph Build() {
    graph_.grid = {profile_.data, profile_.pipeline, profile_.tensor};
    graph_.microbatches = profile_.microbatches;
    graph_.kinds = {"compute", "tensor_communication", "data_communication",
                    "pipeline_communication", "optimizer"};
    graph_.groups = {{.lane_count = profile_.tensor},
                     {.replica_count = profile_.data}};
    AddStages();
    AddPrograms();
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
    const int virtual_stages = profile_.pipeline * profile_.virtual_stages;
    graph_.stage_of.resize(virtual_stages);
    for (int u = 0; u < virtual_stages; ++u) {
      graph_.stage_of[u] = u % profile_.pipeline;
    }
    graph_.stage_scale = profile_.stage_scale;
    graph_.order = StageOrders(profile_.schedule, profile_.pipeline,
                               profile_.virtual_stages, profile_.microbatches);
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

  int AddProgram(const std::vector<ProfileSegment>& segments) {
    Program program;
    for (const ProfileSegment& segment : segments) {
      const Task compute{.distribution = AddSeconds(segment.compute),
                         .factor_class = FactorClass::kCompute,
                         .kind = kCompute};
      program.segments.push_back(
          {"", {compute, CollectiveTask(segment)}, segment.count});
    }
    graph_.programs.push_back(std::move(program));
    return static_cast<int>(graph_.programs.size()) - 1;
  }

  void AddPrograms() {
    const int virtual_stages = graph_.virtual_stages();
    graph_.program_of[0].assign(virtual_stages, AddProgram(profile_.forward));
    graph_.program_of[1].assign(virtual_stages, AddProgram(profile_.backward));
    graph_.program_of[2].assign(virtual_stages, -1);

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
