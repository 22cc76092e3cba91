// StepGraph: one training step as operations, dependencies and distributions.
//
// A step is run by ranks on a grid of replicas x stages x lanes; rank =
// (replica * stages + stage) * lanes + lane. The lanes of a stage are its
// tensor (and context, and expert) group. All replicas and all lanes run the
// same programs, so the graph holds one program per virtual stage and arrays
// only for what differs between ranks: 131,072 ranks are a few megabytes.
//
//   Operation  one micro-batch's forward or backward on one virtual stage. A
//              stage runs its operations in the order that `order` gives.
//   Chain      virtual stages that make up a whole model, one after the other.
//              DualPipe has two, through which micro-batches run in opposite
//              directions; every other schedule has one.
//   Program    what an operation does: segments, each repeated, of tasks.
//   Task       one draw of a duration on a stream of each rank, or of a group
//              of ranks that wait for each other first.
//   Hop        the way of activations or gradients to the next virtual stage;
//              it takes no time, and draws nothing, to one on the same stage.
//   Closing    a program that each rank runs when all its operations and
//              streams are done: gradient reduction, optimizer.
//   Update     a closing within a run of several steps that follow each other
//              without a flush: the rank then goes on with its operations.
//
// The graph knows neither jobs nor GPUs: a step profile, a job and a recorded
// trace are three front ends of it. All durations are seconds. Plain data:
// build it, Validate() it, then share it freely between threads.
#ifndef PRISM_CORE_STEP_STEP_GRAPH_H_
#define PRISM_CORE_STEP_STEP_GRAPH_H_

#include <absl/status/status.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/stats/distribution.h"

namespace prism::step {

struct RankGrid {
  int replicas = 1;
  int stages = 1;
  int lanes = 1;

  int64_t ranks() const {
    return static_cast<int64_t>(replicas) * stages * lanes;
  }
};

// A micro-batch's backward on a virtual stage is one operation, kBackward, or
// two: the input part, which makes the gradient that the stage before waits
// for, and the weight part, which comes at any time after it.
enum class Phase : uint8_t {
  kForward,
  kBackward,  // both parts; the gradient leaves when both are done
  kBackwardInput,
  kBackwardWeight,
};
inline constexpr int kPhases = 4;

// Whether the phase ends with a gradient for the virtual stage before.
constexpr bool SendsGradient(Phase phase) {
  return phase == Phase::kBackward || phase == Phase::kBackwardInput;
}

struct Operation {
  Phase phase = Phase::kForward;
  int virtual_stage = 0;
  int microbatch = 0;

  bool operator==(const Operation&) const = default;
};

// What persistent and shared factors a draw is multiplied by.
enum class FactorClass : uint8_t {
  kCompute,    // rank slowdown, stage scale, shared compute factors
  kOptimizer,  // rank slowdown, shared optimizer factors
  kNetwork,    // path factors, shared network factors
};
inline constexpr int kFactorClasses = 3;

// A partition of the ranks of a stage into groups of equal shape: a lattice of
// `lane_count` lanes `lane_stride` apart times `replica_count` replicas
// `replica_stride` apart. The tensor group is {1, lanes, 1, 1}, the data group
// {1, 1, 1, replicas}.
struct Group {
  int lane_stride = 1;
  int lane_count = 1;
  int replica_stride = 1;
  int replica_count = 1;

  bool spans_replicas() const { return replica_count > 1; }
  bool operator==(const Group&) const = default;
};

inline constexpr int kNoGroup = -1;

// A task starts when its stream is free, when the tasks it waits for have
// ended and, with a group, when this holds on every member.
struct Task {
  int distribution = 0;  // index into StepGraph::distributions
  FactorClass factor_class = FactorClass::kCompute;
  // Index into StepGraph::groups: the members wait for each other and share
  // one draw, with the factors of the group's first rank. kNoGroup: each rank
  // draws its own and waits for nobody.
  int group = kNoGroup;
  int stream = 0;
  // How many tasks back, in the unrolled order of the operation, the tasks it
  // waits for are; further back than the first means the operation's start.
  std::vector<int> after = {1};
  // The operation's end does not wait for this task; the closing does.
  bool detached = false;
  // Index into StepGraph::kinds.
  int kind = 0;
  // Stands in the place of a task that draws: a constant distribution, but the
  // draws of other tasks stay those they are beside it.
  bool frozen = false;
  // Index into StepGraph::names.
  int name = 0;

