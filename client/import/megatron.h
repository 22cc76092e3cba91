// Jobs from launch scripts of Megatron-LM and Megatron-DeepSpeed.
//
// What is read, what it means and what is filled in: docs/import.md and
// megatron_options.h.
#ifndef PRISM_CLIENT_IMPORT_MEGATRON_H_
#define PRISM_CLIENT_IMPORT_MEGATRON_H_

#include <vector>

#include "client/import/imported.h"
#include "client/import/settings.h"
#include "core/base/violations.h"

namespace prism::import {

// No launch script is larger, in bytes, all files together.
inline constexpr size_t kMostScriptBytes = 1 << 18;

// The jobs that `files` describe together: variables of one may be used in
// another. Where anything is missing, contradicts itself or makes a job that
// PRISM does not model, adds every such thing to `violations` and returns no
// jobs. Requires: at least one file.
Imported ImportMegatron(const std::vector<SourceFile>& files,
                        const Settings& settings, base::Violations& violations);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_MEGATRON_H_
