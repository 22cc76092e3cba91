#include "server/prediction_service.h"

namespace prism::server {
namespace {

MethodName NameOf(const char* method, const char* type) {
  return {prism::v1::PredictionService::service_full_name(), method, type};
}

}  // namespace

PredictionService::PredictionService(const Predictor& predictor,
                                     size_t recent_bytes, ServiceState& state)
    : predict_(state, NameOf("Predict", "unary"), PredictReader(predictor),
               recent_bytes / 2),
      streams_{.service = state,
               .metrics = state.tools.metrics.AddMethod(
                   NameOf("PredictStream", "bidi_stream")),
               .reader = {PredictStreamReader(predictor), recent_bytes / 2,
                          state.clusters},
               .mutex = {},
               .open = {}} {}

void PredictionService::EndStreams() {
  std::lock_guard lock(streams_.mutex);
  for (PredictStreamCall* stream : streams_.open) stream->Drain();
}

}  // namespace prism::server
