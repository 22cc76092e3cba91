#include "core/step/continuous_reference.h"

#include <algorithm>

#include "core/step/reference_draw.h"

namespace prism::step {

ContinuousReference::ContinuousReference(const StepProfile& profile,
                                         uint64_t seed)
    : profile_(profile),
      round_robin_(profile.schedule == ScheduleKind::kRoundRobin),
      model_stages_(profile.pipeline * profile.virtual_stages),
      generator_(seed) {}

double ContinuousReference::RandomStep() {
  nominal_ = false;
  return RunStep();
}

double ContinuousReference::NominalStep() {
  nominal_ = true;
  return RunStep();
}

double ContinuousReference::Draw(const stats::Distribution& distribution) {
  return nominal_ ? ReferenceMean(distribution)
                  : ReferenceDraw(distribution, generator_);
}

double ContinuousReference::Slowdown(int replica, int worker,
                                     int tensor) const {
  const int64_t rank =
      (int64_t{replica} * profile_.pipeline + worker) * profile_.tensor +
      tensor;
  for (const auto& [slow_rank, factor] : profile_.slowdown) {
    if (slow_rank == rank) return factor;
  }
  return 1;
}

int ContinuousReference::WorkerOf(const Pass& pass) const {
  if (!round_robin_) return pass.model_stage;
  const int execution = pass.forward ? pass.model_stage
                                     : 2 * model_stages_ - 1 - pass.model_stage;
  return execution % profile_.pipeline;
}

std::vector<ContinuousReference::Pass> ContinuousReference::PassesOf(
    int worker, int steps) const {
  const int m = profile_.microbatches, p = profile_.pipeline;
  std::vector<Pass> passes;
  if (!round_robin_) {
    for (int i = 0; i < p - worker - 1; ++i) {
      passes.push_back({true, worker, i});
    }
    for (int i = 0; i < steps * m; ++i) {
      passes.push_back({true, worker, p - worker - 1 + i});
      passes.push_back({false, worker, i});
    }
    return passes;
  }
  for (int step = 0; step < steps; ++step) {
    for (int k = worker; k < 2 * model_stages_; k += p) {
      const bool forward = k < model_stages_;
      const int stage = forward ? k : 2 * model_stages_ - 1 - k;
      for (int i = step * m; i < (step + 1) * m; ++i) {
        passes.push_back({forward, stage, i});
      }
    }
  }
  return passes;
}

bool ContinuousReference::EndsStep(int worker, const Pass& pass) const {
  if (pass.forward || (pass.microbatch + 1) % profile_.microbatches != 0) {
    return false;
  }
  // The last of a round-robin worker's executions is among the last p.
  return !round_robin_ || pass.model_stage == profile_.pipeline - 1 - worker;
}

ContinuousReference::Clocks& ContinuousReference::EndOf(const Pass& pass) {
  auto& ends = pass.forward ? forward_end_ : backward_end_;
  return ends[pass.model_stage][pass.microbatch];
}

double ContinuousReference::RunStep() {
  const int m = profile_.microbatches, p = profile_.pipeline;
  const int steps = (2 * p + m - 1) / m + 1;
  const int microbatches = steps * m + p;
  compute_regime_ = Draw(profile_.compute_regime);
  network_regime_ = Draw(profile_.network_regime);
  load_.assign(profile_.data, {});
  for (auto& loads : load_) {
    for (int i = 0; i < microbatches; ++i) {
      loads.push_back(Draw(profile_.microbatch_load));
    }
  }
  clocks_.assign(
      p, Clocks(profile_.data, std::vector<double>(profile_.tensor, 0)));
  uploaded_ = clocks_;
  const std::vector<Clocks> nothing(microbatches);
  forward_end_.assign(model_stages_, nothing);
  backward_end_.assign(model_stages_, nothing);

  std::vector<std::vector<Pass>> passes;
  std::vector<size_t> done(p, 0);
  for (int worker = 0; worker < p; ++worker) {
    passes.push_back(PassesOf(worker, steps));
  }
  std::vector<double> ends(steps, 0.0);
  for (bool moved = true; moved;) {
    moved = false;
    for (int worker = 0; worker < p; ++worker) {
      while (done[worker] < passes[worker].size() &&
             RunPass(worker, passes[worker][done[worker]])) {
        const Pass& pass = passes[worker][done[worker]++];
        if (EndsStep(worker, pass)) {
          double& end = ends[pass.microbatch / m];
          end = std::max(end, Close(worker));
        }
        moved = true;
      }
    }
  }
  return ends[steps - 1] - ends[steps - 2];
}

bool ContinuousReference::RunPass(int worker, const Pass& pass) {
  const bool turns = !pass.forward && pass.model_stage == model_stages_ - 1;
  Pass before = pass;
  before.model_stage += pass.forward ? -1 : 1;
  if (turns) before = {true, pass.model_stage, pass.microbatch};
  const bool begins =
      round_robin_ && pass.microbatch % profile_.microbatches == 0;
  Clocks& clocks = clocks_[worker];
  if (before.model_stage < 0) {
    if (begins) Upload(worker);
  } else {
    const Clocks& from = EndOf(before);
    if (from.empty()) return false;
    if (begins) Upload(worker);
    const bool hops = WorkerOf(before) != worker;
    for (size_t r = 0; r < clocks.size(); ++r) {
      const double hop = hops ? Draw(profile_.transfer) * network_regime_ : 0;
      for (size_t k = 0; k < clocks[r].size(); ++k) {
        clocks[r][k] = std::max(clocks[r][k], from[r][k] + hop);
      }
    }
  }
  if (pass.forward) {
    RunSegments(worker, pass, profile_.forward);
  } else {
    RunSegments(worker, pass, profile_.backward);
    RunSegments(worker, pass, profile_.backward_input);
    RunSegments(worker, pass, profile_.backward_weight);
  }
  EndOf(pass) = clocks;
  return true;
}

void ContinuousReference::RunSegments(
    int worker, const Pass& pass, const std::vector<ProfileSegment>& segments) {
  for (const ProfileSegment& segment : segments) {
    for (int64_t i = 0; i < segment.count; ++i) {
      RunSegment(worker, pass, segment);
    }
  }
}

void ContinuousReference::RunSegment(int worker, const Pass& pass,
                                     const ProfileSegment& segment) {
  Clocks& clocks = clocks_[worker];
  const double scale =
      profile_.stage_scale.empty() ? 1 : profile_.stage_scale[pass.model_stage];
  for (int r = 0; r < profile_.data; ++r) {
    for (int k = 0; k < profile_.tensor; ++k) {
      clocks[r][k] += Draw(segment.compute) * scale * Slowdown(r, worker, k) *
                      compute_regime_ * load_[r][pass.microbatch];
    }
  }
  if (segment.sync == Sync::kNone) {
    for (auto& replica : clocks) {
      for (double& clock : replica) {
        clock += Draw(segment.collective) * network_regime_;
      }
    }
  }
  if (segment.sync == Sync::kTensor) {
    for (auto& replica : clocks) {
      const double end = *std::max_element(replica.begin(), replica.end()) +
                         Draw(segment.collective) * network_regime_;
      replica.assign(replica.size(), end);
    }
  }
  if (segment.sync == Sync::kData) MeetReplicas(segment.collective, clocks);
}

void ContinuousReference::MeetReplicas(const stats::Distribution& law,
                                       Clocks& clocks) {
  for (int k = 0; k < profile_.tensor; ++k) {
    double end = 0;
    for (const auto& replica : clocks) end = std::max(end, replica[k]);
    end += Draw(law) * network_regime_;
    for (auto& replica : clocks) replica[k] = end;
  }
}

void ContinuousReference::Upload(int worker) {
  for (int r = 0; r < profile_.data; ++r) {
    for (int k = 0; k < profile_.tensor; ++k) {
      double& clock = clocks_[worker][r][k];
      double& uploaded = uploaded_[worker][r][k];
      clock = std::max(clock, uploaded);
      uploaded = clock + Draw(profile_.weight_upload) * network_regime_;
    }
  }
}

double ContinuousReference::Close(int worker) {
  Clocks& clocks = clocks_[worker];
  for (int r = 0; r < profile_.data; ++r) {
    for (int k = 0; k < profile_.tensor; ++k) {
      clocks[r][k] = std::max(clocks[r][k], uploaded_[worker][r][k]);
    }
  }
  MeetReplicas(profile_.gradient_sync, clocks);
  double end = 0;
  for (int r = 0; r < profile_.data; ++r) {
    for (int k = 0; k < profile_.tensor; ++k) {
      clocks[r][k] +=
          Draw(profile_.optimizer) * Slowdown(r, worker, k) * compute_regime_;
      end = std::max(end, clocks[r][k]);
    }
  }
  return end;
}

}  // namespace prism::step
