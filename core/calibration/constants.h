// Constants: everything in the model that was fitted or assumed rather than
// derived, in one place and by name.
//
// Where each value comes from stands with its member. A name is the path of
// the member, "operators.launch_seconds": a fit overlays a few of them without
// a rebuild. Plain values; copy freely.
#ifndef PRISM_CORE_CALIBRATION_CONSTANTS_H_
#define PRISM_CORE_CALIBRATION_CONSTANTS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/hardware/fabric.h"
#include "core/hardware/operator_time.h"

namespace prism::calibration {

// What traffic that runs beside computation takes from it. Steps of
// llm-foundry, torchtitan, SimuMax and MLPerf are explained about alike by a
// `contention` of 0.6 to 1; `link_share` is what large collectives reach.
struct OverlapCosts {
  // Computation is longer by `contention` of the time that the bytes beside it
  // would take over the links inside a node at `link_share` of their rate: a
  // library's copies use processors and memory, however slow the network.
  double contention = 0.8;
  double link_share = 0.65;
};

// What the host code of a framework adds, and how well it hides collectives.
struct FrameworkCosts {
  // Once a step, on every GPU: reading the batch, logging.
  double step_seconds = 0;
  // Once for each forward or backward of a micro-batch on a virtual stage.
  double operation_seconds = 0;
  // Launching the kernels of one layer, which runs beside them: the layer takes
  // (kernels^s + host^s)^(1/s), s = host.sharpness. Recomputation launches a
  // forward more.
  double layer_forward_seconds = 0;
  double layer_backward_seconds = 0;
  // A collective is launched by the latest host of its tensor group: as much
  // later, times the square of the ranks but one.
  double late_host_seconds = 0;
  // Shares that stay of collectives of tensor groups which run beside products.
  // Those in the backward of linear layers without being asked to; with
  // overlap asked for, all in the forward, and all in the backward. 1: they
  // run after them.
  double backward_collectives = 1;
  double overlapped_forward = 1;
  double overlapped_backward = 1;
  // Collectives in which the weights of a fully sharded layer are gathered.
  double sharded_pieces = 1;
};

// What one GPU has of its host, for optimizers that run there.
struct HostSpeeds {
  // A PCI Express 4.0 link of 16 lanes moves 25 GB/s in one direction.
  double link_bytes_per_second = 25e9;
  // Of sixteen channels of 3200 MT/s, 410 GB/s, an eighth.
  double memory_bytes_per_second = 50e9;
  // How sharply the longer of host and kernels decides; fitted.
  double sharpness = 4;
};

struct Constants {
  hardware::OperatorSpeeds operators;
  hardware::LinkSpeeds links;
  OverlapCosts overlap;
  HostSpeeds host;
  // Fitted to A100 runs of 2021 to 2023 by tests/accuracy/fit_steps/fit. The
  // pieces rest on two runs alone: DeepSpeed gathers one tensor at a time, of
  // which a layer has 12; nothing explains the other half.
  FrameworkCosts megatron_lm = {.operation_seconds = 0.62e-3,
                                .layer_forward_seconds = 0.71e-3,
                                .layer_backward_seconds = 1.68e-3,
                                .late_host_seconds = 5.4e-6,
                                .overlapped_backward = 0.25,
                                .sharded_pieces = 24};
  // Linear layers of Transformer Engine, with user buffers where asked to
  // overlap; both assumed.
  FrameworkCosts megatron_core = {.backward_collectives = 0.67,
                                  .overlapped_forward = 0.5,
                                  .overlapped_backward = 0.5};
  FrameworkCosts fsdp = {.overlapped_forward = 0.62,
                         .overlapped_backward = 0.62};
  // Asynchronous tensor parallelism; fitted on torchtitan's steps.
  FrameworkCosts torchtitan = {.overlapped_forward = 0.76,
                               .overlapped_backward = 0.76};
};

// Sets the constant called `name`.
//
// Errors: NOT_FOUND where no constant is called so; INVALID_ARGUMENT where
// `value` is outside what the constant can be.
absl::Status SetConstant(Constants& constants, std::string_view name,
                         double value);

// Errors: NOT_FOUND.
absl::StatusOr<double> GetConstant(const Constants& constants,
                                   std::string_view name);

// All names, sorted.
std::vector<std::string> ConstantNames();

}  // namespace prism::calibration

#endif  // PRISM_CORE_CALIBRATION_CONSTANTS_H_
