#include "server/answer.h"

#include <array>

#include "server/wire_fields.h"

namespace prism::server {
namespace {

using prism::v1::Prediction;
using prism::v1::Provenance;

template <typename Message>
constexpr std::array<int, 7> kNumbers = {
    Message::kPredictionIdFieldNumber, Message::kSignatureFieldNumber,
    Message::kModelVersionFieldNumber, Message::kClusterVersionFieldNumber,
    Message::kQualityFieldNumber,      Message::kCacheFieldNumber,
    Message::kValidUntilFieldNumber};
// AddProvenance writes the one into the other.
static_assert(kNumbers<Prediction> == kNumbers<Provenance>);

}  // namespace

Computed ComputedFrom(const Prediction& prediction) {
  return {.bytes = prediction.SerializeAsString(),
          .place = ProvenancePlace::kOwnFields,
          .quality = prediction.quality(),
          .engine = prediction.method() == prism::v1::METHOD_AUTO
                        ? Engine::kStructured
                        : Engine::kMonteCarlo,
          .samples = prediction.sampling().samples()};
}

void AddProvenance(const Provenance& provenance, ProvenancePlace place,
                   std::string& bytes) {
  if (place == ProvenancePlace::kOwnFields) {
    provenance.AppendToString(&bytes);
    return;
  }
  AppendField1(provenance.SerializeAsString(), bytes);
}

}  // namespace prism::server
