// How launch options of Megatron-LM and Megatron-DeepSpeed split a job.
//
// Each function adds to `violations` what is missing, contradicts itself or is
// not modelled; what it then leaves of the job is of no use.
#ifndef PRISM_CLIENT_IMPORT_MEGATRON_LAYOUT_H_
#define PRISM_CLIENT_IMPORT_MEGATRON_LAYOUT_H_

#include <cstdint>
#include <optional>

#include "client/import/option_reader.h"
#include "core/base/violations.h"
#include "prism/v1/job.pb.h"

namespace prism::import {

// Sets everything but what the functions below set.
void ReadLayout(const OptionReader& reader, base::Violations& violations,
                prism::v1::Parallelism& parallelism);

// Sets virtual stages, schedule and the layers of stages. Requires: the number
// of layers and the pipeline size are set.
void SplitLayers(const OptionReader& reader, base::Violations& violations,
                 prism::v1::Job& job);

// Sets the data-parallel size, the shard group and the global batch, `batch`
// or else one micro-batch a replica, of a job on `world` GPUs. Requires: all
// else is set.
void SplitReplicas(const OptionReader& reader, int64_t world,
                   std::optional<int64_t> batch, base::Violations& violations,
                   prism::v1::Job& job);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_MEGATRON_LAYOUT_H_
