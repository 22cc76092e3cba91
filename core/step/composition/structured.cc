#include "core/step/composition/structured.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/stats/normal.h"
#include "core/step/composition/closing_model.h"
#include "core/step/composition/kind_selection.h"
#include "core/step/composition/pipeline_model.h"
#include "core/step/composition/replica_maximum.h"
#include "core/step/composition/step_integral.h"

namespace prism::step {
namespace {

// Replicas simulated at first.
constexpr int64_t kFirstSamples = 1024;
constexpr int64_t kFewestSamples = 256;
// Before a first look at the error as many more, if there is time, as these
// draws make of a small step, which take two milliseconds.
constexpr double kQuickDraws = 2e6;
constexpr double kMostQuickSamples = 4096;
// Error of a quantile from the replicas, as a share of the distance between the
// quartiles, and the draws and replicas that reaching it may cost.
constexpr double kTargetError = 0.018;
constexpr double kMostDraws = 5e6;
constexpr double kMostSamples = 5 << 13;
// From one look to the next.
constexpr int64_t kMostGrowth = 4;
constexpr double kWorthGrowing = 1.25;
// Samples that are kept, when so many are asked for: 64 Mi values, and as many
// as the random streams of one part of a sample hold.
constexpr int64_t kMostKept = int64_t{1} << 26;
constexpr int64_t kMostStreams = int64_t{1} << 24;
constexpr int kFitDraws = 8;
// Between the keys of the nodes: 2^64 over the golden ratio.
constexpr uint64_t kKeyStep = 0x9E3779B97F4A7C15;

// What is stated as the error, in standard errors: wide enough to hold in nine
// cases of ten and more.
constexpr double kStatedErrors = 2;

// Simplifications may move a quantile that counts by this share of the distance
// between the quartiles: lanes that end an operation apart and are taken to end
// together, and the law of a replica beyond what was simulated.
constexpr double kMostModelError = 0.05;
// Of fewer replicas than this chance can look like a law that does not fit.
constexpr int64_t kEnoughToDoubt = 4096;
constexpr size_t kFirstJudged = 1;  // in kQuantileLevels: p05

// Kept back from a deadline for summing up and sending the answer.
constexpr absl::Duration kAnswerReserve = absl::Milliseconds(4);

// Steps that the integral draws, at first and in the end.
constexpr int kFewSteps = 1024;
constexpr int kSteps = 8192;

// Events beyond this score of both sides are not waited for.
constexpr double kConceivableScore = 4;

// Ratios of network to compute times are interpolated over a range of e^3; a
// factor that can be 0 has no such range.
constexpr double kWidestRatios = 3;

constexpr int kCompute = static_cast<int>(FactorClass::kCompute);
constexpr int kNetwork = static_cast<int>(FactorClass::kNetwork);

// Ratios of network to compute times that the step-wide factors can make, as
// logarithms; one entry where they are fixed.
std::vector<double> RegimeRatios(const StepGraph& graph) {
  double low = 0, high = 0;
  for (const SharedFactor& shared : graph.shared_factors) {
    if (shared.scope != FactorScope::kStep) continue;
    const bool compute = shared.applies_to[kCompute];
    const bool network = shared.applies_to[kNetwork];
    if (compute == network) continue;
    const double least =
        std::log(std::max(shared.distribution.Quantile(0.0005), 1e-6));
    const double most =
        std::log(std::max(shared.distribution.Quantile(0.9995), 1e-6));
    low += network ? least : -most;
    high += network ? most : -least;
  }
  if (high - low < 1e-9) return {(low + high) / 2};
  const int nodes = high - low < 0.05 ? 2 : high - low < 1.25 ? 3 : 4;
  std::vector<double> ratios;
  for (int i = 0; i < nodes; ++i) {
    ratios.push_back(low + (high - low) * i / (nodes - 1));
  }
  return ratios;
}

bool HasNetworkInside(const PipelineModel& model) {
  for (const OperationLaw& law : model.laws) {
    if (law.mean - law.compute_mean > 1e-12 * law.mean ||
        law.network_share > 0) {
      return true;
    }
  }
  return std::any_of(model.hops.begin(), model.hops.end(),
                     [](const HopLaw& hop) { return hop.mean > 0; });
}

// Whether shared factors are of scopes the method knows.
bool HasKnownFactors(const StepGraph& graph) {
  int loads = 0;
  for (const SharedFactor& shared : graph.shared_factors) {
    if (shared.scope == FactorScope::kStep) continue;
    if (shared.scope != FactorScope::kReplicaMicrobatch) return false;
    if (shared.order != LoadOrder::kAsDrawn) return false;
    if (shared.distribution.IsConstant()) continue;
    if (!shared.applies_to[kCompute] || shared.applies_to[kNetwork] ||
        ++loads > 1) {
      return false;
    }
  }
  return true;
}

bool IsKnownShape(const CompiledGraph& compiled) {
  const StepGraph& graph = *compiled.graph;
  const bool chains =
      std::find(compiled.is_chain.begin(), compiled.is_chain.end(), false) ==
      compiled.is_chain.end();
  bool paths = !graph.hop_factor.empty();
  for (const auto& factors : graph.group_factor) {
    paths = paths || !factors.empty();
  }
  return chains && !paths && !compiled.replicas_interact &&
         HasKnownFactors(graph);
}

// One ratio of network to compute times, with what was simulated at it.
struct Node {
  double log_ratio = 0;
  std::unique_ptr<PipelineModel> model;
  std::unique_ptr<MaximumRequest> request;
  std::unique_ptr<ReplicaMaximum> maximum;
};

class Structured {
 public:
  Structured(const CompiledGraph& compiled, const SimulationOptions& options,
             const base::Budget& budget, base::Executor& executor)
      : compiled_(compiled),
        graph_(*compiled.graph),
        options_(options),
        budget_(budget),
        executor_(executor),
        cache_(graph_) {}

