#include "core/step/schedules/automatic.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "core/base/check.h"
#include "core/step/schedules/generators.h"
#include "core/step/schedules/list_scheduler.h"
#include "core/step/schedules/placement.h"
#include "core/step/schedules/weight_filling.h"

namespace prism::step {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool IsSamePass(const Operation& a, const Operation& b) {
  return a.virtual_stage == b.virtual_stage && a.microbatch == b.microbatch;
}

class Search {
 public:
  Search(const PipelinePieces& pieces, const SearchLimits& limits)
      : pieces_(pieces), limits_(limits) {}

  absl::StatusOr<FoundOrder> Run() {
    if (loops()) TryLooped();
    if (folds()) TryFolded();
    if (loops()) {
      TryLists("list", LoopedPlacement(stages(), 1, microbatches()));
      if (pieces_.chunks > 1) {
        TryLists("looped list",
                 LoopedPlacement(stages(), pieces_.chunks, microbatches()));
      }
    }
    if (folds()) TryLists("V list", VPlacement(stages(), microbatches()));
    if (!best_) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "no pipeline order of ", stages(), " stages and ", microbatches(),
          " micro-batches keeps within memory of ", limits_.memory));
    }
    Exchange();
    return *std::move(best_);
  }

 private:
  int stages() const { return pieces_.stages; }
  int microbatches() const { return pieces_.microbatches; }
  bool loops() const { return limits_.placements == Placements::kAny; }
  bool folds() const { return pieces_.chunks % 2 == 0; }

  void TryLooped() {
    const int p = stages(), v = pieces_.chunks, m = microbatches();
    Try("1f1b", OneForwardOneBackwardOrder(p, m));
    TryFilled("zero-bubble H1", ZeroBubbleH1Order(p, m));
    TryFilled("zero-bubble H2", ZeroBubbleH2Order(p, m));
    if (v > 1) {
      Try("interleaved", *InterleavedOrder(p, v, m, SmallestGroup(p, m)));
      Try("breadth-first", BreadthFirstOrder(p, v, m));
    }
  }

  void TryFolded() {
    const int p = stages(), m = microbatches();
    TryFilled("zero-bubble V", ZeroBubbleVOrder(p, m));
    TryFilled("half-memory V", HalfMemoryVOrder(p, m));
    TryFilled("third-memory V", ThirdMemoryVOrder(p, m));
  }

  void TryFilled(const std::string& name, const PipelineOrder& order) {
    Try(name, order);
    const auto times = MergedTimes(pieces_, order);
    const auto sizes = MergedSizes(pieces_, order);
    for (double overrun : {0.0, 0.5, 1.0}) {
      Try(name, FillWithWeights(order, times, sizes, limits_.memory, overrun));
    }
  }

  void TryLists(const std::string& name, const PipelineOrder& placement) {
    const auto times = MergedTimes(pieces_, placement);
    const auto sizes = MergedSizes(pieces_, placement);
    for (double reach : {kInfinite, 2.0, 1.5, 1.0, 0.75, 0.5}) {
      for (double patience : {0.0, 0.5, 1.0}) {
        for (bool forwards_first : {false, true}) {
          auto order =
              ListSchedule(placement, times, sizes,
                           {limits_.memory, reach, patience, forwards_first});
          if (order.ok()) Try(name, *std::move(order));
        }
      }
    }
  }

  // Keeps the order if it is the shortest so far that fits.
  void Try(const std::string& name, PipelineOrder order) {
    auto times = MergedTimes(pieces_, order);
    auto sizes = MergedSizes(pieces_, order);
    if (!Fits(order, sizes)) return;
    auto run = RunNominally(order, times);
    if (!run.ok() || (best_ && run->seconds >= best_->run.seconds)) return;
    best_ = FoundOrder{name, std::move(order), std::move(times),
                       std::move(sizes), *std::move(run)};
  }

  bool Fits(const PipelineOrder& order,
            const std::vector<ActivationSize>& sizes) const {
    const auto peaks = PeakActivations(order, sizes);
    return *std::max_element(peaks.begin(), peaks.end()) <= limits_.memory;
  }

  // Swaps neighbours on a stage and keeps what is not longer.
  void Exchange() {
    std::mt19937_64 random(1);
    for (int i = 0; i < limits_.exchanges; ++i) {
      auto& stage = best_->order.operations[random() % stages()];
      const size_t at = random() % (stage.size() - 1);
      if (IsSamePass(stage[at], stage[at + 1])) continue;
      std::swap(stage[at], stage[at + 1]);
      auto run = Fits(best_->order, best_->sizes)
                     ? RunNominally(best_->order, best_->times)
                     : absl::ResourceExhaustedError("memory");
      if (run.ok() && run->seconds <= best_->run.seconds) {
        best_->run = *std::move(run);
      } else {
        std::swap(stage[at], stage[at + 1]);
      }
    }
  }

  const PipelinePieces& pieces_;
  const SearchLimits& limits_;
  std::optional<FoundOrder> best_;
};

