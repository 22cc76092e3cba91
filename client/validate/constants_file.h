// Constants of the model from a file.
#ifndef PRISM_CLIENT_VALIDATE_CONSTANTS_FILE_H_
#define PRISM_CLIENT_VALIDATE_CONSTANTS_FILE_H_

#include <string>

#include "core/base/violations.h"
#include "core/calibration/constants.h"

namespace prism::validate {

// The model's own constants with those of a JSON object, name to number, in
// their place. Adds what is wrong to `violations`, by name.
calibration::Constants ReadConstants(const std::string& text,
                                     base::Violations& violations);

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_CONSTANTS_FILE_H_