  // False where the structure is not one the method knows, and where the budget
  // was cancelled.
  bool Prepare() {
    if (!IsKnownShape(compiled_)) return false;
    auto closings = BuildClosingModel(graph_, budget_);
    if (!closings.has_value()) return false;
    integral_.graph = &graph_;
    integral_.closings = *std::move(closings);
    integral_.random_key = options_.random_key;
    integral_.budget = &budget_;
    integral_.factors = StepWideFactors(graph_);
    std::vector<double> ratios = RegimeRatios(graph_);
    if (ratios.size() > 1) {
      const auto probe = BuildPipelineModel(compiled_, {}, cache_);
      if (!probe.has_value()) return false;
      if (!HasNetworkInside(*probe)) {
        ratios = {0};
      } else if (ratios.back() - ratios.front() > kWidestRatios) {
        return false;
      }
    }
    const std::vector<ReplicaKind> kinds = FindReplicaKinds(graph_);
    for (double log_ratio : ratios) {
      if (!AddNode(log_ratio, kinds)) return false;
    }
    return true;
  }

  // Nothing where the bound on a simplification turns out too wide.
  std::optional<absl::StatusOr<StepTime>> Run() {
    if (budget_.Remaining() <= kAnswerReserve) {
      return absl::DeadlineExceededError(
          "the deadline passed before any step was simulated");
    }
    if (options_.samples.value_or(0) > MostSamples()) return std::nullopt;
    // A first part tells how long the others take.
    const int64_t first = std::max(
        kFewestSamples, kFirstSamples / static_cast<int64_t>(nodes_.size()));
    const int64_t wanted = options_.samples.value_or(first);
    auto status = Extend(std::min(kFewestSamples, wanted));
    if (!status.ok()) return status;
    JoinStages();
    status = Extend(std::min(first, wanted));
    if (!status.ok()) return status;
    int64_t samples = samples_;
    if (!options_.samples.has_value()) {
      samples = std::max(samples_, Affordable(QuickSamples()));
    }
    while (true) {
      status = Extend(samples);
      if (!status.ok()) return status;
      auto step = Integrate(kFewSteps);
      if (!step.ok()) return step.status();
      if (LaneSlack() > kMostModelError * Spread(*step)) return std::nullopt;
      samples = NextSamples(*step);
      if (samples > samples_) continue;
      step = Integrate(kSteps);
      if (!step.ok()) return step.status();
      if (IsFaithful(*step)) return Answer(*step);
      samples = SamplesToTell();
      if (samples <= samples_) return std::nullopt;
    }
  }

