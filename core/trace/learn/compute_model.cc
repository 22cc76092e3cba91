#include "core/trace/learn/compute_model.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace prism::trace {
namespace {

// Far below any spread, so that none has a logarithm.
constexpr double kNoWidth = 1e-12;

double MeanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

// Learns step by step; every step reads what the ones before wrote.
class Learner {
 public:
  Learner(const ComputeTable& table, Judge& judge)
      : table_(table), shape_(table.shape), judge_(judge) {
    model_.shape = shape_;
    model_.components = table.components;
  }

  ComputeModel Learn() && {
    means_ = BlockMeans(table_.logs);
    model_.distinct = Outsiders(means_, "rank of its own");
    SetTypical();
    FindOrder();
    model_.step_effect.assign(shape_.steps * shape_.components, 0);
    removed_.assign(shape_.steps * shape_.components, 0);
    for (size_t c = 0; c < shape_.components; ++c) FindStepEffect(c);
    SetRest();
    FindOwnRest();
    FindLoads();
    FindSteps();
    SetBundles();
    return std::move(model_);
  }

 private:
  // Mean over the micro-batches of a row; by step, replica and component.
  std::vector<double> BlockMeans(const std::vector<double>& values) const {
    std::vector<double> means;
    means.reserve(values.size() / shape_.microbatches);
    for (size_t row = 0; row < values.size(); row += shape_.microbatches)
      means.push_back(
          MeanOf(std::span(values).subspan(row, shape_.microbatches)));
    return means;
  }

  size_t Block(size_t step, size_t replica, size_t component) const {
    return (step * shape_.replicas + replica) * shape_.components + component;
  }

  std::string NameOf(size_t c) const {
    const Component& component = table_.components[c];
    return absl::StrCat(std::string(KindName(component.kind)), ", stage ",
                        component.stage, ", chunk ", component.chunk);
  }

  // Holds each rank against the median of its peers, step by step. `values`
  // are by block. Returns by replica and component who differs.
  std::vector<bool> Outsiders(const std::vector<double>& values,
                              std::string_view what) {
    std::vector<bool> outsiders(shape_.replicas * shape_.components, false);
    if (shape_.replicas < 2) return outsiders;
    for (size_t c = 0; c < shape_.components; ++c) {
      const std::vector<double> medians = Medians(values, c);
      for (size_t d = 0; d < shape_.replicas; ++d) {
        std::vector<double> differences;
        for (size_t s = 0; s < shape_.steps; ++s)
          differences.push_back(values[Block(s, d, c)] - medians[s]);
        outsiders[d * shape_.components + c] = judge_.Found(
            absl::StrCat(std::string(what), ": ", NameOf(c), ", replica ", d),
            stats::ZeroMeanTest(differences));
      }
    }
    return outsiders;
  }

  // Of all replicas' values in a component, by step.
  std::vector<double> Medians(const std::vector<double>& values,
                              size_t c) const {
    std::vector<double> medians, peers(shape_.replicas);
    for (size_t s = 0; s < shape_.steps; ++s) {
      for (size_t d = 0; d < shape_.replicas; ++d)
        peers[d] = values[Block(s, d, c)];
      const auto middle =
          peers.begin() + static_cast<ptrdiff_t>(shape_.replicas / 2);
      std::nth_element(peers.begin(), middle, peers.end());
      double median = *middle;
      if (shape_.replicas % 2 == 0)
        median = (median + *std::max_element(peers.begin(), middle)) / 2;
      medians.push_back(median);
    }
    return medians;
  }

  void SetTypical() {
    model_.typical.assign(shape_.replicas * shape_.components, 0);
    for (size_t c = 0; c < shape_.components; ++c) {
      double alike = 0;
      size_t count = 0;
      for (size_t d = 0; d < shape_.replicas; ++d) {
        double& own = model_.typical[d * shape_.components + c];
        for (size_t s = 0; s < shape_.steps; ++s)
          own += means_[Block(s, d, c)] / static_cast<double>(shape_.steps);
        if (model_.IsDistinct(d, c)) continue;
        alike += own;
        ++count;
      }
      for (size_t d = 0; d < shape_.replicas; ++d) {
        if (!model_.IsDistinct(d, c))
          model_.typical[d * shape_.components + c] =
              alike / static_cast<double>(count);
      }
    }
    for (size_t s = 0; s < shape_.steps; ++s) {
      for (size_t b = 0; b < model_.typical.size(); ++b)
        means_[s * model_.typical.size() + b] -= model_.typical[b];
    }
  }

