#include <absl/strings/str_cat.h>

#include "core/query/read_job_parts.h"

namespace prism::query {
namespace {

using workload::Model;

constexpr int64_t kWidest = 1 << 20;     // hidden
constexpr int64_t kMostHeads = 1 << 16;  // and the largest head

void ReadAttention(const prism::v1::Model& m, Model& model,
                   const FieldPath& path, Checker& checker) {
  model.heads = checker.Between(m.heads(), 1, kMostHeads, path.Field("heads"));
  model.kv_heads = checker.BetweenOr(m.kv_heads(), model.heads, 1, kMostHeads,
                                     path.Field("kv_heads"));
  model.head_size = checker.BetweenOr(m.head_size(), model.hidden / model.heads,
                                      1, kMostHeads, path.Field("head_size"));
}

void CheckHeads(const prism::v1::Model& m, const Model& model,
                const FieldPath& path, Checker& checker) {
  if (model.heads % model.kv_heads != 0) {
    checker.Fail(path.Field("kv_heads"),
                 absl::StrCat("is ", model.kv_heads, "; must divide heads, ",
                              "which is ", model.heads));
  }
  if (m.head_size() == 0) {
    checker.Divides(model.heads, "heads where head_size is not given",
                    model.hidden, path.Field("hidden"));
  }
}

}  // namespace

Model ReadModel(const prism::v1::Model& message, const FieldPath& path,
                Checker& checker) {
  Model model;
  model.layers =
      checker.Between(message.layers(), 1, kMostLayers, path.Field("layers"));
  model.hidden =
      checker.Between(message.hidden(), 1, kWidest, path.Field("hidden"));
  ReadAttention(message, model, path, checker);
  model.ffn_hidden =
      checker.BetweenOr(message.ffn_hidden(), 4 * model.hidden, 1, kLargestSize,
                        path.Field("ffn_hidden"));
  model.gated_ffn = message.gated_ffn();
  model.vocabulary = checker.Between(message.vocabulary(), 1, kLargestSize,
                                     path.Field("vocabulary"));
  model.position_embeddings =
      checker.BetweenOr(message.position_embeddings(), 0, 1, kLargestSize,
                        path.Field("position_embeddings"));
  model.tied_embeddings = !message.untied_embeddings();
  model.linear_bias =
      message.has_linear_bias() ? message.linear_bias() : !model.gated_ffn;
  CheckHeads(message, model, path, checker);
  return model;
}

}  // namespace prism::query
