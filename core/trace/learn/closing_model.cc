#include "core/trace/learn/closing_model.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace prism::trace {
namespace {

// Kinds drawn once a step, and after them computes and delays.
constexpr size_t kVariables = kOperationKinds + 2;

bool IsClosing(OperationKind kind) {
  return !IsCompute(kind) && !IsPointToPoint(kind);
}

// One kind: its workers' first operations, and what the workers share.
struct ClosingKind {
  // By replica and stage.
  std::map<std::pair<int32_t, int32_t>, std::vector<int32_t>> workers;
  bool replicas_share = true;
  bool stages_share = true;
};

class Learner {
 public:
  Learner(const Observations& observed, const ComputeModel& computes,
          Judge& judge)
      : observed_(observed), computes_(computes), judge_(judge) {
    std::iota(draw_of_.begin(), draw_of_.end(), size_t{0});
  }

  ClosingModel Learn() && {
    Sort();
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (!kinds_[k].workers.empty()) FindSharing(k);
    }
    AddVariable("step effect of computes", kOperationKinds, StepEffects());
    AddVariable("delays", kOperationKinds + 1, Delays());
    JoinVariables();
    NumberDraws();
    for (const ClosingKind& kind : kinds_) AddUnits(kind);
    return std::move(model_);
  }

 private:
  void Sort() {
    for (size_t o = 0; o < observed_.operations.size(); ++o) {
      const Operation& operation = observed_.operations[o];
      const auto place = static_cast<int32_t>(o);
      if (IsClosing(operation.kind)) {
        kinds_[static_cast<size_t>(operation.kind)]
            .workers[{operation.replica, operation.stage}]
            .push_back(place);
      } else if (IsPointToPoint(operation.kind)) {
        AddTransfer(operation, place);
      }
    }
  }

  // Operations of a worker and kind are neighbours.
  void AddTransfer(const Operation& operation, int32_t place) {
    if (!model_.transfers.empty()) {
      TransferPool& pool = model_.transfers.back();
      const Operation& first =
          observed_.operations[static_cast<size_t>(pool.first)];
      if (first.kind == operation.kind && first.stage == operation.stage &&
          first.replica == operation.replica && observed_.sizes.chunks == 1) {
        ++pool.count;
        return;
      }
    }
    model_.transfers.push_back({place, 1});
  }

  double Work(size_t step, int32_t operation) const {
    return observed_.steps[step].work[static_cast<size_t>(operation)];
  }

  // Total work of a worker's operations of the kind.
  double Total(size_t step, const std::vector<int32_t>& operations) const {
    double total = 0;
    for (const int32_t o : operations) total += Work(step, o);
    return total;
  }

  void FindSharing(size_t k) {
    ClosingKind& kind = kinds_[k];
    std::map<int32_t, std::vector<const std::vector<int32_t>*>> replicas,
        stages;
    for (const auto& [worker, operations] : kind.workers) {
      replicas[worker.first].push_back(&operations);
      stages[worker.second].push_back(&operations);
    }
    const size_t steps = observed_.steps.size();
    std::vector<double> by_replica, by_stage, of_step;
    for (size_t s = 0; s < steps; ++s) {
      double sum = 0;
      for (const auto& [replica, workers] : replicas) {
        double total = 0;
        for (const auto* operations : workers) {
          by_stage.push_back(Total(s, *operations));
          total += by_stage.back();
        }
        by_replica.push_back(total);
        sum += total;
      }
      of_step.push_back(sum);
    }
    const std::string name(KindName(static_cast<OperationKind>(k)));
    const auto count = static_cast<double>(steps);
    kind.replicas_share = judge_.Together(
        absl::StrCat("all replicas: ", name),
        stats::RowEffectTest({by_replica, steps, replicas.size()}, count - 1),
        count);
    const size_t rows = steps * replicas.size();
    const bool regular = by_stage.size() == rows * stages.size();
    kind.stages_share = judge_.Together(
        absl::StrCat("all stages: ", name),
        regular ? stats::RowEffectTest({by_stage, rows, stages.size()},
                                       static_cast<double>(rows - 1))
                : stats::TestResult{},
        count);
    if (replicas.size() < 2) kind.replicas_share = true;
    if (kind.replicas_share) AddVariable(name, k, std::move(of_step));
  }