 private:
  // Simulates up to `samples` replicas at each node.
  absl::Status Extend(int64_t samples) {
    for (Node& node : nodes_) {
      auto status = node.maximum->Extend(samples, budget_, executor_);
      if (!status.ok()) return status;
    }
    samples_ = samples;
    return absl::OkStatus();
  }

  bool AddNode(double log_ratio, const std::vector<ReplicaKind>& kinds) {
    auto model = BuildPipelineModel(
        compiled_, {.network_factor = std::exp(log_ratio)}, cache_);
    if (!model.has_value()) return false;
    Node node{.log_ratio = log_ratio,
              .model = std::make_unique<PipelineModel>(*std::move(model)),
              .request = std::make_unique<MaximumRequest>(),
              .maximum = nullptr};
    // Draws of its own, so that the errors of the nodes average out.
    node.request->random_key = options_.random_key + kKeyStep * nodes_.size();
    for (const StageClosing& closing : integral_.closings) {
      node.request->closing_mean.push_back(closing.mean);
    }
    auto selected =
        SelectKinds(graph_, *node.model, kinds, node.request->closing_mean,
                    node.request->random_key, budget_);
    if (!selected.ok()) return false;
    node.request->kinds = std::move(selected->kinds);
    node.request->factors = std::move(selected->factors);
    node.maximum = std::make_unique<ReplicaMaximum>(*node.model, *node.request);
    nodes_.push_back(std::move(node));
    return true;
  }

  // The longest lane's closing at `score`, and how far off it is from that at
  // score 0: root of the sum of squares over its tasks, which are independent.
  struct ClosingAt {
    double seconds = 0;
    double off = 0;
  };
  ClosingAt LongestClosing(int stage, double score, double log_ratio) const {
    ClosingAt closing;
    for (const ClosingTask& task : integral_.closings[stage].tasks) {
      double middle = 0, longest = 0;
      for (const ScoreLaw& law : task.law) {
        middle = std::max(middle, law.At(0));
        longest = std::max(longest, law.At(score));
      }
      const double factor =
          task.factor_class == FactorClass::kNetwork ? std::exp(log_ratio) : 1;
      closing.seconds += middle * factor;
      closing.off = std::hypot(closing.off, (longest - middle) * factor);
    }
    return closing;
  }

  // Where several stages can be last, takes the latest of them in each replica
  // instead; what has been simulated is then to be simulated again. Closings
  // are left to the stage that stands for all: `joint_error_` bounds what their
  // own chance adds to the latest of several.
  //
  // With whole backwards every stage waits for gradients to reach the first, so
  // the stages' ends are of a kind and one score tells all.
  void JoinStages() {
    if (!SplitsBackward()) return;
    MarkNeeded();
    const auto count =
        std::count(integral_.needed.begin(), integral_.needed.end(), true);
    if (count > 1) {
      const PipelineModel& model = *nodes_[0].model;
      int last = 0;
      for (int stage = 1; stage < model.stages; ++stage) {
        if (NominalEnd(stage) > NominalEnd(last)) last = stage;
      }
      const double tied = std::sqrt(2 * std::log(static_cast<double>(count)));
      for (Node& node : nodes_) {
        joint_error_ =
            std::max(joint_error_, tied * ExcessOfClosings(node, last));
        node.model->JoinEnds(last, node.request->closing_mean);
        node.maximum =
            std::make_unique<ReplicaMaximum>(*node.model, *node.request);
      }
      joined_at_ = last;
    }
    integral_.needed.clear();
  }

  bool SplitsBackward() const {
    const auto& weight_parts =
        graph_.program_of[static_cast<size_t>(Phase::kBackwardWeight)];
    return std::any_of(weight_parts.begin(), weight_parts.end(),
                       [](int program) { return program != kAbsent; });
  }

  double NominalEnd(int stage) const {
    return nodes_[0].model->nominal_end[stage] +
           nodes_[0].request->closing_mean[stage];
  }

