// One job from the options of one launch script.
#ifndef PRISM_CLIENT_IMPORT_MEGATRON_JOB_H_
#define PRISM_CLIENT_IMPORT_MEGATRON_JOB_H_

#include "client/import/option_reader.h"
#include "core/base/violations.h"
#include "prism/v1/job.pb.h"

namespace prism::import {

// Reads every option of which the rule is kRead. The result is whole if
// nothing was added to `violations`, which must be those of `reader`.
prism::v1::Job ReadMegatronJob(const OptionReader& reader,
                               base::Violations& violations);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_MEGATRON_JOB_H_
