#include "core/step/step_profile.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/step/schedules/round_robin.h"
#include "core/step/streams/stream_program.h"

namespace prism::step {
namespace {

constexpr double kSecondsPerMillisecond = 1e-3;

constexpr int kTensorGroup = 0;
constexpr int kDataGroup = 1;
// Gathers and scatters have groups of their own, though of the same ranks: the
// draws of a group are numbered, and with more prefetching neither kind's
// numbers change.
constexpr int kGatherGroup = 2;
constexpr int kScatterGroup = 3;
constexpr int kCopiesGroup = 4;

enum Kind {
  kCompute,
  kTensorCommunication,
  kDataCommunication,
  kPipelineCommunication,
  kOptimizer,
  kParameterUpload  // where there is any
};

bool AnySegment(const StepProfile& profile,
                const std::function<bool(const ProfileSegment&)>& is) {
  for (const auto* segments :
       {&profile.forward, &profile.backward, &profile.backward_input,
        &profile.backward_weight}) {
    if (std::any_of(segments->begin(), segments->end(), is)) return true;
  }
  return false;
}

bool Gathers(const ProfileSegment& segment) {
  return segment.gather.has_value();
}
bool Scatters(const ProfileSegment& segment) {
  return segment.scatter.has_value();
}
bool Reduces(const ProfileSegment& segment) {
  return segment.reduce.has_value();
}
bool Overlaps(const ProfileSegment& segment) { return segment.overlap; }

class GraphBuilder {
 public:
  explicit GraphBuilder(const StepProfile& profile) : profile_(profile) {}

  StepGraph Build() {
    graph_.grid = {profile_.data, profile_.pipeline, profile_.tensor};
    graph_.kinds = {"compute", "tensor_communication", "data_communication",
                    "pipeline_communication", "optimizer"};
    graph_.groups = {{.lane_count = profile_.tensor},
                     {.replica_count = profile_.data}};
    AddStreams();
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
                .kind = kParameterUpload,
                .name = graph_.add_name("weight_upload")};
    graph_.streams = 2;
    graph_.kinds.push_back("parameter_upload");
    graph_.fetch = static_cast<int>(graph_.programs.size());
    graph_.programs.push_back({{{.name = "fetch", .tasks = {wait, upload}}}});
    graph_.fetches = std::move(fetches);
  }

  // Virtual stages of a round-robin run are the executions of a step.
  void AddExecutions() {
    const int executions = graph_.virtual_stages();
    const int backward =
        AddProgram(SequentialProgram(TasksOf(Phase::kBackward)));
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

  void AddStreams() {
    if (AnySegment(profile_, Gathers) || AnySegment(profile_, Scatters)) {
      graph_.streams = kDataStream + 1;
      const int shard = profile_.shard == 0 ? profile_.data : profile_.shard;
      const Group shards{.replica_count = shard};
      const Group copies{.replica_stride = shard,
                         .replica_count = profile_.data / shard};
      graph_.groups.insert(graph_.groups.end(), {shards, shards, copies});
    }
    if (AnySegment(profile_, Reduces)) graph_.streams = kCopiesStream + 1;
    if (AnySegment(profile_, Overlaps)) graph_.streams = kTensorStream + 1;
    streams_ = graph_.streams;
    if (streams_ > 1) graph_.overlap_slowdown = profile_.overlap_slowdown;
  }

  std::optional<Task> DataTask(const std::optional<stats::Distribution>& law,
                               int group, const std::string& name) {
    if (!law) return std::nullopt;
    return Task{.distribution = AddSeconds(*law),
                .factor_class = FactorClass::kNetwork,
                .group = group,
                .kind = kDataCommunication,
                .name = graph_.add_name(name)};
  }

  SegmentTasks TasksOf(const ProfileSegment& segment, const std::string& name) {
    SegmentTasks tasks;
    tasks.compute = {.distribution = AddSeconds(segment.compute),
                     .factor_class = FactorClass::kCompute,
                     .kind = kCompute,
                     .name = graph_.add_name(name)};
    tasks.collective = CollectiveTask(segment);
    tasks.collective->name =
        graph_.add_name(name + "." + graph_.kinds[tasks.collective->kind]);
    if (segment.sync == Sync::kData && streams_ > kDataStream) {
      tasks.collective->stream = kDataStream;
    } else if (streams_ > kTensorStream) {
      tasks.collective->stream = kTensorStream;
    }
    tasks.overlaps = segment.overlap;
    tasks.gather = DataTask(segment.gather, kGatherGroup, name + ".gather");
    tasks.scatter = DataTask(segment.scatter, kScatterGroup, name + ".scatter");
    tasks.reduce = DataTask(segment.reduce, kCopiesGroup, name + ".reduce");
    tasks.count = segment.count;
    return tasks;
  }

  int AddProgram(Program program) {
    graph_.programs.push_back(std::move(program));
    return static_cast<int>(graph_.programs.size()) - 1;
  }

  Program SequentialProgram(const std::vector<SegmentTasks>& segments) {
    Program program;
    for (const SegmentTasks& tasks : segments) {
      program.segments.push_back(
          {"", {tasks.compute, *tasks.collective}, tasks.count});
    }
    return program;
  }

  // The program of an operation that is the first or the last of its kind on
  // its virtual stage, or neither.
  int AddStreamProgram(std::vector<SegmentTasks> segments, bool first,
                       bool last) {
    for (SegmentTasks& tasks : segments) {
      if (profile_.gather_once && !first) tasks.gather.reset();
      if (profile_.scatter_once && !last) {
        tasks.scatter.reset();
        tasks.reduce.reset();
      }
    }
    return AddProgram(UnrollRuns(segments, profile_.prefetch));
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
      const std::vector<SegmentTasks> tasks =
          TasksOf(static_cast<Phase>(phase));
      const int program =
          streams_ > 1 ? AddStreamPrograms(tasks, phase, runs[phase].size())
                       : AddProgram(SequentialProgram(tasks));
      for (const bool is_run : runs[phase]) {
        graph_.program_of[phase].push_back(is_run ? program : -1);
      }
    }
  }

