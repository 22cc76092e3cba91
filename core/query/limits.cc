#include "core/query/limits.h"

#include <absl/strings/str_cat.h>

namespace prism::query {

void CheckPipelineSize(const PipelineSize& size, const FieldPath& path,
                       Checker& checker) {
  // Each size is below 2^32 and a product of two fits.
  const int64_t per_stage = size.microbatches * size.chunks;
  if (!checker.Require(
          per_stage <= kMostOperationsPerStage, path,
          absl::StrCat("has ", per_stage,
                       " micro-batches times chunks per stage; must be at "
                       "most ",
                       kMostOperationsPerStage))) {
    return;
  }
  const int64_t all = per_stage * size.stages;
  checker.Require(all <= kMostOperations, path,
                  absl::StrCat("has ", all,
                               " micro-batches times virtual stages; must be "
                               "at most ",
                               kMostOperations));
}

}  // namespace prism::query
