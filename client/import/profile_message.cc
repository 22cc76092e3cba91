#include "client/import/profile_message.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>

#include <variant>
#include <vector>

namespace prism::import {
namespace {

double Rounded(double value) {
  double rounded = 0;
  return absl::SimpleAtod(absl::StrFormat("%.6g", value), &rounded) ? rounded
                                                                    : value;
}

// Measured profiles hold constants and samples alone.
void Write(const stats::Distribution& law, prism::v1::Distribution* message) {
  if (const auto* empirical = std::get_if<stats::Empirical>(&law.kind())) {
    for (const double sample : *empirical->sorted_samples)
      message->mutable_empirical()->add_samples(Rounded(sample));
  } else {
    message->set_constant(Rounded(law.Mean()));
  }
}

bool Is(const stats::Distribution& law, double value) {
  return law.IsConstant() && law.Mean() == value;
}

using Messages = google::protobuf::RepeatedPtrField<prism::v1::Segment>;

void WriteSegments(const std::vector<step::ProfileSegment>& segments,
                   const std::vector<std::string>& names, Messages& messages) {
  for (size_t i = 0; i < segments.size(); ++i) {
    prism::v1::Segment& message = *messages.Add();
    message.set_name(names[i]);
    Write(segments[i].compute, message.mutable_compute());
    if (Is(segments[i].collective, 0)) continue;
    Write(segments[i].collective, message.mutable_collective());
    message.set_sync(prism::v1::SYNC_DATA);
  }
}

}  // namespace

prism::v1::StepProfile ProfileMessage(const kineto::MeasuredProfile& measured,
                                      const std::string& name) {
  const step::StepProfile& profile = measured.profile;
  prism::v1::StepProfile message;
  message.set_name(name);
  message.mutable_layout()->set_data(static_cast<uint32_t>(profile.data));
  WriteSegments(profile.forward, measured.forward_names,
                *message.mutable_forward());
  WriteSegments(profile.backward, measured.backward_names,
                *message.mutable_backward());
  if (!Is(profile.gradient_sync, 0))
    Write(profile.gradient_sync, message.mutable_gradient_sync());
  if (!Is(profile.optimizer, 0))
    Write(profile.optimizer, message.mutable_optimizer());
  if (!Is(profile.compute_regime, 1))
    Write(profile.compute_regime, message.mutable_compute_regime());
  if (!Is(profile.microbatch_load, 1))
    Write(profile.microbatch_load, message.mutable_microbatch_load());
  for (const auto& [rank, factor] : profile.slowdown)
    (*message.mutable_slowdown())[static_cast<uint32_t>(rank)] =
        Rounded(factor);
  return message;
}

}  // namespace prism::import