  // By how much closings widen the distance of two stages' ends, in deviations
  // of either.
  double ExcessOfClosings(const Node& node, int last) const {
    double excess = 0;
    for (int stage = 0; stage < graph_.grid.stages; ++stage) {
      if (stage == last || !integral_.needed[stage]) continue;
      const double closing = LongestClosing(stage, 1, node.log_ratio).off;
      const double apart = node.maximum->LagBehind(last, stage).deviation;
      excess = std::max(excess, std::hypot(apart / 2, closing) - apart / 2);
    }
    return excess;
  }

  // Stages that can conceivably end behind the one that leads. Where no replica
  // lags by less than so much, the latest on a stage lags by that, too.
  void MarkNeeded() {
    integral_.needed.assign(graph_.grid.stages, false);
    if (joined_at_ != kAbsent) {
      integral_.needed[joined_at_] = true;
      return;
    }
    const double latest =
        ScoreOfOneAmong(graph_.grid.replicas, kConceivableScore);
    for (const Node& node : nodes_) {
      int lead = 0;
      double end = -INFINITY;
      std::vector<ClosingAt> closing;
      for (int stage = 0; stage < graph_.grid.stages; ++stage) {
        // Lanes are draws of their own: a little further out.
        closing.push_back(
            LongestClosing(stage, kConceivableScore + 1, node.log_ratio));
        const double own =
            node.maximum->EndOfStage(stage).mean + closing[stage].seconds;
        if (own > end) lead = stage;
        end = std::max(end, own);
      }
      const ClosingAt least =
          LongestClosing(lead, -kConceivableScore, node.log_ratio);
      for (int stage = 0; stage < graph_.grid.stages; ++stage) {
        const StageLag lag = node.maximum->LagBehind(lead, stage);
        const double ahead = least.seconds - closing[stage].seconds;
        const double off = std::hypot(least.off, closing[stage].off);
        const double together = std::hypot(off, latest * lag.deviation);
        if (stage == lead || lag.mean + ahead <= together ||
            lag.least_stalled + ahead <= off) {
          integral_.needed[stage] = true;
        }
      }
    }
  }

  // Errors: CANCELLED.
  absl::StatusOr<IntegratedStep> Integrate(int steps) {
    if (integral_.needed.empty()) MarkNeeded();
    if (fitted_samples_ != samples_) {
      integral_.nodes.clear();
      for (size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        auto laws = node.maximum->Laws(integral_.needed, budget_);
        if (!laws.ok()) return laws.status();
        integral_.nodes.push_back(
            {node.log_ratio, *std::move(laws), static_cast<int>(i)});
      }
      integral_.nodes = RefineNodes(integral_.nodes, integral_.needed);
      fitted_samples_ = samples_;
    }
    integral_.samples = steps;
    IntegratedStep step = IntegrateStep(integral_);
    if (budget_.Cancelled()) return absl::CancelledError("cancelled");
    return step;
  }

  // Replicas whose ends are worth keeping in memory.
  int64_t MostSamples() const {
    const auto values = static_cast<int64_t>(nodes_.size()) *
                        static_cast<int64_t>(graph_.grid.stages + 2);
    return std::min(kMostKept / values, kMostStreams);
  }

  double Spread(const IntegratedStep& step) const {
    return std::max(
        options_.compared_spread_seconds,
        step.time.quantile_seconds[4] - step.time.quantile_seconds[2]);
  }

  // What simplifications may add to a quantile or take from it, in seconds.
  double ModelError(size_t level) const {
    const double score = stats::NormalQuantile(kQuantileLevels[level]);
    double misfit = 0;
    for (const RegimeNode& node : integral_.nodes) {
      for (int stage = 0; stage < graph_.grid.stages; ++stage) {
        if (!integral_.needed[stage]) continue;
        misfit = std::max(misfit, node.stages[stage].MisfitAt(score));
      }
    }
    return std::hypot(LaneSlack(), misfit, joint_error_);
  }

  // Whether all of it is small against the spread.
  bool IsFaithful(const IntegratedStep& step) const {
    for (size_t level = kFirstJudged; level < kQuantileLevels.size(); ++level) {
      if (ModelError(level) > kMostModelError * Spread(step)) return false;
    }
    return true;
  }

  double LaneSlack() const {
    double slack = 0;
    for (const Node& node : nodes_) {
      slack = std::max(slack, node.model->lane_slack);
    }
    return slack;
  }

