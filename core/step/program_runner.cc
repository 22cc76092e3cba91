#include "core/step/program_runner.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"

namespace prism::step {
namespace {

using stats::RowStream;
using stats::Sampler;

// The second coordinate of a random stream: operations and closings by their
// ids, hops and shared factors beside them.
constexpr uint32_t kHopStreams = 1u << 30;
constexpr uint32_t kFactorStreams = 1u << 31;
// The first coordinate: draws of groups beside those of single ranks.
constexpr uint32_t kGroupSlots = 1u << 31;

void MultiplyBy(const double* factor, size_t n, double* row) {
  for (size_t i = 0; i < n; ++i) row[i] *= factor[i];
}

}  // namespace

ProgramRunner::ProgramRunner(const CompiledGraph& compiled, uint64_t random_key,
                             DrawMode mode)
    : graph_(*compiled.graph),
      compiled_(compiled),
      random_key_(random_key),
      mode_(mode),
      lanes_(compiled.graph->grid.lanes),
      group_layout_(compiled.graph->groups.size()),
      group_space_(compiled.graph->groups.size()) {}

void ProgramRunner::BeginBlock(const Elements& elements, bool whole_samples) {
  elements_ = &elements;
  whole_samples_ = whole_samples;
  stride_ = elements.stride();
  rows_ = lanes_ * stride_;
  zeros_.assign(stride_, 0);
  draws_.resize(rows_);
  row_.resize(stride_);
  own_space_.first.resize(rows_);
  own_space_.second.resize(rows_);
  DrawSharedFactors();
  BuildRankFactors();
  BuildGroupLayouts();
  BeginStreams();
  if (track_kinds_) {
    latest_kind_.resize(rows_);
    ledger_.Reset(graph_.grid.stages, graph_.kinds.size(), rows_);
  }
}

void ProgramRunner::BeginStreams() {
  before_.resize(rows_);
  work_.resize(rows_);
  if (!compiled_.has_streams) return;
  const size_t stages = graph_.grid.stages;
  stream_clock_.assign(stages * graph_.streams * rows_, 0);
  stream_kind_.assign(stages * graph_.streams, 0);
  if (graph_.overlap_slowdown == 1) return;
  busy_times_.resize(stages);
  for (BusyTimes& times : busy_times_) {
    times.Reset(graph_.streams, rows_, graph_.overlap_slowdown);
  }
}

double* ProgramRunner::StreamClock(int stage, int stream) {
  return &stream_clock_[(stage * graph_.streams + stream) * rows_];
}

void ProgramRunner::DrawFactorRow(const SharedFactor& factor, int index,
                                  uint32_t microbatch, double* row) {
  const Sampler& sampler = compiled_.factor_samplers[index];
  if (mode_ == DrawMode::kNominal || sampler.is_constant()) {
    std::fill(row, row + stride_, sampler.stated_mean());
    return;
  }
  const uint64_t* replica = factor.scope == FactorScope::kStep
                                ? zeros_.data()
                                : elements_->replica.data();
  const RowStream stream{random_key_, microbatch,
                         kFactorStreams | static_cast<uint32_t>(index), replica,
                         elements_->sample.data()};
  stats::UniformRows(stream, stride_, own_space_.first.data(),
                     own_space_.second.data());
  sampler.Draw(own_space_.first.data(), stride_, scratch_, row);
}

// All replicas of a sample are drawn, whichever of them are in the block.
void ProgramRunner::DealFactorRows(const SharedFactor& factor, int index,
                                   double* rows) {
  const size_t replicas = static_cast<size_t>(graph_.grid.replicas);
  const size_t count = static_cast<size_t>(graph_.microbatches);
  const size_t width = stats::RowSize(replicas);
  std::vector<uint64_t> replica(width, 0), sample(width);
  for (size_t r = 0; r < replicas; ++r) replica[r] = r;
  std::vector<double> first(width), second(width), drawn(width), loads;
  for (size_t e = 0; e < stride_; ++e) {
    if (e == 0 || elements_->sample[e] != sample[0]) {
      std::fill(sample.begin(), sample.end(), elements_->sample[e]);
      loads.clear();
      for (size_t m = 0; m < count; ++m) {
        stats::UniformRows({random_key_, static_cast<uint32_t>(m),
                            kFactorStreams | static_cast<uint32_t>(index),
                            replica.data(), sample.data()},
                           replicas, first.data(), second.data());
        compiled_.factor_samplers[index].Draw(first.data(), replicas, scratch_,
                                              drawn.data());
        loads.insert(loads.end(), drawn.begin(), drawn.begin() + replicas);
      }
      std::sort(loads.begin(), loads.end());
      if (factor.order == LoadOrder::kLongestFirst) {
        std::reverse(loads.begin(), loads.end());
      }
    }
    const size_t r = elements_->replica[e];
    for (size_t m = 0; m < count; ++m) {
      const size_t place = m % 2 == 0 ? r : replicas - 1 - r;
      rows[m * stride_ + e] = loads[m * replicas + place];
    }
  }
}

// Products of the shared factors of each class; an empty list stands for 1.
void ProgramRunner::DrawSharedFactors() {
  for (int c = 0; c < kFactorClasses; ++c) {
    step_factor_[c].clear();
    microbatch_factor_[c].clear();
  }
  std::vector<double> drawn(stride_), dealt;
  for (size_t f = 0; f < graph_.shared_factors.size(); ++f) {
    const SharedFactor& factor = graph_.shared_factors[f];
    if (factor.distribution.IsConstant() && factor.distribution.Mean() == 1) {
      continue;
    }
    const bool by_microbatch = factor.scope == FactorScope::kReplicaMicrobatch;
    const int count = by_microbatch ? graph_.microbatches : 1;
    auto& factors = by_microbatch ? microbatch_factor_ : step_factor_;
    const bool deals = by_microbatch && factor.order != LoadOrder::kAsDrawn;
    if (deals) {
      dealt.resize(count * stride_);
      DealFactorRows(factor, static_cast<int>(f), dealt.data());
    }
    for (int m = 0; m < count; ++m) {
      if (deals) {
        std::copy_n(&dealt[m * stride_], stride_, drawn.data());
      } else {
        DrawFactorRow(factor, static_cast<int>(f), m, drawn.data());
      }
      for (int c = 0; c < kFactorClasses; ++c) {
        if (!factor.applies_to[c]) continue;
        if (factors[c].empty()) factors[c].assign(count * stride_, 1.0);
        MultiplyBy(drawn.data(), stride_, &factors[c][m * stride_]);
      }
    }
  }
}

void ProgramRunner::BuildRankFactors() {
  for (FactorClass c : {FactorClass::kCompute, FactorClass::kOptimizer}) {
    const int index = static_cast<int>(c);
    auto& rows = rank_factor_[index];
    rows.clear();
    if (graph_.slowdown.empty()) continue;
    rows.resize(graph_.grid.stages * rows_);
    for (int stage = 0; stage < graph_.grid.stages; ++stage) {
      for (int lane = 0; lane < lanes_; ++lane) {
        double* row = &rows[(stage * lanes_ + lane) * stride_];
        for (size_t e = 0; e < stride_; ++e) {
          row[e] = graph_.slowdown[(elements_->replica[e] * graph_.grid.stages +
                                    stage) *
                                       lanes_ +
                                   lane];
        }
        if (!step_factor_[index].empty()) {
          MultiplyBy(step_factor_[index].data(), stride_, row);
        }
      }
    }
  }
}

// A group across replicas draws once for all of them, from the streams of its
// first replica; other groups draw once per element.
void ProgramRunner::BuildGroupLayouts() {
  for (size_t g = 0; g < graph_.groups.size(); ++g) {
    const Group& group = graph_.groups[g];
    GroupLayout& layout = group_layout_[g];
    if (!group.spans_replicas() || !whole_samples_) continue;
    const uint64_t span =
        static_cast<uint64_t>(group.replica_stride) * group.replica_count;
    layout.leader_of.resize(elements_->count);
    layout.leader_element.clear();
    std::vector<uint64_t> replica, sample;
    std::vector<uint32_t> leader_at(graph_.grid.replicas);
    for (size_t e = 0; e < elements_->count; ++e) {
      const uint64_t r = elements_->replica[e];
      const uint64_t first = r / span * span + r % group.replica_stride;
      if (r == first) {
        leader_at[r] = static_cast<uint32_t>(replica.size());
        replica.push_back(r);
        sample.push_back(elements_->sample[e]);
        layout.leader_element.push_back(static_cast<uint32_t>(e));
      }
      layout.leader_of[e] = leader_at[first];
    }
    layout.leaders.Resize(replica.size());
    std::copy(replica.begin(), replica.end(), layout.leaders.replica.begin());
    std::copy(sample.begin(), sample.end(), layout.leaders.sample.begin());
  }
}

// What the draws of this operation are multiplied by.
void ProgramRunner::SelectFactors(const ProgramContext& context) {
  for (int c = 0; c < kFactorClasses; ++c) {
    Factor& factor = factor_[c];
    factor = {};
    const bool is_compute = c == static_cast<int>(FactorClass::kCompute);
    if (is_compute) factor.scale = context.stage_scale;
    if (!rank_factor_[c].empty()) {
      factor.row = &rank_factor_[c][context.stage * rows_];
      factor.per_lane = true;
    } else if (!step_factor_[c].empty()) {
      factor.row = step_factor_[c].data();
    }
    if (context.microbatch == kAbsent || microbatch_factor_[c].empty())
      continue;
    const double* load = &microbatch_factor_[c][context.microbatch * stride_];
    if (factor.row == nullptr) {
      factor.row = load;
      continue;
    }
    const int rows = factor.per_lane ? lanes_ : 1;
    factor_rows_[c].assign(factor.row, factor.row + rows * stride_);
    for (int lane = 0; lane < rows; ++lane) {
      MultiplyBy(load, stride_, &factor_rows_[c][lane * stride_]);
    }
    factor.row = factor_rows_[c].data();
  }
}

void ProgramRunner::Run(const ProgramContext& context, double* clock) {
  context_ = context;
  SelectFactors(context);
  own_space_.next_slot = 0;
  for (Space& space : group_space_) space.next_slot = 0;
  const Program& program = graph_.programs[context.program];
  if (!compiled_.has_streams) {
    RunChain(program, clock);
  } else if (compiled_.is_chain[context.program] && busy_times_.empty()) {
    double* stream = StreamClock(context.stage, 0);
    if (!program.segments.empty()) stats::MaxRows(clock, stream, rows_, clock);
    RunChain(program, clock);
    std::copy_n(clock, rows_, stream);
  } else {
    RunStreams(program, clock);
  }
}

void ProgramRunner::RunChain(const Program& program, double* clock) {
  for (const Segment& segment : program.segments) {
    for (int64_t i = 0; i < segment.count; ++i) {
      for (const Task& task : segment.tasks) RunTask(task, clock);
    }
  }
}

bool ProgramRunner::IsSlowed(const Task& task) const {
  return !busy_times_.empty() && task.stream == 0 && task.group == kNoGroup &&
         task.factor_class == FactorClass::kCompute;
}

// Moves `end` from when a rank is ready for the task to when it has ended.
void ProgramRunner::RunTask(const Task& task, double* end) {
  const bool slows = !busy_times_.empty() && task.stream != 0 &&
                     task.factor_class == FactorClass::kNetwork;
  const auto& stage = context_.stage;
  if (track_kinds_ || observer_ != nullptr) {
    std::copy_n(end, rows_, before_.data());
  }
  if (slows || track_kinds_) {
    if (task.group != kNoGroup) Meet(task, end);
    begin_.assign(end, end + rows_);
  }
  if (IsSlowed(task)) {
    begin_.assign(end, end + rows_);
    std::fill_n(work_.data(), rows_, 0.0);
    AddOwnDraw(task, work_.data());
    busy_times_[stage].Stretch(begin_.data(), work_.data(), end);
  } else if (task.group == kNoGroup) {
    AddOwnDraw(task, end);
  } else {
    AddGroupDraw(task, end);
  }
  if (slows) busy_times_[stage].Add(task.stream, begin_.data(), end);
  if (observer_ != nullptr) observer_->TaskEnds(task, before_.data(), end);
  if (!track_kinds_) return;
  ledger_.AddBusy(stage, task.kind, begin_.data(), end);
  if (task.stream == 0) ledger_.Spend(stage, task.kind, before_.data(), end);
}

// With several streams a task starts at the latest of its stream's clock and
// the ends of what it waits for. The ends of the last few tasks are kept in a
// ring; the operation ends with the last task that is not detached.
void ProgramRunner::RunStreams(const Program& program, double* clock) {
  ring_ = FurthestAwaited(program) + 1;
  tasks_run_ = 0;
  start_.assign(clock, clock + rows_);
  ends_.resize(ring_ * rows_);
  end_kinds_.resize(ring_);
  for (const Segment& segment : program.segments) {
    for (int64_t i = 0; i < segment.count; ++i) {
      for (const Task& task : segment.tasks) {
        double* end = &ends_[tasks_run_ % ring_ * rows_];
        Await(task, end);
        RunTask(task, end);
        std::copy_n(end, rows_, StreamClock(context_.stage, task.stream));
        if (!task.detached) {
          if (track_kinds_) NoteLatest(task.kind, end, clock);
          stats::MaxRows(clock, end, rows_, clock);
        }
        end_kinds_[tasks_run_++ % ring_] = task.kind;
      }
    }
  }
  if (track_kinds_) BookOperationEnd(clock);
}

// The end of the task `back` before the one under way, or the program's start.
const double* ProgramRunner::EndOfTask(int64_t back) const {
  return back > tasks_run_ ? start_.data()
                           : &ends_[(tasks_run_ - back) % ring_ * rows_];
}

// `end` becomes when the rank is ready for the task.
void ProgramRunner::Await(const Task& task, double* end) {
  std::copy_n(StreamClock(context_.stage, task.stream), rows_, end);
  for (int back : task.after) {
    stats::MaxRows(end, EndOfTask(back), rows_, end);
  }
  if (task.after.empty()) stats::MaxRows(end, start_.data(), rows_, end);
  if (track_kinds_) {
    stream_kind_[context_.stage * graph_.streams + task.stream] = task.kind;
    if (task.stream == 0) BookWait(task);
  }
}

// What the first stream waits counts to the kind that it waits for last.
void ProgramRunner::BookWait(const Task& task) {
  const double* stream = StreamClock(context_.stage, 0);
  for (size_t row = 0; row < rows_; ++row) {
    double latest = std::max(start_[row], stream[row]);
    const double free = latest;
    int kind = 0;
    for (int back : task.after) {
      const double end = EndOfTask(back)[row];
      if (back > tasks_run_ || end <= latest) continue;
      latest = end;
      kind = end_kinds_[(tasks_run_ - back) % ring_];
    }
    ledger_.At(context_.stage, kind, row).spent += latest - free;
  }
}

void ProgramRunner::NoteLatest(int kind, const double* end,
                               const double* clock) {
  for (size_t row = 0; row < rows_; ++row) {
    if (end[row] > clock[row]) latest_kind_[row] = kind;
  }
}

// What an operation waits for after its first stream is done.
void ProgramRunner::BookOperationEnd(const double* clock) {
  const double* stream = StreamClock(context_.stage, 0);
  for (size_t row = 0; row < rows_; ++row) {
    const double free = std::max(start_[row], stream[row]);
    if (clock[row] <= free) continue;
    ledger_.At(context_.stage, latest_kind_[row], row).spent +=
        clock[row] - free;
  }
}

void ProgramRunner::Drain(int stage, double* clock) {
  if (!compiled_.has_streams) return;
  for (int s = 0; s < graph_.streams; ++s) {
    const double* stream = StreamClock(stage, s);
    if (track_kinds_) {
      ledger_.Spend(stage, stream_kind_[stage * graph_.streams + s], clock,
                    stream);
    }
    stats::MaxRows(clock, stream, rows_, clock);
  }
}

size_t ProgramRunner::remembered_bytes() const {
  size_t bytes = 0;
  for (const BusyTimes& times : busy_times_) bytes += times.bytes();
  return bytes;
}

void ProgramRunner::AddOwnDraw(const Task& task, double* clock) {
  const Sampler& sampler = compiled_.samplers[task.distribution];
  const Factor& factor = factor_[static_cast<int>(task.factor_class)];
  const bool constant = mode_ == DrawMode::kNominal || sampler.is_constant();
  const double value = sampler.stated_mean() * factor.scale;
  if (task.frozen) NextOwnUniforms();
  if (constant && value == 0) return;
  const double* draws = constant ? nullptr : OwnDraws(sampler);
  if (factor.row == nullptr) {
    if (constant) {
      for (size_t i = 0; i < rows_; ++i) clock[i] += value;
    } else {
      stats::AddScaled(draws, factor.scale, rows_, clock);
    }
    return;
  }
  for (int lane = 0; lane < lanes_; ++lane) {
    const double* row = factor.row + (factor.per_lane ? lane * stride_ : 0);
    double* lane_clock = clock + lane * stride_;
    if (constant) {
      stats::AddConstant(value, row, stride_, lane_clock);
      continue;
    }
    const double* lane_draws = draws + lane * stride_;
    if (factor.scale != 1) {
      for (size_t i = 0; i < stride_; ++i) row_[i] = row[i] * factor.scale;
      row = row_.data();
    }
    stats::AddScaled(lane_draws, row, stride_, lane_clock);
  }
}

const double* ProgramRunner::NextOwnUniforms() {
  Space& space = own_space_;
  const uint32_t slot = space.next_slot++;
  if (slot % 2 == 0) {
    for (int lane = 0; lane < lanes_; ++lane) {
      const RowStream stream{
          random_key_, slot / 2 * static_cast<uint32_t>(lanes_) + lane,
          context_.stream_operation, elements_->replica.data(),
          elements_->sample.data()};
      stats::UniformRows(stream, stride_, &space.first[lane * stride_],
                         &space.second[lane * stride_]);
    }
  }
  return slot % 2 == 0 ? space.first.data() : space.second.data();
}

const double* ProgramRunner::OwnDraws(const Sampler& sampler) {
  sampler.Draw(NextOwnUniforms(), rows_, scratch_, draws_.data());
  return draws_.data();
}

const double* ProgramRunner::GroupDraws(const Sampler& sampler,
                                        const Task& task) {
  const int group = task.group;
  const Group& shape = graph_.groups[group];
  const bool across = shape.spans_replicas();
  const Elements& leaders = across ? group_layout_[group].leaders : *elements_;
  const size_t width = leaders.stride();
  Space& space = group_space_[group];
  space.first.resize(lanes_ * width);
  space.second.resize(lanes_ * width);
  const uint32_t slot = space.next_slot++;
  const int span = shape.lane_stride * shape.lane_count;
  for (int lane = 0; lane < lanes_; ++lane) {
    if (lane % span >= shape.lane_stride) continue;
    if (slot % 2 == 0) {
      // Groups of one shape never share a slot with another's.
      const uint32_t group_slot =
          (slot / 2 * static_cast<uint32_t>(graph_.groups.size()) + group) *
              static_cast<uint32_t>(lanes_) +
          lane;
      const RowStream stream{random_key_, kGroupSlots | group_slot,
                             context_.stream_operation, leaders.replica.data(),
                             leaders.sample.data()};
      stats::UniformRows(stream, width, &space.first[lane * width],
                         &space.second[lane * width]);
    }
    if (task.frozen) continue;
    const auto& uniform = slot % 2 == 0 ? space.first : space.second;
    sampler.Draw(&uniform[lane * width], width, scratch_,
                 &draws_[lane * width]);
  }
  return task.frozen ? nullptr : draws_.data();
}

// All members' clocks become the latest of them.
void ProgramRunner::Meet(const Task& task, double* clock) {
  const Group& group = graph_.groups[task.group];
  const int span = group.lane_stride * group.lane_count;
  for (int lane = 0; lane < lanes_; ++lane) {
    if (lane % span >= group.lane_stride) continue;
    SynchroniseGroup(task, lane, clock);
    CopyToMembers(group, lane, clock);
  }
}

void ProgramRunner::CopyToMembers(const Group& group, int leader_lane,
                                  double* clock) {
  for (int member = 1; member < group.lane_count; ++member) {
    std::copy_n(clock + leader_lane * stride_, stride_,
                clock + (leader_lane + member * group.lane_stride) * stride_);
  }
}

void ProgramRunner::AddGroupDraw(const Task& task, double* clock) {
  const Sampler& sampler = compiled_.samplers[task.distribution];
  const bool constant = mode_ == DrawMode::kNominal || sampler.is_constant();
  const Group& group = graph_.groups[task.group];
  PRISM_CHECK(whole_samples_ || !group.spans_replicas());
  const double* draws = nullptr;
  if (!constant || task.frozen) draws = GroupDraws(sampler, task);
  const int span = group.lane_stride * group.lane_count;
  for (int lane = 0; lane < lanes_; ++lane) {
    if (lane % span >= group.lane_stride) continue;
    SynchroniseGroup(task, lane, clock);
    AddGroupLaneDraw(task, lane, draws, clock);
    CopyToMembers(group, lane, clock);
  }
}

// The leader lane's row becomes the maximum over the members.
void ProgramRunner::SynchroniseGroup(const Task& task, int leader_lane,
                                     double* clock) {
  const Group& group = graph_.groups[task.group];
  double* row = clock + leader_lane * stride_;
  for (int member = 1; member < group.lane_count; ++member) {
    stats::MaxRows(row,
                   clock + (leader_lane + member * group.lane_stride) * stride_,
                   stride_, row);
  }
  if (!group.spans_replicas()) return;
  const GroupLayout& layout = group_layout_[task.group];
  row_.assign(std::max(stride_, layout.leaders.stride()), 0);
  for (size_t e = 0; e < elements_->count; ++e) {
    double& latest = row_[layout.leader_of[e]];
    latest = std::max(latest, row[e]);
  }
  for (size_t e = 0; e < elements_->count; ++e) {
    row[e] = row_[layout.leader_of[e]];
  }
}

void ProgramRunner::AddGroupLaneDraw(const Task& task, int leader_lane,
                                     const double* draws, double* clock) {
  const Factor& factor = factor_[static_cast<int>(task.factor_class)];
  const Group& group = graph_.groups[task.group];
  const bool has_paths =
      task.group < static_cast<int>(graph_.group_factor.size()) &&
      !graph_.group_factor[task.group].empty();
  const GroupLayout* layout =
      group.spans_replicas() ? &group_layout_[task.group] : nullptr;
  const size_t width = layout == nullptr ? stride_ : layout->leaders.stride();
  const double mean = compiled_.samplers[task.distribution].stated_mean();
  const double* factor_row =
      factor.row == nullptr
          ? nullptr
          : factor.row + (factor.per_lane ? leader_lane * stride_ : 0);
  double* row = clock + leader_lane * stride_;
  const double* lane_draws =
      draws == nullptr ? nullptr : draws + leader_lane * width;
  if (!has_paths && layout == nullptr && lane_draws != nullptr) {
    if (factor_row == nullptr) {
      stats::AddScaled(lane_draws, factor.scale, stride_, row);
      return;
    }
    if (factor.scale == 1) {
      stats::AddScaled(lane_draws, factor_row, stride_, row);
      return;
    }
  }
  for (size_t e = 0; e < elements_->count; ++e) {
    const size_t leader = layout == nullptr ? e : layout->leader_of[e];
    double draw = lane_draws == nullptr ? mean : lane_draws[leader];
    if (factor_row != nullptr) {
      draw *=
          factor_row[layout == nullptr ? e : layout->leader_element[leader]];
    }
    if (has_paths) draw *= GroupFactor(task.group, leader_lane, e);
    row[e] += draw * factor.scale;
  }
}

double ProgramRunner::GroupFactor(int group, int leader_lane,
                                  size_t element) const {
  const Group& shape = graph_.groups[group];
  const uint64_t span =
      static_cast<uint64_t>(shape.replica_stride) * shape.replica_count;
  const uint64_t replica = elements_->replica[element];
  const uint64_t first = replica / span * span + replica % shape.replica_stride;
  return graph_
      .group_factor[group]
                   [(context_.stage * graph_.grid.replicas + first) * lanes_ +
                    leader_lane];
}

void ProgramRunner::Send(const PlannedOperation& planned, const double* clock,
                         double* arrival) {
  const Sampler& sampler = compiled_.samplers[planned.hop];
  const bool constant = mode_ == DrawMode::kNominal || sampler.is_constant();
  double* hop = row_.data();
  if (constant) {
    std::fill_n(hop, stride_, sampler.stated_mean());
  } else {
    const RowStream stream{random_key_, 0, planned.id | kHopStreams,
                           elements_->replica.data(), elements_->sample.data()};
    stats::UniformRows(stream, stride_, own_space_.first.data(),
                       own_space_.second.data());
    sampler.Draw(own_space_.first.data(), stride_, scratch_, hop);
  }
  constexpr int kNetwork = static_cast<int>(FactorClass::kNetwork);
  if (!step_factor_[kNetwork].empty()) {
    MultiplyBy(step_factor_[kNetwork].data(), stride_, hop);
  }
  if (!microbatch_factor_[kNetwork].empty()) {
    MultiplyBy(
        &microbatch_factor_[kNetwork][planned.operation.microbatch * stride_],
        stride_, hop);
  }
  if (!graph_.hop_factor.empty()) {
    const double* path =
        &graph_.hop_factor[size_t(planned.boundary) * graph_.grid.replicas];
    for (size_t e = 0; e < stride_; ++e) hop[e] *= path[elements_->replica[e]];
  }
  for (int lane = 0; lane < lanes_; ++lane) {
    for (size_t e = 0; e < stride_; ++e) {
      arrival[lane * stride_ + e] = clock[lane * stride_ + e] + hop[e];
    }
  }
}

}  // namespace prism::step