  // Of each kind, mean over its components: rows of micro-batches by step and
  // replica.
  std::vector<double> MeanOfKind(const std::vector<double>& values,
                                 size_t kind) const {
    const size_t half = table_.half();
    std::vector<double> mean(shape_.steps * shape_.replicas *
                             shape_.microbatches);
    size_t out = 0;
    for (size_t s = 0; s < shape_.steps; ++s) {
      for (size_t d = 0; d < shape_.replicas; ++d) {
        for (size_t i = 0; i < shape_.microbatches; ++i, ++out) {
          for (size_t c = kind * half; c < (kind + 1) * half; ++c)
            mean[out] += values[shape_.Row(s, d, c) + i];
          mean[out] /= static_cast<double>(half);
        }
      }
    }
    return mean;
  }

  static std::string KindOf(size_t kind) {
    return std::string(KindName(kind == 0 ? OperationKind::kForwardCompute
                                          : OperationKind::kBackwardCompute));
  }

  // Whether a micro-batch's place in the step matters, or its neighbours.
  void FindOrder() {
    const size_t m = shape_.microbatches, rows = shape_.steps * shape_.replicas;
    for (size_t kind = 0; kind < 2; ++kind) {
      if (m < 2) continue;
      std::vector<double> within = MeanOfKind(table_.logs, kind);
      std::vector<double> turned(within.size());
      for (size_t r = 0; r < rows; ++r) {
        const double mean = MeanOf(std::span(within).subspan(r * m, m));
        for (size_t i = 0; i < m; ++i) {
          within[r * m + i] -= mean;
          turned[i * rows + r] = within[r * m + i];
        }
      }
      keeps_order_[kind] = judge_.Found(
          absl::StrCat("place of a micro-batch in the step: ", KindOf(kind)),
          stats::RowEffectTest({turned, m, rows}, static_cast<double>(m - 1)));
      for (size_t i = 0; i < m; ++i) {
        const double mean = MeanOf(std::span(turned).subspan(i * rows, rows));
        for (size_t r = 0; r < rows; ++r) within[r * m + i] -= mean;
      }
      const bool neighbours = judge_.Found(
          absl::StrCat("micro-batch after micro-batch: ", KindOf(kind)),
          stats::NeighbourTest({within, rows, m}));
      keeps_order_[kind] = keeps_order_[kind] || neighbours;
    }
  }

  void FindStepEffect(size_t c) {
    const std::string what = absl::StrCat("step, in all replicas: ", NameOf(c));
    if (shape_.replicas < 2) {
      FindStepEffectOfOne(c);
      return;
    }
    std::vector<double> matrix;
    for (size_t s = 0; s < shape_.steps; ++s) {
      for (size_t d = 0; d < shape_.replicas; ++d)
        matrix.push_back(means_[Block(s, d, c)]);
    }
    const stats::TestResult result =
        stats::RowEffectTest({matrix, shape_.steps, shape_.replicas},
                             static_cast<double>(shape_.steps - 1));
    if (!judge_.Together(what, result, static_cast<double>(shape_.steps)))
      return;
    // How much of the variance of a mean over the replicas is the step's.
    const auto n = static_cast<double>(shape_.replicas);
    const double shared = std::clamp(result.strength, 0.0, 1.0);
    SetStepEffect(c, n * shared / (1 + (n - 1) * shared));
  }

  // With one replica the micro-batches alone tell a step from chance.
  void FindStepEffectOfOne(size_t c) {
    const size_t kind = c / table_.half();
    double share = 1;
    if (!keeps_order_[kind] && shape_.microbatches > 1) {
      std::vector<double> matrix;
      for (size_t s = 0; s < shape_.steps; ++s) {
        for (size_t i = 0; i < shape_.microbatches; ++i)
          matrix.push_back(table_.logs[shape_.Row(s, 0, c) + i]);
      }
      const auto steps = static_cast<double>(shape_.steps);
      const stats::TestResult result = stats::GroupSpreadTest(
          {matrix, shape_.steps, shape_.microbatches}, steps - 1);
      const bool together =
          judge_.Together(absl::StrCat("step: ", NameOf(c)), result, steps);
      // Micro-batches that make up for each other, or may do so.
      if (together && (result.strength < 1 || result.p >= judge_.level())) {
        keeps_step_[kind] = true;
      } else {
        share = std::max(0.0, 1 - 1 / result.strength);
      }
    }
    SetStepEffect(c, share);
  }