  std::vector<SegmentTasks> TasksOf(Phase phase) {
    std::vector<SegmentTasks> tasks;
    for (const auto* segments : SegmentsOf(phase)) {
      for (size_t i = 0; i < segments->size(); ++i) {
        tasks.push_back(TasksOf((*segments)[i], NameOf(*segments, i)));
      }
    }
    return tasks;
  }

  // Of one without a name its number, where there are several.
  std::string NameOf(const std::vector<ProfileSegment>& segments,
                     size_t i) const {
    const std::string part = &segments == &profile_.forward    ? "forward"
                             : &segments == &profile_.backward ? "backward"
                             : &segments == &profile_.backward_input
                                 ? "backward_input"
                                 : "backward_weight";
    if (!segments[i].name.empty()) return part + "." + segments[i].name;
    return segments.size() == 1 ? part : part + "." + std::to_string(i);
  }

  // Returns the program of operations that are neither first nor last.
  int AddStreamPrograms(const std::vector<SegmentTasks>& tasks, int phase,
                        size_t stages) {
    const auto set = [&](std::vector<int>& programs, bool first, bool last) {
      programs.assign(stages, AddStreamProgram(tasks, first, last));
    };
    if (profile_.gather_once || profile_.scatter_once) {
      set(graph_.first_program_of[phase], true, false);
      set(graph_.last_program_of[phase], false, true);
      set(graph_.only_program_of[phase], true, true);
    }
    return AddStreamProgram(tasks, false, false);
  }

  void AddClosing() {
    const Task reduce{.distribution = AddSeconds(profile_.gradient_sync),
                      .factor_class = FactorClass::kNetwork,
                      .group = kDataGroup,
                      .kind = kDataCommunication,
                      .name = graph_.add_name("gradient_sync")};
    const Task update{.distribution = AddSeconds(profile_.optimizer),
                      .factor_class = FactorClass::kOptimizer,
                      .kind = kOptimizer,
                      .name = graph_.add_name("optimizer")};
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
    graph_.shared_factors = {{profile_.compute_regime,
                              FactorScope::kStep,
                              {true, true, false},
                              "compute_regime"},
                             {profile_.network_regime,
                              FactorScope::kStep,
                              {false, false, true},
                              "network_regime"},
                             {profile_.microbatch_load,
                              FactorScope::kReplicaMicrobatch,
                              {true, false, false},
                              "microbatch_load"}};
    if (profile_.slowdown.empty()) return;
    graph_.slowdown.assign(profile_.ranks(), 1.0);
    for (const auto& [rank, factor] : profile_.slowdown) {
      PRISM_CHECK(rank >= 0 && rank < profile_.ranks());
      graph_.slowdown[rank] = factor;
    }
  }

  const StepProfile& profile_;
  StepGraph graph_;
  // Of communication beside computation; uploads have one of their own.
  int streams_ = 1;
};

}  // namespace

StepGraph BuildGraph(const StepProfile& profile) {
  return GraphBuilder(profile).Build();
}

}  // namespace prism::step