  void AddVariable(std::string name, size_t variable,
                   std::vector<double> values) {
    names_[variable] = std::move(name);
    variables_[variable] = std::move(values);
  }

  std::vector<double> StepEffects() const {
    const size_t components = computes_.shape.components;
    std::vector<double> effects;
    for (size_t s = 0; s < observed_.steps.size(); ++s) {
      double sum = 0;
      for (size_t c = 0; c < components; ++c)
        sum += computes_.step_effect[s * components + c];
      effects.push_back(sum);
    }
    return effects;
  }

  std::vector<double> Delays() const {
    std::vector<double> delays;
    for (const ObservedStep& step : observed_.steps)
      delays.push_back(step.measured_seconds - step.replayed_seconds);
    return delays;
  }

  void JoinVariables() {
    const auto count = static_cast<double>(observed_.steps.size());
    for (size_t a = 0; a < kVariables; ++a) {
      for (size_t b = 0; b < a; ++b) {
        if (variables_[a].empty() || variables_[b].empty()) continue;
        const bool together = judge_.Together(
            absl::StrCat("same step: ", names_[b], ", ", names_[a]),
            stats::CorrelationTest(variables_[a], variables_[b], count), count);
        if (!together) continue;
        const size_t from = draw_of_[a], to = draw_of_[b];
        std::replace(draw_of_.begin(), draw_of_.end(), from, to);
      }
    }
  }

  void NumberDraws() {
    std::map<size_t, int> numbers;
    const auto number = [&](size_t variable) {
      return numbers
          .try_emplace(draw_of_[variable], static_cast<int>(numbers.size()))
          .first->second;
    };
    model_.compute_draw = number(kOperationKinds);
    model_.delay_draw = number(kOperationKinds + 1);
    for (size_t k = 0; k < kinds_.size(); ++k) {
      step_draw_[k] = variables_[k].empty() ? kOwnStep : number(k);
    }
    model_.step_draws = static_cast<int>(numbers.size());
  }

  // Workers that share are one unit; one stage's draw is the step's where
  // stages go their own ways.
  void AddUnits(const ClosingKind& kind) {
    const auto k = static_cast<size_t>(&kind - kinds_.data());
    std::map<std::pair<int32_t, int32_t>, ClosingUnit> units;
    for (const auto& [worker, operations] : kind.workers) {
      const std::pair<int32_t, int32_t> key = {
          kind.replicas_share ? 0 : worker.first,
          kind.stages_share ? 0 : worker.second};
      ClosingUnit& unit = units[key];
      unit.operations.insert(unit.operations.end(), operations.begin(),
                             operations.end());
    }
    for (auto& [key, unit] : units) {
      if (kind.replicas_share && (kind.stages_share || key.second == 0))
        unit.step_draw = step_draw_[k];
      model_.units.push_back(std::move(unit));
    }
  }

  const Observations& observed_;
  const ComputeModel& computes_;
  Judge& judge_;
  ClosingModel model_;
  std::vector<ClosingKind> kinds_ = std::vector<ClosingKind>(kOperationKinds);
  std::vector<std::string> names_ = std::vector<std::string>(kVariables);
  std::vector<std::vector<double>> variables_ =
      std::vector<std::vector<double>>(kVariables);
  std::vector<size_t> draw_of_ = std::vector<size_t>(kVariables);
  std::vector<int> step_draw_ = std::vector<int>(kOperationKinds, kOwnStep);
};

}  // namespace

size_t ClosingTests() {
  return 2 * kOperationKinds + kVariables * (kVariables - 1) / 2;
}

ClosingModel LearnClosing(const Observations& observed,
                          const ComputeModel& computes, Judge& judge) {
  return Learner(observed, computes, judge).Learn();
}

}  // namespace prism::trace
