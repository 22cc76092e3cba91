// What readers share: parts of questions, words of documents, sets of files.
#ifndef PRISM_CLIENT_VALIDATE_QUESTIONS_H_
#define PRISM_CLIENT_VALIDATE_QUESTIONS_H_

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <google/protobuf/generated_enum_reflection.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/validate/csv.h"
#include "client/validate/data_folder.h"
#include "client/validate/measured.h"
#include "core/query/document_names.h"
#include "prism/v1/cluster.pb.h"
#include "prism/v1/job.pb.h"

namespace prism::validate {

// A GPT of `sequence` learned positions, with tied embeddings and biases.
prism::v1::Model GptModel(uint32_t layers, uint32_t hidden, uint32_t heads,
                          uint32_t vocabulary, uint32_t sequence);

// Llama 3 and 3.1 as published (arXiv 2407.21783, table 3): "8b", "70b" or
// "405b"; nothing for other names.
std::optional<prism::v1::Model> Llama3Model(std::string_view size);

// As many whole nodes as `gpus` need, with the accelerator's own links.
prism::v1::Cluster ClusterOf(std::string_view accelerator, uint32_t gpus,
                             uint32_t gpus_per_node);

// The first accelerator of the catalogue whose name begins with `prefix`
// ("b300-"), or nothing.
std::optional<std::string> AcceleratorLike(std::string_view prefix);

// Ranks of a replica's groups times replicas; the largest number there is where
// that is more. Sizes of 0 count as 1.
uint64_t RanksOf(const prism::v1::Parallelism& parallelism);

// The source called `name`, added where there is none.
Source& SourceNamed(std::string_view name, Measurements& found);

// The value of an enum that a document would call as the cell says; `fallback`
// where it is blank.
template <typename Enum>
Enum WordOr(CsvRow& row, std::string_view column, Enum fallback) {
  if (!row.Has(column)) return fallback;
  const auto* type = google::protobuf::GetEnumDescriptor<Enum>();
  const std::string word = row.Text(column);
  const auto* value = query::FindEnumWord(*type, word);
  if (value != nullptr) return static_cast<Enum>(value->number());
  row.Fail(column, absl::StrCat("is \"", word, "\"; must be one of ",
                                absl::StrJoin(query::EnumWords(*type), ", ")));
  return fallback;
}

// The text of `path`; nothing where the folder lacks it, which is then noted,
// as is what keeps it from being read.
std::optional<std::string> ReadSetFile(const DataFolder& folder,
                                       const std::string& path,
                                       Measurements& found);

// Adds the row to `source` that `read` makes of each row of a table, unless it
// is damaged.
void AddRows(const std::string& name, const std::string& text,
             const std::vector<std::string>& columns, Source& source,
             base::Violations& unreadable,
             const std::function<Measured(CsvRow&)>& read);

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_QUESTIONS_H_
