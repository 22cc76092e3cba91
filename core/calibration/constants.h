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

struct Constants {
  hardware::OperatorSpeeds operators;
  hardware::LinkSpeeds links;
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
