#include "core/step/composition/sharded_meeting.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/stats/normal.h"
#include "core/step/composition/sharded_budget.h"
#include "core/step/composition/sharded_kernels.h"
#include "core/step/composition/sharded_scores.h"

namespace prism::step {
namespace {

// Before everything.
constexpr double kNever = -1e300;
// Each costs some ten microseconds.
constexpr size_t kEntriesBetweenLooks = 64;
// Of the entries' scores: the common one and first ones of lanes.
constexpr int kStratifiedEntries = 4;

using Row = std::vector<double>;

// The scores know of the entries in pairs, and the law of the latest is known:
// rows in the order of their latest entry take its quantiles.
Row MissingTo(const ScoreCurve& law, const Row& latest) {
  std::vector<uint32_t> order(latest.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return latest[a] < latest[b] || (latest[a] == latest[b] && a < b);
  });
  Row missing(latest.size());
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const double u =
        (static_cast<double>(rank) + 0.5) / static_cast<double>(order.size());
    missing[order[rank]] =
        law.At(stats::NormalQuantile(u)) - latest[order[rank]];
  }
  return missing;
}

// Work of single replicas, drawn row by row.
class ReplicaRows {
 public:
  ReplicaRows(const ShardedModel& model, const ShardedItem& item, int rows,
              uint64_t random_key)
      : model_(model),
        curves_(*item.work),
        latest_of_(model.laws[0][item.stretch]->work->latest_of),
        scores_(random_key, rows, 0),
        factor_(rows),
        compute_(2 * model.lanes + 1, Row(rows)),
        network_(2 * model.lanes + 1, Row(rows)),
        first_(rows),
        last_(rows) {}

  // Draws of replica r, by lane before the first meeting, in all others, and
  // by lane after the last.
  void Draw(int r) {
    const int lanes = model_.lanes;
    const auto& slowdown = model_.graph->slowdown;
    for (int lane = 0; lane < lanes; ++lane) {
      const double speed = slowdown.empty() ? 1 : slowdown[r * lanes + lane];
      Set(curves_.first_compute, speed, compute_[lane]);
      Set(curves_.first_network, NetworkFactor(), network_[lane]);
      Set(curves_.last_compute, speed, compute_[lanes + 1 + lane]);
      Set(curves_.last_network, NetworkFactor(), network_[lanes + 1 + lane]);
    }
    const auto [scale, offset] =
        latest_of_.empty() ? std::pair(1.0, 0.0) : latest_of_[r];
    Set(curves_.latest, scale, compute_[lanes]);
    for (double& seconds : compute_[lanes]) seconds += offset;
    Set(curves_.collectives, NetworkFactor(), network_[lanes]);
  }

  // entry[k][l] = max(entry[k][l], what lane k to lane l takes).
  void AddTo(double ratio, std::vector<Row>& entry) {
    const int lanes = model_.lanes;
    const size_t n = factor_.size();
    for (int from = 0; from < lanes; ++from) {
      for (size_t i = 0; i < n; ++i) {
        first_[i] = compute_[from][i] + compute_[lanes][i] +
                    ratio * (network_[from][i] + network_[lanes][i]);
      }
      for (int to = 0; to < lanes; ++to) {
        TakeLatestSum(first_.data(), compute_[lanes + 1 + to].data(), ratio,
                      network_[lanes + 1 + to].data(), n,
                      entry[from * lanes + to].data());
      }
    }
  }

 private:
  // The laws are those at the first ratio.
  double NetworkFactor() const { return 1 / model_.ratios[0]; }

  void Set(const ScoreCurve& curve, double factor, Row& row) {
    std::fill(row.begin(), row.end(), 0.0);
    std::fill(factor_.begin(), factor_.end(), factor);
    const float* score = curve.is_constant() ? nullptr : scores_.Next();
    curve.Add(score, factor_.data(), row.size(), row.data());
  }

  const ShardedModel& model_;
  const WorkCurves& curves_;
  const std::vector<std::pair<double, double>>& latest_of_;
  ScoreSource scores_;
  Row factor_;
  // First lanes, what all lanes share, last lanes.
  std::vector<Row> compute_, network_;
  Row first_, last_;
};

}  // namespace