  // `share`: of the variance of the steps' means, what belongs to steps.
  void SetStepEffect(size_t c, double share) {
    std::vector<double> of_step(shape_.steps, 0);
    for (size_t s = 0; s < shape_.steps; ++s) {
      for (size_t d = 0; d < shape_.replicas; ++d)
        of_step[s] +=
            means_[Block(s, d, c)] / static_cast<double>(shape_.replicas);
    }
    const double centre = MeanOf(of_step);
    for (size_t s = 0; s < shape_.steps; ++s) {
      removed_[s * shape_.components + c] = of_step[s] - centre;
      model_.step_effect[s * shape_.components + c] =
          (of_step[s] - centre) * std::sqrt(share);
    }
    has_effect_[c] = true;
  }

  // Taking means away narrows what is left; that is made up for, so that
  // draws are as wide as what was observed.
  void SetRest() {
    model_.rest = table_.logs;
    const auto replicas = static_cast<double>(shape_.replicas);
    const auto m = static_cast<double>(shape_.microbatches);
    for (size_t s = 0; s < shape_.steps; ++s) {
      for (size_t d = 0; d < shape_.replicas; ++d) {
        for (size_t c = 0; c < shape_.components; ++c) {
          const double removed = removed_[s * shape_.components + c];
          const double mean = means_[Block(s, d, c)];
          double of_means = 1, within = 1;
          if (has_effect_[c] && shape_.replicas > 1)
            of_means = std::sqrt(replicas / (replicas - 1));
          const size_t kind = c / table_.half();
          if (shape_.replicas == 1 && shape_.microbatches > 1 &&
              !keeps_order_[kind] && !keeps_step_[kind])
            within = std::sqrt(m / (m - 1));
          for (size_t i = 0; i < shape_.microbatches; ++i) {
            double& rest = model_.rest[shape_.Row(s, d, c) + i];
            rest -= model_.Typical(d, c) + mean;
            rest = rest * within + (mean - removed) * of_means;
          }
        }
      }
    }
  }

  // Whose rest is wider or narrower than its peers'; of ranks that differ also
  // where there are too few steps to tell.
  void FindOwnRest() {
    model_.own_rest.assign(shape_.replicas, false);
    std::vector<double> widths;
    const size_t m = shape_.microbatches;
    for (size_t row = 0; row < model_.rest.size(); row += m) {
      const auto rest = std::span(model_.rest).subspan(row, m);
      const double mean = MeanOf(rest);
      double width = 0;
      for (const double value : rest) width += std::abs(value - mean);
      widths.push_back(std::log(width + kNoWidth));
    }
    const std::vector<bool> outsiders = Outsiders(widths, "spread of its own");
    for (size_t d = 0; d < shape_.replicas; ++d) {
      for (size_t c = 0; c < shape_.components; ++c) {
        const bool unsure = model_.IsDistinct(d, c) &&
                            !judge_.Decides(static_cast<double>(shape_.steps));
        if (outsiders[d * shape_.components + c] || unsure)
          model_.own_rest[d] = true;
      }
    }
  }

  // Independent observations of micro-batches.
  double Freedom() const {
    const size_t blocks = shape_.steps * shape_.replicas;
    return static_cast<double>(shape_.microbatches > 1
                                   ? blocks * (shape_.microbatches - 1)
                                   : blocks - 1);
  }

