#include "client/import/learned_profile_message.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
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

void Write(const stats::Distribution& law, prism::v1::Distribution* message);

// One kind of law after the other.
struct LawWriter {
  prism::v1::Distribution& message;

  void operator()(const stats::Constant& law) const {
    message.set_constant(Rounded(law.value));
  }
  void operator()(const stats::Normal& law) const {
    message.mutable_normal()->set_mean(Rounded(law.mean));
    message.mutable_normal()->set_sd(Rounded(law.sd));
  }
  void operator()(const stats::Lognormal& law) const {
    message.mutable_lognormal()->set_mean(Rounded(law.mean));
    message.mutable_lognormal()->set_cv(Rounded(law.cv));
  }
  void operator()(const stats::ShiftedExponential& law) const {
    auto& exponential = *message.mutable_shifted_exponential();
    exponential.set_shift(Rounded(law.shift));
    exponential.set_mean_excess(Rounded(law.mean_excess));
  }
  void operator()(const stats::Gamma& law) const {
    message.mutable_gamma()->set_mean(Rounded(law.mean));
    message.mutable_gamma()->set_cv(Rounded(law.cv));
  }
  void operator()(const stats::Empirical& law) const {
    for (const double sample : *law.sorted_samples)
      message.mutable_empirical()->add_samples(Rounded(sample));
  }
  void operator()(const stats::Mixture& law) const {
    for (const stats::MixtureComponent& component : *law.components) {
      auto& written = *message.mutable_mixture()->add_components();
      written.set_weight(Rounded(component.weight));
      Write(component.distribution, written.mutable_distribution());
    }
  }
};

void Write(const stats::Distribution& law, prism::v1::Distribution* message) {
  std::visit(LawWriter{*message}, law.kind());
}

bool Is(const stats::Distribution& law, double value) {
  return law.IsConstant() && law.Mean() == value;
}

prism::v1::Schedule MessageSchedule(step::ScheduleKind kind) {
  switch (kind) {
    case step::ScheduleKind::kGpipe:
      return prism::v1::SCHEDULE_GPIPE;
    case step::ScheduleKind::kInterleaved:
      return prism::v1::SCHEDULE_INTERLEAVED;
    case step::ScheduleKind::kBreadthFirst:
      return prism::v1::SCHEDULE_BREADTH_FIRST;
    case step::ScheduleKind::kCustom:
      return prism::v1::SCHEDULE_CUSTOM;
    default:
      return prism::v1::SCHEDULE_ONE_FORWARD_ONE_BACKWARD;
  }
}

void WriteLayout(const step::StepProfile& profile,
                 prism::v1::StepProfile& message) {
  auto& layout = *message.mutable_layout();
  layout.set_data(static_cast<uint32_t>(profile.data));
  layout.set_pipeline(static_cast<uint32_t>(profile.pipeline));
  layout.set_tensor(static_cast<uint32_t>(profile.tensor));
  layout.set_virtual_(static_cast<uint32_t>(profile.virtual_stages));
  layout.set_microbatches(static_cast<uint32_t>(profile.microbatches));
  message.set_schedule(MessageSchedule(profile.schedule));
}

// "F3.1": micro-batch 3 on the stage's chunk 1.
void WriteOrder(const step::StepProfile& profile,
                prism::v1::StepProfile& message) {
  for (const auto& operations : profile.order) {
    auto& stage = *message.add_order();
    for (const step::Operation& operation : operations) {
      const bool forward = operation.phase == step::Phase::kForward;
      const int chunk = operation.virtual_stage / profile.pipeline;
      stage.add_operations(
          absl::StrCat(forward ? "F" : "B", operation.microbatch,
                       chunk == 0 ? std::string() : absl::StrCat(".", chunk)));
    }
  }
  for (const int stage : profile.stage_of)
    message.add_stage_of(static_cast<uint32_t>(stage));
}

using Messages = google::protobuf::RepeatedPtrField<prism::v1::Segment>;

void WriteSegments(const std::vector<step::ProfileSegment>& segments,
                   const char* name, Messages& messages) {
  for (const step::ProfileSegment& segment : segments) {
    prism::v1::Segment& message = *messages.Add();
    message.set_name(name);
    Write(segment.compute, message.mutable_compute());
  }
}

}  // namespace

prism::v1::StepProfile LearnedProfileMessage(const step::StepProfile& profile,
                                             const std::string& name) {
  prism::v1::StepProfile message;
  message.set_name(name);
  WriteLayout(profile, message);
  WriteOrder(profile, message);
  WriteSegments(profile.forward, "forward", *message.mutable_forward());
  WriteSegments(profile.backward, "backward", *message.mutable_backward());
  for (const double scale : profile.stage_scale)
    message.add_stage_scale(Rounded(scale));
  const auto write = [](const stats::Distribution& law, double unset,
                        auto mutable_field) {
    if (!Is(law, unset)) Write(law, mutable_field());
  };
  write(profile.transfer, 0, [&] { return message.mutable_transfer(); });
  write(profile.gradient_sync, 0,
        [&] { return message.mutable_gradient_sync(); });
  write(profile.optimizer, 0, [&] { return message.mutable_optimizer(); });
  write(profile.compute_regime, 1,
        [&] { return message.mutable_compute_regime(); });
  write(profile.network_regime, 1,
        [&] { return message.mutable_network_regime(); });
  write(profile.microbatch_load, 1,
        [&] { return message.mutable_microbatch_load(); });
  for (const auto& [rank, factor] : profile.slowdown)
    (*message.mutable_slowdown())[static_cast<uint32_t>(rank)] =
        Rounded(factor);
  return message;
}

}  // namespace prism::import