std::vector<std::vector<float>> EntryScores(const MeetingCopula& copula,
                                            int lanes, int samples,
                                            ScoreSource& scores,
                                            const base::Budget& budget) {
  const std::array<float, 4> weight = {
      static_cast<float>(copula.common), static_cast<float>(copula.same_first),
      static_cast<float>(copula.same_last), static_cast<float>(copula.own)};
  auto copy = [samples](const float* row) {
    return std::vector<float>(row, row + samples);
  };
  const std::vector<float> common = copy(scores.Next());
  std::vector<std::vector<float>> last, all;
  for (int to = 0; to < lanes; ++to) last.push_back(copy(scores.Next()));
  for (int from = 0; from < lanes; ++from) {
    if (IsOver(budget)) return {};
    const std::vector<float> first = copy(scores.Next());
    for (int to = 0; to < lanes; ++to) {
      MixScores({common.data(), first.data(), last[to].data(), scores.Next()},
                weight, samples, all.emplace_back(samples).data());
    }
  }
  return all;
}

bool MeetingRows::Draw(const ShardedModel& model, const ShardedItem& item,
                       int rows, uint64_t random_key, double latest_weight,
                       const base::Budget& budget) {
  rows_ = rows;
  const auto entries = static_cast<size_t>(model.lanes) * model.lanes;
  seconds_.assign(model.ratios.size(), std::vector<Row>(entries));
  const bool done =
      item.work != nullptr
          ? DrawOneByOne(model, item, random_key, budget)
          : DrawEntries(model, item, random_key, latest_weight, budget);
  if (!done) return false;
  for (auto& node : seconds_) {
    for (Row& row : node) {
      row.resize(2 * static_cast<size_t>(rows));
      std::copy_n(row.begin(), rows, row.begin() + rows);
    }
  }
  return true;
}

// A replica's lanes work, wait for the last of them, go through all meetings
// together and work on; the barrier waits for the last replica.
bool MeetingRows::DrawOneByOne(const ShardedModel& model,
                               const ShardedItem& item, uint64_t random_key,
                               const base::Budget& budget) {
  for (auto& node : seconds_) {
    for (Row& row : node) row.assign(rows_, kNever);
  }
  ReplicaRows replica(model, item, rows_, random_key);
  for (int r = 0; r < model.graph->grid.replicas; ++r) {
    if (IsOver(budget)) return false;
    replica.Draw(r);
    for (size_t q = 0; q < seconds_.size(); ++q) {
      replica.AddTo(model.ratios[q], seconds_[q]);
    }
  }
  return true;
}

bool MeetingRows::DrawEntries(const ShardedModel& model,
                              const ShardedItem& item, uint64_t random_key,
                              double latest_weight,
                              const base::Budget& budget) {
  ScoreSource scores(random_key, rows_, kStratifiedEntries);
  const auto score = EntryScores(model.laws[0][item.stretch]->copula,
                                 model.lanes, rows_, scores, budget);
  if (score.empty()) return false;
  const Row one(rows_, 1.0);
  for (size_t q = 0; q < seconds_.size(); ++q) {
    const auto& curves = item.curves->compute[q];
    Row latest(rows_, kNever);
    for (size_t e = 0; e < score.size(); ++e) {
      if (e % kEntriesBetweenLooks == 0 && IsOver(budget)) return false;
      Row& entry = seconds_[q][e];
      entry.assign(rows_, 0.0);
      const ScoreCurve& curve = curves.size() == 1 ? curves[0] : curves[e];
      curve.Add(score[e].data(), one.data(), rows_, entry.data());
      TakeLatest(entry.data(), rows_, latest.data());
    }
    if (latest_weight == 0) continue;
    const Row missing = MissingTo(item.curves->latest[q], latest);
    for (Row& entry : seconds_[q]) {
      for (int i = 0; i < rows_; ++i) entry[i] += latest_weight * missing[i];
    }
  }
  return true;
}

}  // namespace prism::step
