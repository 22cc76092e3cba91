// Jobs from the config.json files of Hugging Face models.
//
// Such a file describes a model alone: the job is one GPU that trains it, with
// what a setting says. Families, key spellings and defaults: docs/import.md.
#ifndef PRISM_CLIENT_IMPORT_HUGGINGFACE_H_
#define PRISM_CLIENT_IMPORT_HUGGINGFACE_H_

#include "client/import/imported.h"
#include "client/import/settings.h"
#include "core/base/violations.h"

namespace prism::import {

// Longest sequence that is taken from a model without a setting, in tokens.
inline constexpr uint32_t kLongestDefaultSequence = 4096;

// One job. A setting is a field of the job's model, parallelism or training
// ("sequence", "global_batch", "tensor", ..) or a key of the file, which it
// replaces. Where anything is missing, wrong or not modelled, adds every such
// thing to `violations` and returns no job.
Imported ImportHuggingFace(const SourceFile& file, const Settings& settings,
                           base::Violations& violations);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_HUGGINGFACE_H_
