#include "core/trace/replay/sequences.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/trace/replay/worker_operations.h"

namespace prism::trace {
namespace {

// One micro-batch of one replica.
using Batch = std::pair<int32_t, int32_t>;

double WorkerMeanOf(const Typical& typical, const Operation& operation) {
  const auto found = typical.workers.find({operation.replica, operation.stage});
  if (found == typical.workers.end()) return 0;
  return found->second[static_cast<size_t>(operation.kind)].mean();
}

struct Load {
  double sum = 0;
  int count = 0;

  double mean() const { return count == 0 ? 1 : sum / count; }
};

// A step's computes by what their micro-batches are.
class Loads {
 public:
  Loads(const RecordedStep& step, std::span<const double> work,
        const Sizes& sizes, const Typical& typical)
      : microbatch_(Microbatches(step.step(), sizes)) {
    const auto& operations = step.step().operations;
    load_.assign(operations.size(), 1);
    mean_.assign(operations.size(), 0);
    for (size_t i = 0; i < operations.size(); ++i) {
      if (microbatch_[i] == kNone) continue;
      mean_[i] = WorkerMeanOf(typical, operations[i]);
      if (mean_[i] <= 0) continue;
      load_[i] = work[i] / mean_[i];
      Load& load = of_batch_[{operations[i].replica, microbatch_[i]}];
      load.sum += load_[i];
      ++load.count;
    }
  }

  bool IsOfBatch(size_t i) const {
    return microbatch_[i] != kNone && mean_[i] > 0;
  }
  int32_t microbatch(size_t i) const { return microbatch_[i]; }
  double of(size_t i) const { return load_[i]; }
  double worker_mean(size_t i) const { return mean_[i]; }
  const std::map<Batch, Load>& of_batch() const { return of_batch_; }

  double Mean() const {
    double sum = 0;
    for (const auto& [batch, load] : of_batch_) sum += load.mean();
    return of_batch_.empty() ? 1 : sum / static_cast<double>(of_batch_.size());
  }

 private:
  std::vector<int32_t> microbatch_;
  std::vector<double> load_, mean_;
  std::map<Batch, Load> of_batch_;
};

// For each place of a replica the micro-batch that it gets.
std::map<Batch, Batch> DealOut(const std::map<Batch, Load>& loads) {
  std::vector<std::pair<double, Batch>> longest;
  std::map<int32_t, std::vector<int32_t>> places;
  for (const auto& [batch, load] : loads) {
    longest.emplace_back(-load.mean(), batch);
    places[batch.first].push_back(batch.second);
  }
  std::sort(longest.begin(), longest.end());
  struct Replica {
    double load = 0;
    size_t used = 0;
  };
  std::map<int32_t, Replica> replicas;
  std::map<Batch, Batch> dealt;
  for (const auto& [negative_load, batch] : longest) {
    Replica* least = nullptr;
    int32_t number = 0;
    for (const auto& [replica, own] : places) {
      Replica& candidate = replicas[replica];
      if (candidate.used == own.size()) continue;
      if (least == nullptr || candidate.load < least->load) {
        least = &candidate;
        number = replica;
      }
    }
    dealt[{number, places[number][least->used++]}] = batch;
    least->load -= negative_load;
  }
  return dealt;
}

}  // namespace

std::vector<int32_t> Microbatches(const Step& step, const Sizes& sizes) {
  std::vector<int32_t> microbatches(step.operations.size(), kNone);
  std::map<std::tuple<int32_t, int32_t, OperationKind>, int32_t> next;
  for (size_t i = 0; i < step.operations.size(); ++i) {
    const Operation& o = step.operations[i];
    if (!IsCompute(o.kind)) continue;
    const int32_t number = next[{o.replica, VirtualStage(o, sizes), o.kind}]++;
    microbatches[i] = o.microbatch != kNone ? o.microbatch : number;
  }
  return microbatches;
}

void Unevenness::Add(const RecordedStep& step, const Sizes& sizes,
                     const Typical& typical) {
  const Loads loads(step, step.work(), sizes, typical);
  const auto& operations = step.step().operations;
  std::map<Batch, std::pair<Load, Load>> both;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (!loads.IsOfBatch(i)) continue;
    auto& pair = both[{operations[i].replica, loads.microbatch(i)}];
    Load& load = operations[i].kind == OperationKind::kForwardCompute
                     ? pair.first
                     : pair.second;
    load.sum += loads.of(i);
    ++load.count;
  }
  // Steps as a whole may be longer or shorter: that is not looked for here.
  double mean_x = 0, mean_y = 0;
  for (const auto& [batch, pair] : both) {
    mean_x += pair.first.mean() / static_cast<double>(both.size());
    mean_y += pair.second.mean() / static_cast<double>(both.size());
  }
  for (const auto& [batch, pair] : both) {
    const double x = pair.first.mean() - mean_x;
    const double y = pair.second.mean() - mean_y;
    ++n_;
    x_ += x, y_ += y, xx_ += x * x, xy_ += x * y, yy_ += y * y;
  }
}

double Unevenness::Correlation() const {
  const double xx = xx_ - x_ * x_ / std::max(n_, 1.0);
  const double yy = yy_ - y_ * y_ / std::max(n_, 1.0);
  const double xy = xy_ - x_ * y_ / std::max(n_, 1.0);
  constexpr double kLeast = 1e-12;  // less is rounding
  return xx > kLeast && yy > kLeast ? xy / std::sqrt(xx * yy) : 0;
}

double Unevenness::Deviation() const {
  if (n_ == 0) return 0;
  return std::sqrt(std::max(0.0, (xy_ - x_ * y_ / n_) / n_));
}

std::vector<double> SortSequences(const RecordedStep& step,
                                  std::span<const double> work,
                                  const Sizes& sizes, const Typical& typical) {
  const Loads loads(step, work, sizes, typical);
  const std::map<Batch, Batch> dealt = DealOut(loads.of_batch());
  const auto& operations = step.step().operations;
  using Place = std::tuple<int32_t, int32_t, int32_t, OperationKind>;
  std::map<Place, double> load_at;
  const auto place = [&](const Operation& o, Batch batch) {
    return Place(batch.first, batch.second, VirtualStage(o, sizes), o.kind);
  };
  for (size_t i = 0; i < operations.size(); ++i) {
    if (!loads.IsOfBatch(i)) continue;
    const Operation& o = operations[i];
    load_at[place(o, {o.replica, loads.microbatch(i)})] = loads.of(i);
  }
  std::vector<double> sorted(work.begin(), work.end());
  for (size_t i = 0; i < operations.size(); ++i) {
    if (!loads.IsOfBatch(i)) continue;
    const Operation& o = operations[i];
    const auto from = dealt.find({o.replica, loads.microbatch(i)});
    if (from == dealt.end()) continue;
    const auto load = load_at.find(place(o, from->second));
    if (load != load_at.end()) {
      sorted[i] = loads.worker_mean(i) * load->second;
    }
  }
  return sorted;
}

std::vector<double> EvenSequences(const RecordedStep& step,
                                  std::span<const double> work,
                                  const Sizes& sizes, const Typical& typical) {
  const Loads loads(step, work, sizes, typical);
  const double mean = loads.Mean();
  std::vector<double> even(work.begin(), work.end());
  const auto& operations = step.step().operations;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (!loads.IsOfBatch(i)) continue;
    const double load = loads.of_batch()
                            .at({operations[i].replica, loads.microbatch(i)})
                            .mean();
    if (load > 0) even[i] *= mean / load;
  }
  return even;
}

}  // namespace prism::trace
