// Fields of a job by their names in documents.
#ifndef PRISM_CLIENT_IMPORT_JOB_FIELDS_H_
#define PRISM_CLIENT_IMPORT_JOB_FIELDS_H_

#include <string>

#include "core/base/violations.h"
#include "prism/v1/job.pb.h"

namespace prism::import {

// Whether `name` is a field of a job's model, parallelism or training, or, as
// "overlap.NAME", of its overlap. Names are unique over them.
bool IsJobField(const std::string& name);

// Sets field `name` from `text`: a whole number, true or false, the name an
// enum value has in documents, or for lists numbers between commas or spaces.
// Anything else is a violation. Requires: IsJobField(name).
void SetJobField(const std::string& name, const std::string& text,
                 prism::v1::Job& job, base::Violations& violations);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_JOB_FIELDS_H_
