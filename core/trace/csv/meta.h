// The sizes of a traced job, from the YAML beside its operator trace:
//
//   dp_size: 4     replicas          tp_size: 4   tensor
//   pp_size: 4     stages            dsp_size: 1  context
//   vpp_size: 1    chunks a stage    world_size: 64  their product
//
// trial_name and run_id are names; all other keys are ignored, and named.
#ifndef PRISM_CORE_TRACE_CSV_META_H_
#define PRISM_CORE_TRACE_CSV_META_H_

#include <optional>
#include <string>

#include "core/trace/damage.h"
#include "core/trace/trace.h"

namespace prism::trace {

// What `text` says; nothing where it cannot be used, which goes to `damage`.
std::optional<Sizes> ParseMeta(const std::string& text, DamageLog& damage);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_CSV_META_H_