// Pieces a virtual stage is made of.
int PiecesEach(const PipelinePieces& pieces, const PipelineOrder& order) {
  const int all = pieces.stages * pieces.chunks;
  PRISM_CHECK(all % order.virtual_stages() == 0);
  return all / order.virtual_stages();
}

std::vector<double> Sums(const std::vector<double>& values, int each) {
  std::vector<double> sums(values.size() / each, 0);
  for (size_t i = 0; i < values.size(); ++i) sums[i / each] += values[i];
  return sums;
}

}  // namespace

OperationTimes MergedTimes(const PipelinePieces& pieces,
                           const PipelineOrder& order) {
  const int each = PiecesEach(pieces, order);
  OperationTimes times{Sums(pieces.times.forward, each),
                       Sums(pieces.times.backward, each),
                       Sums(pieces.times.weight, each),
                       {}};
  for (int u = 0; u + 1 < order.virtual_stages(); ++u) {
    const bool local = order.stage_of[u] == order.stage_of[u + 1];
    times.hop.push_back(local ? 0 : pieces.times.hop[(u + 1) * each - 1]);
  }
  return times;
}

std::vector<ActivationSize> MergedSizes(const PipelinePieces& pieces,
                                        const PipelineOrder& order) {
  const int each = PiecesEach(pieces, order);
  std::vector<ActivationSize> sizes(order.stage_of.size(), {0, 0});
  for (size_t i = 0; i < pieces.sizes.size(); ++i) {
    sizes[i / each].whole += pieces.sizes[i].whole;
    sizes[i / each].for_weight += pieces.sizes[i].for_weight;
  }
  return sizes;
}

PipelineOrder InPieces(const PipelinePieces& pieces,
                       const PipelineOrder& order) {
  const int each = PiecesEach(pieces, order);
  PipelineOrder cut;
  cut.microbatches = order.microbatches;
  cut.chains = order.chains;
  for (const int stage : order.stage_of) {
    cut.stage_of.insert(cut.stage_of.end(), each, stage);
  }
  for (const auto& operations : order.operations) {
    auto& into = cut.operations.emplace_back();
    for (Operation op : operations) {
      const int first = op.virtual_stage * each;
      for (int k = 0; k < each; ++k) {
        op.virtual_stage =
            first + (op.phase == Phase::kForward ? k : each - 1 - k);
        into.push_back(op);
      }
    }
  }
  return cut;
}

absl::StatusOr<FoundOrder> SearchOrder(const PipelinePieces& pieces,
                                       const SearchLimits& limits) {
  PRISM_CHECK(pieces.stages >= 1 && pieces.chunks >= 1);
  PRISM_CHECK(pieces.microbatches >= 1);
  PRISM_CHECK(limits.placements == Placements::kAny || pieces.chunks == 2);
  const size_t count = static_cast<size_t>(pieces.stages) * pieces.chunks;
  PRISM_CHECK(pieces.sizes.size() == count);
  PRISM_CHECK(pieces.times.hop.size() + 1 == count);
  return Search(pieces, limits).Run();
}

}  // namespace prism::step
