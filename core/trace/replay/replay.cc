#include "core/trace/replay/replay.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "core/trace/replay/culprits.h"
#include "core/trace/replay/mend.h"
#include "core/trace/replay/recorded_step.h"
#include "core/trace/replay/sequences.h"

namespace prism::trace {
namespace {

// The passes over a trace that make up a report.
class Replayer {
 public:
  Replayer(StepSource& source, const ReplayOptions& options, DamageLog& damage,
           int64_t most_accounted)
      : source_(source),
        options_(options),
        damage_(damage),
        most_accounted_(most_accounted),
        mender_(source.sizes()) {
    report_.sizes = source.sizes();
  }

  absl::StatusOr<ReplayReport> Run() {
    absl::Status status = ForEachAsked([&](const Step& step) {
      mender_.Learn(step);
      ++report_.steps_recorded;
      return absl::OkStatus();
    });
    if (status.ok()) status = FindTypical();
    if (status.ok() && usable_ == 0) {
      status = absl::FailedPreconditionError(NoStep());
    }
    if (status.ok()) status = RunSteps();
    if (!status.ok()) return status;
    Account();
    report_.culprits = NameCulprits(report_);
    return std::move(report_);
  }

 private:
  absl::Status ForEachAsked(
      const std::function<absl::Status(const Step&)>& visit) {
    return source_.ForEach([&](const Step& step) {
      const bool asked = step.number >= options_.first_step &&
                         step.number <= options_.last_step;
      return asked ? visit(step) : absl::OkStatus();
    });
  }

  std::string NoStep() const {
    if (report_.steps_recorded == 0) return "holds none of the steps asked for";
    return absl::StrCat("holds no step that can be run, of ",
                        report_.steps_recorded);
  }

  // Calls `visit` for the steps that can be run. Logs the others if asked to.
  absl::Status ForEachUsable(
      DamageLog* damage,
      const std::function<absl::Status(RecordedStep)>& visit) {
    return ForEachAsked([&](const Step& step) -> absl::Status {
      std::optional<MendedStep> mended = mender_.Mend(step, damage);
      if (!mended) return absl::OkStatus();
      absl::StatusOr<RecordedStep> recorded = RecordedStep::From(
          std::move(mended->step), report_.sizes, std::move(mended->made_up));
      if (recorded.ok()) return visit(*std::move(recorded));
      if (damage != nullptr) {
        damage->Add(0, "step",
                    "has operations that wait for each other in a "
                    "circle; left out",
                    absl::StrCat(step.number));
      }
      return absl::OkStatus();
    });
  }

  absl::Status FindTypical() {
    TypicalGatherer gatherer;
    absl::Status status = ForEachUsable(&damage_, [&](RecordedStep step) {
      gatherer.Add(step);
      ++usable_;
      report_.operations += static_cast<int64_t>(step.work().size());
      return absl::OkStatus();
    });
    report_.typical = gatherer.Finish();
    return status;
  }

  absl::Status RunSteps() {
    auto changes =
        Changes::Prepare(options_.changes, report_.sizes, report_.typical);
    if (!changes.ok()) return changes.status();
    report_.suggestions = changes->suggestions();
    return ForEachUsable(nullptr, [&](RecordedStep step) {
      step.Bound(report_.typical.seconds);
      RunStep(step, *changes);
      unevenness_.Add(step, report_.sizes, report_.typical);
      if (IsAccounted(report_.steps.size() - 1)) {
        report_.accounted.push_back(report_.steps.size() - 1);
        held_.push_back(std::move(step));
      }
      return absl::OkStatus();
    });
  }

  void RunStep(const RecordedStep& step, const Changes& changes) {
    ends_.resize(step.work().size());
    StepSeconds seconds;
    seconds.number = step.step().number;
    seconds.measured = step.MeasuredSeconds();
    seconds.simulated = step.program().Run(step.work(), ends_);
    const Excess excess = MeasureExcess({&step, 1}, report_.typical.seconds);
    seconds.ideal = excess.ideal;
    seconds.changed = changes.empty()
                          ? seconds.simulated
                          : step.program().Run(changes.Apply(step), ends_);
    report_.steps.push_back(seconds);
    report_.excess.simulated += seconds.simulated / usable_;
    report_.excess.ideal += seconds.ideal / usable_;
  }

  // Every n-th step, so that all of them together are few enough.
  bool IsAccounted(size_t step) const {
    const int64_t every =
        (report_.operations + most_accounted_ - 1) / most_accounted_;
    return static_cast<int64_t>(step) % std::max<int64_t>(every, 1) == 0;
  }

  void Account() {
    const KindSeconds& typical = report_.typical.seconds;
    const Sizes& sizes = report_.sizes;
    const auto by = [&](const Partition& partition) {
      return Attribute(held_, typical, partition);
    };
    report_.by_operation = by(ByOperation());
    report_.by_stage = by(ByStage(sizes));
    report_.by_rank = by(ByRank(sizes));
    report_.by_worker = by(ByWorker(report_.typical));
    report_.last_stage = report_.by_stage.back();
    const auto worst =
        WorstWorkers(report_.by_rank, report_.by_stage, report_.typical);
    std::string names;
    for (const WorkerKey& worker : worst) {
      absl::StrAppend(&names, names.empty() ? "" : ", ",
                      WorkerName(report_.typical, worker));
    }
    report_.worst_workers = by(OnlyWorkers(names, worst)).front();
    AccountSequences();
  }

  void AccountSequences() {
    const Excess excess = MeasureExcess(held_, report_.typical.seconds);
    double even = 0;
    for (const RecordedStep& step : held_) {
      ends_.resize(step.work().size());
      const std::vector<double> work =
          EvenSequences(step, step.work(), report_.sizes, report_.typical);
      even +=
          step.program().Run(work, ends_) / static_cast<double>(held_.size());
    }
    report_.sequences = {unevenness_.Correlation(), unevenness_.Deviation(),
                         excess.ShareOf(excess.simulated - even)};
  }

  StepSource& source_;
  const ReplayOptions& options_;
  DamageLog& damage_;
  int64_t most_accounted_;
  Mender mender_;
  Unevenness unevenness_;
  int64_t usable_ = 0;
  std::vector<RecordedStep> held_;
  std::vector<double> ends_;
  ReplayReport report_;
};

}  // namespace

absl::StatusOr<ReplayReport> Replay(StepSource& source,
                                    const ReplayOptions& options,
                                    DamageLog& damage, int64_t most_accounted) {
  return Replayer(source, options, damage, most_accounted).Run();
}

}  // namespace prism::trace
