#include "client/validate/constants_file.h"

#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>

#include "core/query/document_names.h"

namespace prism::validate {

calibration::Constants ReadConstants(const std::string& text,
                                     base::Violations& violations) {
  calibration::Constants constants;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    violations.Add("", "must be a JSON object, name to number");
    return constants;
  }
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number()) {
      violations.Add(name,
                     absl::StrCat("is ", value.dump(), "; must be a number"));
      continue;
    }
    const absl::Status set =
        calibration::SetConstant(constants, name, value.get<double>());
    if (absl::IsNotFound(set)) {
      violations.Add(
          name,
          absl::StrCat("is not known",
                       query::Suggestion(name, calibration::ConstantNames())));
    } else if (!set.ok()) {
      violations.Add(name, std::string(set.message()));
    }
  }
  return constants;
}

}  // namespace prism::validate
