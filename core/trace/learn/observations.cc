#include "core/trace/learn/observations.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/trace/replay/mend.h"
#include "core/trace/replay/typical.h"

namespace prism::trace {
namespace {

bool SameRole(const Operation& a, const Operation& b) {
  return a.kind == b.kind && a.replica == b.replica && a.stage == b.stage &&
         a.sequence == b.sequence && a.microbatch == b.microbatch &&
         a.chunk == b.chunk;
}

ObservedStep Observe(const RecordedStep& step) {
  ObservedStep observed;
  observed.work = step.work();
  std::vector<double> ends(observed.work.size());
  observed.replayed_seconds = step.program().Run(observed.work, ends);
  observed.measured_seconds = step.MeasuredSeconds();
  return observed;
}

// Steps of `source` that can be replayed, one after the other.
class UsableSteps {
 public:
  UsableSteps(StepSource& source, int64_t first, int64_t last)
      : source_(source), first_(first), last_(last), mender_(source.sizes()) {}

  absl::Status Learn() {
    return ForEachAsked([&](const Step& step) {
      mender_.Learn(step);
      return absl::OkStatus();
    });
  }

  // Those that cannot be mended go to `damage`, which may be null.
  absl::Status ForEach(DamageLog* damage,
                       const std::function<void(RecordedStep)>& visit) {
    return ForEachAsked([&](const Step& step) {
      std::optional<MendedStep> mended = mender_.Mend(step, damage);
      if (!mended) return absl::OkStatus();
      absl::StatusOr<RecordedStep> recorded = RecordedStep::From(
          std::move(mended->step), source_.sizes(), std::move(mended->made_up));
      if (recorded.ok()) {
        visit(*std::move(recorded));
      } else if (damage != nullptr) {
        damage->Add(0, "step",
                    "has operations that wait for each other in a circle; "
                    "left out",
                    absl::StrCat(step.number));
      }
      return absl::OkStatus();
    });
  }

 private:
  absl::Status ForEachAsked(
      const std::function<absl::Status(const Step&)>& visit) {
    return source_.ForEach([&](const Step& step) {
      const bool asked = step.number >= first_ && step.number <= last_;
      return asked ? visit(step) : absl::OkStatus();
    });
  }

  StepSource& source_;
  int64_t first_, last_;
  Mender mender_;
};

}  // namespace

bool ObservationGatherer::Fits(const Step& step) const {
  return std::equal(step.operations.begin(), step.operations.end(),
                    observed_.operations.begin(), observed_.operations.end(),
                    SameRole);
}

bool ObservationGatherer::Add(const RecordedStep& step) {
  if (seen_ == 0) {
    observed_.operations = step.step().operations;
    observed_.program = step.program();
  } else if (!Fits(step.step())) {
    return false;
  }
  ++seen_;
  const size_t held = std::max<size_t>(
      2, most_held_ / std::max<size_t>(1, observed_.operations.size()));
  if (observed_.steps.size() < held) {
    observed_.steps.push_back(Observe(step));
    return true;
  }
  const auto place =
      std::uniform_int_distribution<size_t>(0, seen_ - 1)(random_);
  if (place < held) observed_.steps[place] = Observe(step);
  return true;
}

absl::StatusOr<Observations> ObservationGatherer::Finish() && {
  if (observed_.steps.size() < 2) {
    return absl::FailedPreconditionError(
        "two steps with the same operations are needed to learn from");
  }
  return std::move(observed_);
}

absl::StatusOr<Observations> ObserveTrace(StepSource& source, DamageLog* damage,
                                          int64_t first_step,
                                          int64_t last_step) {
  UsableSteps steps(source, first_step, last_step);
  TypicalGatherer typical;
  absl::Status status = steps.Learn();
  if (status.ok()) {
    status = steps.ForEach(
        nullptr, [&](const RecordedStep& step) { typical.Add(step); });
  }
  if (!status.ok()) return status;
  const KindSeconds seconds = typical.Finish().seconds;
  ObservationGatherer gatherer(source.sizes());
  status = steps.ForEach(damage, [&](RecordedStep step) {
    step.Bound(seconds);
    if (!gatherer.Add(step) && damage != nullptr) {
      damage->Add(0, "step",
                  "has other operations than the first; not learned from",
                  absl::StrCat(step.step().number));
    }
  });
  if (!status.ok()) return status;
  return std::move(gatherer).Finish();
}

}  // namespace prism::trace
