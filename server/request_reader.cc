#include "server/request_reader.h"

#include <string>

namespace prism::server {
namespace {

// Larger requests are read anew each time.
constexpr size_t kMostRemembered = 64 << 10;
constexpr size_t kOverheadBytes = 256;

}  // namespace

std::shared_ptr<const RequestReader::Meaning> RequestReader::Recall(
    std::string_view body) {
  auto meaning = recent_.Find(body);
  if (meaning != nullptr &&
      !NamedClusters::AreCurrent(meaning->clusters, clusters_)) {
    return nullptr;
  }
  return meaning;
}

absl::StatusOr<std::vector<PreparedQuestion>> RequestReader::Read(
    std::string_view body) {
  NamedClusters clusters(clusters_);
  auto questions = read_(body, clusters);
  if (questions.ok()) Remember(body, *questions, clusters.uses());
  return questions;
}

void RequestReader::Remember(std::string_view body,
                             const std::vector<PreparedQuestion>& questions,
                             NamedClusters::Uses clusters) {
  if (body.size() > kMostRemembered) return;
  auto meaning = std::make_shared<Meaning>();
  size_t charge = body.size() + kOverheadBytes;
  for (const PreparedQuestion& question : questions) {
    charge += sizeof(KnownQuestion) + question.key->signature.size() +
              question.key->canonical_form.size() +
              question.cluster_version.size();
    meaning->questions.push_back({*question.key, question.cluster_version});
  }
  meaning->clusters = std::move(clusters);
  recent_.Insert(std::string(body), std::move(meaning), charge);
}

}  // namespace prism::server
