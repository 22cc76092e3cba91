#include "core/step/reference_simulator.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/step/reference_draw.h"

namespace prism::step {
namespace {

constexpr Phase F = Phase::kForward, B = Phase::kBackward;
constexpr Phase I = Phase::kBackwardInput, W = Phase::kBackwardWeight;

}  // namespace

ReferenceSimulator::ReferenceSimulator(const StepProfile& profile,
                                       uint64_t seed)
    : profile_(profile), generator_(seed) {
  const auto order = OrderOf(profile);
  PRISM_CHECK(order.ok());
  stage_of_ = order->stage_of;
  chains_ = order->chains;
  given_order_ = order->operations;
}

double ReferenceSimulator::RandomStep() {
  nominal_ = false;
  return RunStep();
}

double ReferenceSimulator::NominalStep() {
  nominal_ = true;
  return RunStep();
}

std::vector<Operation> ReferenceSimulator::PlainOrder(int stage) const {
  const int m = profile_.microbatches;
  const int w = std::min(profile_.pipeline - stage - 1, m);
  std::vector<Operation> order;
  int forwards = 0, backwards = 0;
  while (forwards < w) order.push_back({F, stage, forwards++});
  for (int pair = 0; pair < m - w; ++pair) {
    order.push_back({F, stage, forwards++});
    order.push_back({B, stage, backwards++});
  }
  while (backwards < m) order.push_back({B, stage, backwards++});
  return order;
}

std::vector<Operation> ReferenceSimulator::InterleavedOrder(int stage) const {
  const int m = profile_.microbatches, p = profile_.pipeline;
  const int v = profile_.virtual_stages;
  int g = std::min(p, m);
  while (m % g != 0 && m % g < p) ++g;
  std::vector<Operation> forwards, backwards;
  for (int first = 0; first < m; first += g) {
    for (int chunk = 0; chunk < v; ++chunk) {
      for (int i = first; i < std::min(first + g, m); ++i) {
        forwards.push_back({F, chunk * p + stage, i});
        backwards.push_back({B, (v - 1 - chunk) * p + stage, i});
      }
    }
  }
  int w = std::min(2 * (p - stage - 1) + (v - 1) * g, m * v);
  if (m == p) w = m * v;
  std::vector<Operation> order(forwards.begin(), forwards.begin() + w);
  int next = 0;
  for (int k = w; k < m * v; ++k) {
    order.push_back(forwards[k]);
    order.push_back(backwards[next++]);
  }
  order.insert(order.end(), backwards.begin() + next, backwards.end());
  return order;
}

std::vector<Operation> ReferenceSimulator::BreadthFirstOrder(int stage) const {
  const int p = profile_.pipeline, v = profile_.virtual_stages;
  std::vector<Operation> order;
  for (int chunk = 0; chunk < v; ++chunk) {
    for (int i = 0; i < profile_.microbatches; ++i) {
      order.push_back({F, chunk * p + stage, i});
    }
  }
  for (int chunk = v - 1; chunk >= 0; --chunk) {
    for (int i = 0; i < profile_.microbatches; ++i) {
      order.push_back({B, chunk * p + stage, i});
    }
  }
  return order;
}

std::vector<Operation> ReferenceSimulator::DelayedWeightsOrder(
    int stage, int warm_up, int delay) const {
  const int m = profile_.microbatches;
  std::vector<Operation> order;
  for (int i = 0; i < std::min(warm_up, m); ++i) order.push_back({F, stage, i});
  for (int i = 0; i < m + delay; ++i) {
    if (i < m) order.push_back({I, stage, i});
    if (i >= delay) order.push_back({W, stage, i - delay});
    if (i + warm_up < m) order.push_back({F, stage, i + warm_up});
  }
  return order;
}

std::vector<Operation> ReferenceSimulator::Order(int stage) const {
  const int behind = profile_.pipeline - stage;
  switch (profile_.schedule) {
    case ScheduleKind::kGpipe:
    case ScheduleKind::kBreadthFirst:
      return BreadthFirstOrder(stage);
    case ScheduleKind::kOneForwardOneBackward:
      return PlainOrder(stage);
    case ScheduleKind::kInterleaved:
      return InterleavedOrder(stage);
    case ScheduleKind::kZeroBubbleH1:
      return DelayedWeightsOrder(stage, behind, stage);
    case ScheduleKind::kZeroBubbleH2:
      return DelayedWeightsOrder(stage, 2 * behind - 1, 2 * stage);
    default:
      return given_order_[stage];
  }
}

double ReferenceSimulator::Draw(const stats::Distribution& distribution) {
  return nominal_ ? ReferenceMean(distribution)
                  : ReferenceDraw(distribution, generator_);
}

double ReferenceSimulator::Slowdown(int replica, int stage, int tensor) const {
  const int64_t rank =
      (int64_t{replica} * profile_.pipeline + stage) * profile_.tensor + tensor;
  for (const auto& [slow_rank, factor] : profile_.slowdown) {
    if (slow_rank == rank) return factor;
  }
  return 1;
}

void ReferenceSimulator::DrawFactors() {
  compute_regime_ = Draw(profile_.compute_regime);
  network_regime_ = Draw(profile_.network_regime);
  load_.assign(profile_.data, {});
  for (auto& loads : load_) {
    for (int i = 0; i < profile_.microbatches; ++i) {
      loads.push_back(Draw(profile_.microbatch_load));
    }
  }
}

double ReferenceSimulator::RunStep() {
  DrawFactors();
  const Clocks zero(profile_.data, std::vector<double>(profile_.tensor, 0));
  clocks_.assign(profile_.pipeline, zero);
  const std::vector<Clocks> nothing(profile_.microbatches);
  forward_arrival_.assign(stage_of_.size(), nothing);
  backward_arrival_.assign(stage_of_.size(), nothing);

  std::vector<std::vector<Operation>> waiting;
  for (int stage = 0; stage < profile_.pipeline; ++stage) {
    waiting.push_back(Order(stage));
    std::reverse(waiting.back().begin(), waiting.back().end());
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (int stage = 0; stage < profile_.pipeline; ++stage) {
      auto& operations = waiting[stage];
      while (!operations.empty() && IsReady(operations.back())) {
        RunOperation(stage, operations.back());
        operations.pop_back();
        moved = true;
      }
    }
  }
  double end = 0;
  for (int stage = 0; stage < profile_.pipeline; ++stage) {
    end = std::max(end, Close(stage));
  }
  return end;
}

// The virtual stage before (-1) or after (1) the operation's, or -1.
int ReferenceSimulator::Neighbour(const Operation& op, int direction) const {
  const int length = static_cast<int>(stage_of_.size()) / chains_;
  const int chain = op.virtual_stage / length;
  const int next = op.virtual_stage + direction;
  return next < chain * length || next >= (chain + 1) * length ? -1 : next;
}

const ReferenceSimulator::Clocks* ReferenceSimulator::Awaited(
    const Operation& op) const {
  if (op.phase == W) return nullptr;
  if (Neighbour(op, op.phase == F ? -1 : 1) == -1) return nullptr;
  const auto& arrivals = op.phase == F ? forward_arrival_ : backward_arrival_;
  return &arrivals[op.virtual_stage][op.microbatch];
}

bool ReferenceSimulator::IsReady(const Operation& op) const {
  const Clocks* awaited = Awaited(op);
  return awaited == nullptr || !awaited->empty();
}

void ReferenceSimulator::RunOperation(int stage, const Operation& op) {
  Clocks& clocks = clocks_[stage];
  if (const Clocks* arrival = Awaited(op)) {
    for (int r = 0; r < profile_.data; ++r) {
      for (int k = 0; k < profile_.tensor; ++k) {
        clocks[r][k] = std::max(clocks[r][k], (*arrival)[r][k]);
      }
    }
  }
  if (op.phase == F) RunSegments(stage, op, profile_.forward);
  if (op.phase == B) RunSegments(stage, op, profile_.backward);
  const bool whole = op.phase == B && profile_.backward.empty();
  if (op.phase == I || whole) {
    RunSegments(stage, op, profile_.backward_input);
  }
  if (op.phase == W || whole) {
    RunSegments(stage, op, profile_.backward_weight);
  }
  if (op.phase != W) Send(op, clocks);
}

void ReferenceSimulator::RunSegments(
    int stage, const Operation& op,
    const std::vector<ProfileSegment>& segments) {
  for (const auto& segment : segments) {
    for (int64_t i = 0; i < segment.count; ++i) RunSegment(stage, op, segment);
  }
}

void ReferenceSimulator::RunSegment(int stage, const Operation& op,
                                    const ProfileSegment& segment) {
  Clocks& clocks = clocks_[stage];
  const double scale =
      profile_.stage_scale.empty() ? 1 : profile_.stage_scale[op.virtual_stage];
  for (int r = 0; r < profile_.data; ++r) {
    for (int k = 0; k < profile_.tensor; ++k) {
      clocks[r][k] += Draw(segment.compute) * scale * Slowdown(r, stage, k) *
                      compute_regime_ * load_[r][op.microbatch];
    }
  }
  switch (segment.sync) {
    case Sync::kNone:
      for (auto& replica : clocks) {
        for (double& clock : replica) {
          clock += Draw(segment.collective) * network_regime_;
        }
      }
      break;
    case Sync::kTensor:
      SynchroniseTensor(segment, clocks);
      break;
    case Sync::kData:
      SynchroniseData(segment, clocks);
      break;
  }
}

void ReferenceSimulator::SynchroniseTensor(const ProfileSegment& segment,
                                           Clocks& clocks) {
  for (auto& replica : clocks) {
    const double latest = *std::max_element(replica.begin(), replica.end());
    const double end = latest + Draw(segment.collective) * network_regime_;
    replica.assign(replica.size(), end);
  }
}

void ReferenceSimulator::SynchroniseData(const ProfileSegment& segment,
                                         Clocks& clocks) {
  for (int k = 0; k < profile_.tensor; ++k) {
    double latest = 0;
    for (const auto& replica : clocks) latest = std::max(latest, replica[k]);
    const double end = latest + Draw(segment.collective) * network_regime_;
    for (auto& replica : clocks) replica[k] = end;
  }
}

void ReferenceSimulator::Send(const Operation& op, const Clocks& clocks) {
  const int receiver = Neighbour(op, op.phase == F ? 1 : -1);
  if (receiver == -1) return;
  Clocks arrival = clocks;
  if (stage_of_[receiver] != stage_of_[op.virtual_stage]) {
    for (auto& replica : arrival) {
      const double transfer = Draw(profile_.transfer) * network_regime_;
      for (double& clock : replica) clock += transfer;
    }
  }
  auto& arrivals = op.phase == F ? forward_arrival_ : backward_arrival_;
  arrivals[receiver][op.microbatch] = arrival;
}

double ReferenceSimulator::Close(int stage) {
  const Clocks& clocks = clocks_[stage];
  double end = 0;
  for (int k = 0; k < profile_.tensor; ++k) {
    double latest = 0;
    for (const auto& replica : clocks) latest = std::max(latest, replica[k]);
    latest += Draw(profile_.gradient_sync) * network_regime_;
    for (int r = 0; r < profile_.data; ++r) {
      end = std::max(end, latest + Draw(profile_.optimizer) *
                                       Slowdown(r, stage, k) * compute_regime_);
    }
  }
  return end;
}

}  // namespace prism::step