  bool operator==(const Task&) const = default;
};

// Tasks that run `count` times in a row.
struct Segment {
  std::string name = {};
  std::vector<Task> tasks = {};
  int64_t count = 1;
};

struct Program {
  std::vector<Segment> segments;
};

enum class FactorScope : uint8_t {
  kStep,               // one draw a step
  kReplica,            // one draw a step and replica
  kReplicaMicrobatch,  // one draw a step, replica and micro-batch
};

// Which replica and micro-batch of a step has which of the draws of a factor
// of scope kReplicaMicrobatch.
enum class LoadOrder : uint8_t {
  kAsDrawn,
  // Those of all replicas are sorted and dealt: a round for each micro-batch,
  // the replicas from first to last in one round and back in the next.
  kLongestFirst,
  kShortestFirst,
};

// A factor that several draws have in common.
struct SharedFactor {
  stats::Distribution distribution;  // dimensionless
  FactorScope scope = FactorScope::kStep;
  // Which draws it multiplies, by FactorClass.
  std::array<bool, kFactorClasses> applies_to = {};
  std::string name = {};
  LoadOrder order = LoadOrder::kAsDrawn;
};

struct StepGraph {
  RankGrid grid;
  int microbatches = 1;
  // Virtual stage -> stage that runs it.
  std::vector<int> stage_of = {0};
  // Divides virtual stages and micro-batches: the first virtual_stages() /
  // chains virtual stages are the first chain, and the first microbatches /
  // chains micro-batches run on them alone; and so on.
  int chains = 1;
  std::vector<stats::Distribution> distributions;
  std::vector<Group> groups;
  int streams = 1;
  // What time is spent on, for the nominal breakdown: Task::kind.
  std::vector<std::string> kinds = {"compute"};
  // What tasks do, for people: Task::name. "forward.attention" and what is
  // below it, "forward.attention.tensor_communication". Empty: as its kind.
  std::vector<std::string> names = {""};

  std::vector<Program> programs;
  // [phase][virtual stage] -> index into programs; -1 where no micro-batch runs
  // the phase. An inner list may be empty: all -1.
  std::array<std::vector<int>, kPhases> program_of;
  // The same for operations that are, in the order of the stage, the first or
  // the last of their kind on the virtual stage, or its only one, where they
  // run another program. A backward is of a kind with input parts when it comes
  // to the first, as both need the weights, and with weight parts when it comes
  // to the last, as both complete their gradients. Empty: none does, as in
  // continuous runs.
  std::array<std::vector<int>, kPhases> first_program_of;
  std::array<std::vector<int>, kPhases> last_program_of;
  std::array<std::vector<int>, kPhases> only_program_of;
  // Virtual stage -> factor on its compute draws, above 0. Empty: all 1.
  std::vector<double> stage_scale;

  // Hop from virtual stage u to u + 1 (forward), and from u + 1 to u
  // (backward): index into distributions. virtual stages - 1 entries each.
  // One draw an operation and replica, shared by the lanes, of class kNetwork.
  // Of no account within a stage and between chains.
  std::vector<int> forward_hop;
  std::vector<int> backward_hop;
  int hop_kind = 0;  // index into kinds

  // Stage -> its operations, in the order it runs them.
  std::vector<std::vector<Operation>> order;

  // Stage -> index into programs: what follows the last operation.
  std::vector<int> closing;

  // Where steps follow each other without a flush, the graph holds a run of
  // them and micro-batches are numbered through it. Stage -> for each step of
  // the run, at least two, how many of the stage's operations come before its
  // update, which runs the stage's closing; no operation comes after the last
  // one. Operations that no update waits for may be missing. The time of the
  // step is from when the last rank ends the last update but one to when the
  // last rank ends the last; of shared factors, "a step" is the run.
  // Empty: one step, which closes when everything is done.
  std::vector<std::vector<size_t>> updates;
  // Stage -> before which of its operations, in order and each once, it runs
  // the program `fetch`: it gets the parameters of what it runs next while it
  // runs something else. After an update where one is there too. Empty: none.
  std::vector<std::vector<size_t>> fetches;
  int fetch = 0;  // index into programs

  std::vector<SharedFactor> shared_factors;

  // Factor, at least 1, on the time that kCompute tasks of stream 0 take while
  // a kNetwork task runs on another stream of the rank.
  double overlap_slowdown = 1;

  // Rank -> factor on its compute and optimizer draws, above 0. Empty: all 1.
  std::vector<double> slowdown;

  // Factor on the hops over boundary u, by replica: [u * replicas + replica].
  // Above 0. Empty: all 1.
  std::vector<double> hop_factor;
  // Factor on the draws of a group, [group index][(stage * replicas + first
  // replica) * lanes + first lane]; an inner list may be empty: all 1.
  std::vector<std::vector<double>> group_factor;

  int virtual_stages() const { return static_cast<int>(stage_of.size()); }
  int chain_length() const { return virtual_stages() / chains; }
  int chain_of(int microbatch) const {
    return microbatch / (microbatches / chains);
  }
  // Whether steps follow each other without a flush.
  bool is_continuous() const { return !updates.empty(); }
  // Steps in the graph.
  int steps() const {
    return is_continuous() ? static_cast<int>(updates.front().size()) : 1;
  }
  int add_distribution(stats::Distribution d) {
    distributions.push_back(std::move(d));
    return static_cast<int>(distributions.size()) - 1;
  }
  // Index of `name` in names, where it is added unless it is there.
  int add_name(const std::string& name);

  // OK if every index, size and factor above is as promised and every stage
  // runs each of its operations exactly once: the forward, then the backward or
  // its two parts in order, as far as there are programs for them. Whether the
  // orders of different stages can deadlock is found when the graph is
  // scheduled.
  absl::Status Validate() const;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STEP_GRAPH_H_