  void FindLoads() {
    // About the means of the replica's step, where there are several.
    std::vector<double> within = model_.rest;
    const size_t m = shape_.microbatches;
    for (size_t row = 0; m > 1 && row < within.size(); row += m) {
      const double mean = MeanOf(std::span(within).subspan(row, m));
      for (size_t i = 0; i < m; ++i) within[row + i] -= mean;
    }
    model_.shares_forward = FindLoad(within, 0);
    model_.shares_backward = FindLoad(within, 1);
    model_.shares_both = judge_.Together(
        "load of a micro-batch, forward and backward",
        stats::CorrelationTest(MeanOfKind(within, 0), MeanOfKind(within, 1),
                               Freedom()),
        Freedom());
  }

  bool FindLoad(const std::vector<double>& within, size_t kind) {
    const size_t half = table_.half();
    if (half < 2) return true;
    std::vector<double> matrix;
    for (size_t s = 0; s < shape_.steps; ++s) {
      for (size_t d = 0; d < shape_.replicas; ++d) {
        for (size_t i = 0; i < shape_.microbatches; ++i) {
          for (size_t c = kind * half; c < (kind + 1) * half; ++c)
            matrix.push_back(within[shape_.Row(s, d, c) + i]);
        }
      }
    }
    return judge_.Together(
        absl::StrCat("load of a micro-batch, on all stages: ", KindOf(kind)),
        stats::RowEffectTest({matrix, matrix.size() / half, half}, Freedom()),
        Freedom());
  }

  // Whether the micro-batches of a replica's step have more, or less, in
  // common than chance.
  void FindSteps() {
    if (shape_.replicas < 2 || shape_.microbatches < 2) return;
    const size_t m = shape_.microbatches, rows = shape_.steps * shape_.replicas;
    const size_t in_step = shape_.replicas * m;
    for (size_t kind = 0; kind < 2; ++kind) {
      std::vector<double> values = MeanOfKind(model_.rest, kind);
      for (size_t place = 0; place < in_step; ++place) {
        double mean = 0;
        for (size_t s = 0; s < shape_.steps; ++s)
          mean +=
              values[s * in_step + place] / static_cast<double>(shape_.steps);
        for (size_t s = 0; s < shape_.steps; ++s)
          values[s * in_step + place] -= mean;
      }
      const auto freedom =
          static_cast<double>((shape_.steps - 1) * shape_.replicas);
      keeps_step_[kind] = judge_.Together(
          absl::StrCat("step of a replica: ", KindOf(kind)),
          stats::GroupSpreadTest({values, rows, m}, freedom), freedom);
    }
  }

  void SetBundles() {
    const size_t half = table_.half();
    std::vector<size_t> bundle_of(shape_.components);
    std::iota(bundle_of.begin(), bundle_of.end(), size_t{0});
    const auto join = [&](size_t a, size_t b) {
      const size_t from = bundle_of[b], to = bundle_of[a];
      std::replace(bundle_of.begin(), bundle_of.end(), from, to);
    };
    for (size_t c = 1; c < half; ++c) {
      if (model_.shares_forward) join(0, c);
      if (model_.shares_backward) join(half, half + c);
    }
    for (size_t c = 0; c < half && model_.shares_both; ++c) join(c, half + c);
    for (size_t b = 0; b < shape_.components; ++b) {
      Bundle bundle;
      for (size_t c = 0; c < shape_.components; ++c) {
        if (bundle_of[c] != b) continue;
        bundle.components.push_back(c);
        bundle.keeps_order = bundle.keeps_order || keeps_order_[c / half];
        bundle.keeps_step = bundle.keeps_step || keeps_step_[c / half];
      }
      if (!bundle.components.empty()) model_.bundles.push_back(bundle);
    }
  }

  const ComputeTable& table_;
  const TableShape shape_;
  Judge& judge_;
  ComputeModel model_;
  std::vector<double> means_;    // of blocks, about what is typical
  std::vector<double> removed_;  // by step and component
  std::vector<bool> has_effect_ = std::vector<bool>(shape_.components, false);
  bool keeps_order_[2] = {false, false};
  bool keeps_step_[2] = {false, false};
};

}  // namespace

size_t ComputeTests(const TableShape& shape) {
  const size_t ranks = shape.replicas * shape.components;
  // Of each kind: a load, place, neighbours and the replica's step.
  return 2 * ranks + shape.components + 2 * 4 + 1;
}

ComputeModel LearnComputes(const ComputeTable& table, Judge& judge) {
  return Learner(table, judge).Learn();
}

}  // namespace prism::trace
