#include "core/trace/replay/culprits.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace prism::trace {
namespace {

constexpr double kLeastSlowdown = 1.01;  // below, nobody is to blame
constexpr double kLeastRemoved = 0.2;    // of the excess
constexpr double kLeastMore = 0.1;       // that a wider culprit must add
constexpr double kLeastCorrelation = 0.5;
constexpr double kLeastDeviation = 0.02;
constexpr double kNotableRatio = 1.05;  // of a kind's work over the typical

struct Culprit {
  std::string who;
  std::string details;
  double removed = 0;
  double without_seconds = 0;
};

// A sentence and the share of the excess that goes with its cause.
struct Ranked {
  double removed = 0;
  std::string sentence;
};

std::string ShareText(double removed) {
  if (removed >= 0.995) return "all of the excess goes";
  return absl::StrFormat("%.0f%% of the excess goes", removed * 100);
}

// "Its forward-compute takes 2.41 times what is typical, ..." for the kinds
// of `means` that take notably longer; empty without one.
std::string SlowKinds(const std::array<WorkerMean, kOperationKinds>& means,
                      const KindSeconds& typical) {
  std::vector<std::string> slow;
  for (const auto kind :
       {OperationKind::kForwardCompute, OperationKind::kBackwardCompute}) {
    const auto k = static_cast<size_t>(kind);
    if (typical[k] <= 0) continue;
    const double ratio = means[k].mean() / typical[k];
    if (ratio < kNotableRatio) continue;
    slow.push_back(absl::StrFormat("%s%s %.2f", std::string(KindName(kind)),
                                   slow.empty() ? " takes" : "", ratio));
  }
  if (slow.empty()) return "";
  std::string text = absl::StrCat(" Its ", slow[0]);
  if (slow.size() > 1) absl::StrAppend(&text, " and its ", slow[1]);
  return text + " times the typical time.";
}

std::array<WorkerMean, kOperationKinds> MeansOf(const Typical& typical,
                                                std::optional<int> replica,
                                                std::optional<int> stage) {
  std::array<WorkerMean, kOperationKinds> sum{};
  for (const auto& [worker, means] : typical.workers) {
    if (worker.first != replica.value_or(worker.first)) continue;
    if (worker.second != stage.value_or(worker.second)) continue;
    for (size_t k = 0; k < sum.size(); ++k) {
      sum[k].sum += means[k].sum;
      sum[k].count += means[k].count;
    }
  }
  return sum;
}

const Account* Worst(const std::vector<Account>& accounts) {
  const auto worst = std::max_element(
      accounts.begin(), accounts.end(),
      [](const Account& a, const Account& b) { return a.removed < b.removed; });
  return worst == accounts.end() ? nullptr : &*worst;
}

// The worst worker where fixing it alone helps.
std::optional<Culprit> WorstWorker(const ReplayReport& report) {
  const Account* worst = Worst(report.by_worker);
  if (worst == nullptr || worst->removed < kLeastRemoved) return std::nullopt;
  for (const auto& [worker, means] : report.typical.workers) {
    if (WorkerName(report.typical, worker) != worst->name) continue;
    const int32_t rank = report.typical.ranks.at(worker);
    return Culprit{
        absl::StrCat("Data rank ", worker.first, ", stage ", worker.second,
                     rank == kNone ? "" : absl::StrCat(" (rank ", rank, ")")),
        SlowKinds(means, report.typical.seconds), worst->removed,
        worst->without_seconds};
  }
  return std::nullopt;
}

// The worst of stages or data ranks where it adds to `narrower`.
std::optional<Culprit> WorstOf(const ReplayReport& report, bool stages,
                               double narrower) {
  const auto& accounts = stages ? report.by_stage : report.by_rank;
  const Account* worst = Worst(accounts);
  if (accounts.size() < 2 || worst->removed < kLeastRemoved ||
      worst->removed < narrower + kLeastMore) {
    return std::nullopt;
  }
  const int number = std::stoi(worst->name);
  const auto means =
      MeansOf(report.typical, stages ? std::nullopt : std::optional(number),
              stages ? std::optional(number) : std::nullopt);
  return Culprit{absl::StrCat(stages ? "Stage " : "Data rank ", number),
                 SlowKinds(means, report.typical.seconds), worst->removed,
                 worst->without_seconds};
}

std::optional<Culprit> WorstKind(const ReplayReport& report) {
  const Account* worst = Worst(report.by_operation);
  if (worst == nullptr || worst->removed < kLeastRemoved) return std::nullopt;
  return Culprit{absl::StrCat("Of all operations ", worst->name), "",
                 worst->removed, worst->without_seconds};
}

std::string Sentence(const Culprit& culprit, const Excess& excess) {
  return absl::StrFormat(
      "%s makes steps long: with what is typical there alone, they would take "
      "%.4g s instead of %.4g s; %s.%s",
      culprit.who, culprit.without_seconds, excess.simulated,
      ShareText(culprit.removed), culprit.details);
}

// Micro-batches of uneven length, where there is a point in saying so.
std::optional<Ranked> UnevenSentence(const ReplayReport& report) {
  const UnevenSequences& uneven = report.sequences;
  if (uneven.correlation < kLeastCorrelation ||
      uneven.deviation < kLeastDeviation || uneven.removed < kLeastRemoved) {
    return std::nullopt;
  }
  return Ranked{
      uneven.removed,
      absl::StrFormat("Micro-batches are of uneven length (%.0f%% "
                      "apart, the same in forward and backward): "
                      "were all alike, %s. Try --what-if "
                      "sort-sequences.",
                      uneven.deviation * 100, ShareText(uneven.removed))};
}

std::vector<Culprit> WhoIsSlow(const ReplayReport& report) {
  std::vector<Culprit> culprits;
  double narrower = 0;
  const auto add = [&](std::optional<Culprit> culprit) {
    if (!culprit) return;
    narrower = std::max(narrower, culprit->removed);
    culprits.push_back(*std::move(culprit));
  };
  add(WorstWorker(report));
  const double worker = narrower;
  add(WorstOf(report, true, worker));
  add(WorstOf(report, false, worker));
  return culprits;
}

// All of them, the worst first.
std::vector<Ranked> Causes(const ReplayReport& report) {
  std::vector<Ranked> causes;
  const std::optional<Ranked> uneven = UnevenSentence(report);
  if (uneven) causes.push_back(*uneven);
  for (const Culprit& culprit : WhoIsSlow(report)) {
    // Who is not slow in the long run only has long micro-batches at times.
    const bool explained =
        uneven && culprit.details.empty() && culprit.removed <= uneven->removed;
    if (explained) continue;
    causes.push_back({culprit.removed, Sentence(culprit, report.excess)});
  }
  std::stable_sort(
      causes.begin(), causes.end(),
      [](const Ranked& a, const Ranked& b) { return a.removed > b.removed; });
  return causes;
}

}  // namespace

std::vector<std::string> NameCulprits(const ReplayReport& report) {
  if (report.excess.slowdown() < kLeastSlowdown) {
    return {absl::StrFormat(
        "Nothing makes steps long: they take %.3f times what they would if "
        "all operations took what is typical.",
        report.excess.slowdown())};
  }
  std::vector<std::string> sentences;
  for (Ranked& cause : Causes(report)) {
    sentences.push_back(std::move(cause.sentence));
  }
  if (const auto kind = WorstKind(report)) {
    sentences.push_back(Sentence(*kind, report.excess));
  }
  if (sentences.empty()) {
    sentences.push_back(absl::StrFormat(
        "No stage, data rank, worker or kind of operation alone makes steps "
        "long: they take %.3f times what is typical by many small excesses.",
        report.excess.slowdown()));
  }
  return sentences;
}

}  // namespace prism::trace