  // How many replicas to look at next; as many as now where they suffice. What
  // few tell of the error is uncertain itself, so it is looked at again.
  int64_t NextSamples(const IntegratedStep& step) {
    if (options_.samples.has_value()) return Affordable(*options_.samples);
    const int64_t wanted = SamplesFor(step);
    if (wanted <= kWorthGrowing * static_cast<double>(samples_)) {
      return samples_;
    }
    return Affordable(std::min(wanted, kMostGrowth * samples_));
  }

  // How many replicas to look at to be sure that the laws do not fit.
  int64_t SamplesToTell() {
    if (options_.samples.has_value() || samples_ >= kEnoughToDoubt) {
      return samples_;
    }
    return Affordable(kMostGrowth * samples_);
  }

  // `wanted` samples, or as many as the deadline leaves time for.
  int64_t Affordable(int64_t wanted) {
    const double spent = absl::ToDoubleSeconds(budget_.Elapsed());
    const double left =
        absl::ToDoubleSeconds(budget_.Remaining() - kAnswerReserve);
    if (spent <= 0 || wanted <= samples_) return wanted;
    const double affordable = samples_ * (1 + left / spent);
    if (static_cast<double>(wanted) <= affordable) return wanted;
    reduced_ = true;
    return static_cast<int64_t>(affordable);
  }

  // What is worth a first look at the error.
  int64_t QuickSamples() const {
    return std::max(
        samples_, static_cast<int64_t>(std::min(kQuickDraws / DrawsOfReplica(),
                                                kMostQuickSamples)));
  }

  // At all nodes. Fitting the laws of the stages costs as much as a few draws
  // each.
  double DrawsOfReplica() const {
    return static_cast<double>(nodes_.size()) *
           static_cast<double>(nodes_[0].model->draws() +
                               kFitDraws * graph_.grid.stages);
  }

  // Replicas after which the error should be small against the spread.
  int64_t SamplesFor(const IntegratedStep& step) const {
    const double spread = Spread(step);
    if (spread <= 0) return 0;
    const double excess = Excess(step, kTargetError * spread);
    return static_cast<int64_t>(
        std::min({samples_ * excess * excess, kMostDraws / DrawsOfReplica(),
                  kMostSamples}));
  }

  // By how much the errors of quantiles from the replicas exceed `seconds`, or
  // up to twice that where the integral will leave as much open.
  static double Excess(const IntegratedStep& step, double seconds) {
    double excess = 0;
    for (size_t q = kFirstJudged; q < kQuantileLevels.size(); ++q) {
      const double own =
          step.own_error_seconds[q] * std::sqrt(double{kFewSteps} / kSteps);
      const double allowed = std::clamp(own, seconds, 2 * seconds);
      excess = std::max(excess, step.replica_error_seconds[q] / allowed);
    }
    return excess;
  }

  StepTime Answer(const IntegratedStep& step) const {
    StepTime time = step.time;
    time.samples = samples_;
    time.method = Method::kAuto;
    time.quality = reduced_ ? Quality::kReduced : Quality::kExact;
    for (size_t level = 0; level < kQuantileLevels.size(); ++level) {
      double& error = time.standard_error_seconds[level];
      error = std::hypot(kStatedErrors * error, ModelError(level));
    }
    return time;
  }

  const CompiledGraph& compiled_;
  const StepGraph& graph_;
  const SimulationOptions& options_;
  const base::Budget& budget_;
  base::Executor& executor_;
  LawTable cache_;
  IntegralRequest integral_;
  std::vector<Node> nodes_;
  int64_t samples_ = 0;
  int64_t fitted_samples_ = 0;  // that the laws of `integral_` are from
  // The stage whose end stands for those of all, or kAbsent.
  int joined_at_ = kAbsent;
  double joint_error_ = 0;
  bool reduced_ = false;
};

}  // namespace

std::optional<absl::StatusOr<StepTime>> SimulateStructured(
    const CompiledGraph& compiled, const SimulationOptions& options,
    const base::Budget& budget, base::Executor& executor) {
  Structured structured(compiled, options, budget, executor);
  if (!structured.Prepare()) {
    if (budget.Cancelled()) return absl::CancelledError("cancelled");
    return std::nullopt;
  }
  return structured.Run();
}

}  // namespace prism::step
