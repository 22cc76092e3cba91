// ProgramRunner: runs programs on the rows of one block of elements.
//
// The inner loop of the simulation: every task adds a row of draws, times its
// factors, to the clocks of all lanes and elements; a group's task first takes
// the maximum over its members.
#ifndef PRISM_CORE_STEP_PROGRAM_RUNNER_H_
#define PRISM_CORE_STEP_PROGRAM_RUNNER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/step/compiled_graph.h"
#include "core/step/elements.h"
#include "core/step/step_observer.h"
#include "core/step/streams/busy_times.h"
#include "core/step/streams/kind_ledger.h"

namespace prism::step {

enum class DrawMode {
  kRandom,
  kNominal,  // every draw and shared factor at its stated mean
};

// What is run, and where.
struct ProgramContext {
  int program = 0;
  int stage = 0;
  double stage_scale = 1;
  int microbatch = kAbsent;  // kAbsent: factors of micro-batches do not apply
  // Coordinate of the random streams: an operation's id or the closing's.
  uint32_t stream_operation = 0;
};

// Not thread-safe: one per thread, reused from block to block.
class ProgramRunner {
 public:
  // Requires: `compiled` outlives the runner.
  ProgramRunner(const CompiledGraph& compiled, uint64_t random_key,
                DrawMode mode);

  // Draws the shared factors of `elements` and starts all stream clocks at 0.
  // With `whole_samples`, elements come sample by sample with all replicas,
  // which programs with groups across replicas require.
  void BeginBlock(const Elements& elements, bool whole_samples);

  // Runs a program on the ranks of a stage: `clock` holds rows [lane][element]
  // with the ranks' clocks before and after.
  void Run(const ProgramContext& context, double* clock);

  // Moves `clock` on to when all streams of the ranks of `stage` are done.
  void Drain(int stage, double* clock);

  // arrival[lane][element] = clock + one draw of the hop per element.
  void Send(const PlannedOperation& planned, const double* clock,
            double* arrival);

  // Memory taken by what is remembered of the block under way; it grows with
  // what communication beside computation is still to run.
  size_t remembered_bytes() const;

  // Shows tasks; null: to nobody. See BlockSimulator::Observe.
  void Observe(StepObserver* observer) { observer_ = observer; }

  // Books from each block on where the time went. Requires blocks of whole
  // samples.
  void TrackKinds() { track_kinds_ = true; }
  bool tracks_kinds() const { return track_kinds_; }
  KindLedger& ledger() { return ledger_; }

 private:
  // A pair of rows of uniforms: the second is kept for the next draw.
  struct Space {
    uint32_t next_slot = 0;
    std::vector<double> first, second;
  };
  // The factor of a class on one operation: rows [lane][element] or [element],
  // or the same number for all.
  struct Factor {
    const double* row = nullptr;
    bool per_lane = false;
    double scale = 1;
  };
  // Elements whose streams and factors give a group's draws, where they stand
  // in the block, and the group of each element.
  struct GroupLayout {
    Elements leaders;
    std::vector<uint32_t> leader_element;
    std::vector<uint32_t> leader_of;
  };

  void DrawSharedFactors();
  void DrawFactorRow(const SharedFactor& factor, int index, uint32_t microbatch,
                     double* row);
  // Rows [micro-batch][element] of a factor whose draws are dealt out.
  void DealFactorRows(const SharedFactor& factor, int index, double* rows);
  void BuildRankFactors();
  void BuildGroupLayouts();
  void BeginStreams();
  void SelectFactors(const ProgramContext& context);

  void RunChain(const Program& program, double* clock);
  void RunStreams(const Program& program, double* clock);
  void RunTask(const Task& task, double* end);
  void Await(const Task& task, double* end);
  const double* EndOfTask(int64_t back) const;
  bool IsSlowed(const Task& task) const;
  void BookWait(const Task& task);
  void NoteLatest(int kind, const double* end, const double* clock);
  void BookOperationEnd(const double* clock);
  double* StreamClock(int stage, int stream);
  void AddOwnDraw(const Task& task, double* clock);
  void AddGroupDraw(const Task& task, double* clock);
  void Meet(const Task& task, double* clock);
  void CopyToMembers(const Group& group, int leader_lane, double* clock);
  void SynchroniseGroup(const Task& task, int leader_lane, double* clock);
  void AddGroupLaneDraw(const Task& task, int leader_lane, const double* draws,
                        double* clock);
  // Uniforms of the next draw of every rank's own, [lane][element].
  const double* NextOwnUniforms();
  const double* OwnDraws(const stats::Sampler& sampler);
  // Draws of a group, one row [leader] per group of lanes, at the leader lane's
  // place; null of a frozen task, whose draws are passed over.
  const double* GroupDraws(const stats::Sampler& sampler, const Task& task);
  double GroupFactor(int group, int leader_lane, size_t element) const;

  const StepGraph& graph_;
  const CompiledGraph& compiled_;
  const uint64_t random_key_;
  const DrawMode mode_;
  const int lanes_;

  const Elements* elements_ = nullptr;
  bool whole_samples_ = false;
  size_t stride_ = 0;
  size_t rows_ = 0;  // lanes_ * stride_

  // Shared factors by class: of the step and replica, and of each micro-batch.
  std::array<std::vector<double>, kFactorClasses> step_factor_;
  std::array<std::vector<double>, kFactorClasses> microbatch_factor_;
  // slowdown times step factor, rows [stage][lane][element] of the two classes
  // that slowdown applies to.
  std::array<std::vector<double>, kFactorClasses> rank_factor_;
  std::vector<GroupLayout> group_layout_;
  std::vector<double> stream_clock_;
  std::vector<uint64_t> zeros_;

  ProgramContext context_;
  std::array<Factor, kFactorClasses> factor_;
  std::array<std::vector<double>, kFactorClasses> factor_rows_;
  Space own_space_;
  std::vector<Space> group_space_;  // by group
  std::vector<double> draws_;
  std::vector<double> row_;
  // Of the task under way: when the rank was ready, when the task started.
  std::vector<double> before_, begin_;
  // The program under way: its start, a ring of the last tasks' ends and kinds,
  // how many tasks have run; the kind of the task that ended last, by row.
  std::vector<double> start_, ends_;
  std::vector<int> end_kinds_, latest_kind_;
  int64_t ring_ = 1;
  int64_t tasks_run_ = 0;
  std::vector<BusyTimes> busy_times_;  // by stage, where overlap slows
  std::vector<double> work_;
  stats::Sampler::Scratch scratch_;

  StepObserver* observer_ = nullptr;
  bool track_kinds_ = false;
  KindLedger ledger_;
  std::vector<int> stream_kind_;  // of the last task, [stage][stream]
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_PROGRAM_RUNNER_H_
