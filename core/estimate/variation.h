// Variation: how much operators vary where nothing was measured.
//
// Priors by class, each with the public measurement it stands on. A mean stays
// what the cost model says; only the spread is added here.
#ifndef PRISM_CORE_ESTIMATE_VARIATION_H_
#define PRISM_CORE_ESTIMATE_VARIATION_H_

#include <cstdint>

#include "core/hardware/fabric.h"
#include "core/stats/distribution.h"

namespace prism::estimate {

struct Variation {
  // One layer's stretch on one GPU. The same kernel on the same GPU varies by
  // 0.1-0.3%, by 1-6% under heat and power limits (P. Sinha et al., "Not all
  // GPUs are created equal", SC 2022).
  double compute_cv = 0.005;
  // Factor on how far single collectives and transfers scatter
  // (hardware::SpreadOf(): a core, and rare stalls that make up the heavy tail
  // of those bound by latency). From 0, where they do not, to 1.
  double link_scatter = 1;
  // Optimizer step of one GPU: as compute.
  double optimizer_cv = 0.005;
  // GPUs of one model differ for good: sd 1.7% over 392 of them on the same
  // matrix product, 97% of all variance (same paper). A step waits for its
  // slowest, whose expected excess is part of the nominal time.
  double gpu_sd = 0.017;
  // What all compute of one step shares. The core of step times of large dense
  // jobs is nearly symmetric, with cv 0.2-1.4%: absolutely, 0.13, 0.06 and
  // 0.056 s at 512, 2048 and 8192 GPUs while the step shrinks from 55 to 5 s
  // (MLPerf Training v5 results of Llama 3.1 405B, 2025). So a part in
  // proportion to the step, and a part that is the same for all; small steps,
  // which nobody published, are taken to vary no more than the widest of them.
  double step_cv = 0.0022;
  double step_jitter_seconds = 0.055;
  double most_step_cv = 0.014;
  // Rare slow steps: a chance, and by how much of itself such a step is longer
  // on average, for short hitches and for long stalls. Of 10,278 steps of 33
  // runs of the same results 112 were longer than the median by more than five
  // deviations of the core; the start of a run and steps after an evaluation,
  // which are slow by schedule, are not among them. Two exponentials describe
  // these (tests/accuracy/fit_rare_steps). No trend with scale, 256 to 8192
  // GPUs.
  double hitch_chance = 0.0096;
  double hitch_excess = 0.044;
  double stall_chance = 0.0013;
  double stall_excess = 0.51;

  // Nothing varies, and all GPUs are alike.
  static Variation Off();
};

// Expected compute time of the slowest of `gpus` GPUs over that of the average
// one: 1 + sd x mean of the maximum of as many standard normals (G. Blom,
// "Statistical estimates and transformed beta-variables", 1958).
// Requires: gpus >= 1.
double SlowestFactor(int64_t gpus, const Variation& variation);

// Deviation of the core of the steps of a job over their mean.
// Requires: step_seconds > 0.
double StepCv(double step_seconds, const Variation& variation);

// What all compute of a step of about `step_seconds` shares: the core of its
// distribution, without the rare slow steps. Its mean is 1.
// Requires: step_seconds > 0.
stats::Distribution StepFactor(double step_seconds, const Variation& variation);

// What all of a step shares, compute and communication, as a hitch or a stall
// may come from anywhere. Its mean is 1 as well: other steps are shorter by
// what the rare ones add, 0.1%.
stats::Distribution RareFactor(const Variation& variation);

// Requires: seconds >= 0. Zero gives the constant 0.
stats::Distribution ComputeTime(double seconds, double cv);

// A lognormal core, and beside it stalls that take exponentially long; where
// these scatter less than the core does, a lognormal as wide as both. The mean
// is `time.seconds`.
stats::Distribution NetworkTime(const hardware::LinkTime& time,
                                const Variation& variation);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_VARIATION_H_
