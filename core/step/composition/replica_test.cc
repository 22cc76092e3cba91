// One replica: its model, its samples, and the maximum over many.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/step/composition/kind_selection.h"
#include "core/step/composition/replica_kinds.h"
#include "core/step/composition/replica_maximum.h"
#include "core/step/composition/replica_sampler.h"
#include "core/step/composition/score_law.h"
#include "core/step/composition/test_models.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

StepProfile ConstantPipeline(ScheduleKind schedule, int chunks = 1) {
  StepProfile profile = ConstantProfile(schedule, 3, chunks, 6, 3, 5);
  profile.transfer = Distribution::MakeConstant(0.7);
  profile.stage_scale.assign(3 * chunks, 1.0);
  profile.stage_scale[1] = 1.4;
  return profile;
}

StepProfile NoisyPipeline() {
  StepProfile profile = ConstantPipeline(ScheduleKind::kOneForwardOneBackward);
  profile.forward[0].compute = Distribution::MakeGamma(3, 0.2);
  profile.backward[0].compute = Distribution::MakeNormal(5, 0.4);
  profile.transfer = Distribution::MakeLognormal(0.7, 0.3);
  profile.microbatch_load = Distribution::MakeLognormal(1, 0.1);
  return profile;
}

std::vector<ReplicaPair> Pairs(int n, int first = 0) {
  std::vector<ReplicaPair> pairs;
  for (int i = 0; i < n; ++i) {
    pairs.push_back({0, static_cast<uint32_t>(first + i), 0});
  }
  return pairs;
}

// Ends of the pairs and their mirror images: [stage][2 * pair + mirror].
std::vector<std::vector<float>> EndsOf(const PipelineModel& model,
                                       const std::vector<ReplicaPair>& pairs) {
  std::vector<std::vector<float>> ends(model.stages,
                                       std::vector<float>(2 * pairs.size()));
  std::vector<float*> to;
  for (auto& stage : ends) to.push_back(stage.data());
  ReplicaSampler sampler(model, {}, 1);
  EXPECT_TRUE(sampler.Run(pairs, base::UnlimitedBudget(), to));
  return ends;
}

TEST(PipelineModel, NominalEndIsTheNominalStepOfConstants) {
  const StepProfile profiles[] = {
      ConstantPipeline(ScheduleKind::kGpipe),
      ConstantPipeline(ScheduleKind::kOneForwardOneBackward),
      ConstantPipeline(ScheduleKind::kInterleaved, 2)};
  for (const StepProfile& profile : profiles) {
    const auto of = BuildModel(profile);
    ASSERT_NE(of, nullptr);
    const auto& end = of->model.nominal_end;
    EXPECT_NEAR(*std::max_element(end.begin(), end.end()),
                ConstantSeconds(of->graph), 1e-12);
  }
}

TEST(PipelineModel, CountsDrawsAndStalls) {
  StepProfile profile = NoisyPipeline();
  const auto of = BuildModel(profile);
  ASSERT_NE(of, nullptr);
  // 18 operations each way, 12 hops each way, 6 loads.
  EXPECT_EQ(of->model.draws(), 36 + 24 + 6);
  EXPECT_EQ(of->model.expected_stalls, 0);
  profile.forward[0].compute =
      Distribution::MakeMixture({{1 - 1e-5, Distribution::MakeNormal(3, 0.1)},
                                 {1e-5, Distribution::MakeConstant(90)}});
  const auto stalling = BuildModel(profile);
  ASSERT_NE(stalling, nullptr);
  EXPECT_NEAR(stalling->model.expected_stalls, 18e-5, 1e-9);
}

TEST(ReplicaSampler, ConstantsEndAsNominal) {
  const auto of = BuildModel(ConstantPipeline(ScheduleKind::kGpipe));
  ASSERT_NE(of, nullptr);
  for (const auto& stage : EndsOf(of->model, Pairs(20))) {
    // Offsets of the schedule are single precision: 1e-7 of 0.1 s.
    for (const float end : stage) EXPECT_NEAR(end, 0, 1e-7);
  }
}

TEST(ReplicaSampler, MirrorImagesOfOneNormalCancel) {
  const auto of = BuildModel(OneOperation(Distribution::MakeNormal(10, 1)));
  ASSERT_NE(of, nullptr);
  const auto ends = EndsOf(of->model, Pairs(50))[0];
  for (size_t i = 0; i < ends.size(); i += 2) {
    EXPECT_NEAR(ends[i], -ends[i + 1], 1e-8);
    EXPECT_NE(ends[i], 0);
  }
}

TEST(ReplicaSampler, DrawsBelongToTheSampleWhateverTheBlock) {
  const auto of = BuildModel(NoisyPipeline());
  ASSERT_NE(of, nullptr);
  const auto all = EndsOf(of->model, Pairs(ReplicaSampler::kBlock));
  const auto some = EndsOf(of->model, Pairs(7, 40));
  for (size_t stage = 0; stage < all.size(); ++stage) {
    EXPECT_TRUE(std::equal(some[stage].begin(), some[stage].end(),
                           all[stage].begin() + 80));
  }
}

TEST(ReplicaSampler, StalledReplicasEndLater) {
  StepProfile profile = NoisyPipeline();
  profile.backward[0].compute =
      Distribution::MakeMixture({{1 - 1e-5, Distribution::MakeNormal(5, 0.4)},
                                 {1e-5, Distribution::MakeConstant(500)}});
  const auto of = BuildModel(profile);
  ASSERT_NE(of, nullptr);
  std::vector<ReplicaPair> pairs = Pairs(30);
  const auto common = EndsOf(of->model, pairs);
  for (ReplicaPair& pair : pairs) pair.stalls = 1;
  const auto stalled = EndsOf(of->model, pairs);
  // The first stage ends last, and waits for whoever stalls: for 495 ms, or
  // 693 on the slower second stage. Slack hides but a little.
  for (size_t i = 0; i < common[0].size(); ++i) {
    EXPECT_GT(stalled[0][i], common[0][i] + 0.4);
    EXPECT_LT(stalled[0][i], common[0][i] + 0.71);
  }
}

// Of the last stage, where nothing follows the operations.
struct Controls {
  ControlWeights weights;
  std::vector<std::vector<float>> ends;
  std::vector<float> control;  // by pair
};

Controls ControlsOf(const PipelineModel& model, int pairs) {
  Controls controls;
  const std::vector<double> closing(model.stages, 0.0);
  controls.control.resize(pairs);
  controls.ends.assign(model.stages, std::vector<float>(2 * pairs));
  std::vector<float*> to;
  for (auto& stage : controls.ends) to.push_back(stage.data());
  ReplicaSampler sampler(model, {}, 1);
  CriticalPaths paths(model);
  EXPECT_TRUE(sampler.RunTraced(Pairs(pairs, 1000), closing,
                                base::UnlimitedBudget(), to, paths));
  controls.weights = paths.Weights();
  EXPECT_TRUE(sampler.RunControlled(Pairs(pairs), controls.weights,
                                    base::UnlimitedBudget(), to,
                                    controls.control.data()));
  return controls;
}

// One stage without waits: the end is the control, whatever each draw weighs.
TEST(ControlWeights, TellTheEndOfASumOfNormals) {
  StepProfile profile =
      ConstantProfile(ScheduleKind::kOneForwardOneBackward, 1, 1, 6, 3, 5);
  profile.forward[0].compute = Distribution::MakeNormal(3, 0.2);
  profile.backward[0].compute = Distribution::MakeNormal(5, 0.4);
  const auto of = BuildModel(profile);
  ASSERT_NE(of, nullptr);
  const Controls controls = ControlsOf(of->model, 64);
  const double deviation = std::sqrt(6 * (0.2 * 0.2 + 0.4 * 0.4)) * 1e-3;
  for (size_t i = 0; i < controls.control.size(); ++i) {
    EXPECT_NEAR(controls.ends[0][2 * i], deviation * controls.control[i],
                2e-3 * deviation);
    EXPECT_NEAR(controls.ends[0][2 * i + 1], -deviation * controls.control[i],
                2e-3 * deviation);
  }
}

// A stage so slow that all others wait for it is all of the longest path, but
// for the first micro-batch's way there and the last one's way back.
TEST(ControlWeights, LieOnTheLongestPath) {
  StepProfile profile = ConstantPipeline(ScheduleKind::kOneForwardOneBackward);
  profile.forward[0].compute = Distribution::MakeNormal(3, 0.1);
  profile.backward[0].compute = Distribution::MakeNormal(5, 0.1);
  profile.stage_scale = {1, 1, 5};
  const auto of = BuildModel(profile);
  ASSERT_NE(of, nullptr);
  const Controls controls = ControlsOf(of->model, 64);
  double squares = 0;
  size_t score = 0, elsewhere = 0;
  for (const PipelineOperation& op : of->model.operations) {
    const float weight = controls.weights.score[score++];
    squares += double(weight) * double(weight);
    if (op.stage == 2) {
      EXPECT_GT(weight, 0);
    } else if (weight > 0) {
      ++elsewhere;
    }
  }
  EXPECT_EQ(score, controls.weights.score.size());
  EXPECT_NEAR(squares, 1, 1e-5);
  // Forward on stages 0 and 1, backward on 1 and 0.
  EXPECT_EQ(elsewhere, 4u);
}

// Operations, hops and loads: each score has its weight, and the control is
// standard normal and near the end.
TEST(ControlWeights, FollowTheEndOfAPipeline) {
  const auto of = BuildModel(NoisyPipeline());
  ASSERT_NE(of, nullptr);
  double own = 0, ends = 0, both = 0, pairs = 0;
  const Controls controls = ControlsOf(of->model, 64);
  EXPECT_EQ(controls.weights.score.size(), 36u + 24u);
  for (const float load : controls.weights.load) EXPECT_GT(load, 0);
  for (size_t i = 0; i < controls.control.size(); ++i) {
    const double c = double(controls.control[i]);
    const double end = (double(controls.ends[0][2 * i]) -
                        double(controls.ends[0][2 * i + 1])) /
                       2;
    own += c * c;
    ends += end * end;
    both += c * end;
    pairs += 1;
  }
  EXPECT_NEAR(own / pairs, 1, 4 * std::sqrt(2 / pairs));
  EXPECT_GT(both * both / (own * ends), 0.95);
}

// Moved along the weights, the end of a sum of normals is where the control is
// put.
TEST(ReplicaSampler, MovesTheControl) {
  StepProfile profile =
      ConstantProfile(ScheduleKind::kOneForwardOneBackward, 1, 1, 6, 3, 5);
  profile.forward[0].compute = Distribution::MakeNormal(3, 0.2);
  profile.backward[0].compute = Distribution::MakeNormal(5, 0.4);
  const auto of = BuildModel(profile);
  ASSERT_NE(of, nullptr);
  const Controls controls = ControlsOf(of->model, 20);
  ReplicaSampler sampler(of->model, {}, 1);
  std::vector<float> control(20), ends(40);
  sampler.DrawControl(Pairs(20), controls.weights, control.data());
  EXPECT_EQ(control, controls.control);
  float* to[] = {ends.data()};
  ASSERT_TRUE(sampler.RunMoved(Pairs(20), controls.weights, control.data(),
                               1.5f, base::UnlimitedBudget(), to));
  const double deviation = std::sqrt(6 * (0.2 * 0.2 + 0.4 * 0.4)) * 1e-3;
  for (size_t i = 0; i < ends.size(); ++i) {
    EXPECT_NEAR(ends[i], (i % 2 == 0 ? 1.5 : -1.5) * deviation,
                5e-3 * deviation);
  }
}

// Nothing else is touched: at the control's own value ends are as they were.
TEST(ReplicaSampler, MovesNothingButTheControl) {
  const auto of = BuildModel(NoisyPipeline());
  ASSERT_NE(of, nullptr);
  const Controls controls = ControlsOf(of->model, 1);
  ReplicaSampler sampler(of->model, {}, 1);
  std::vector<std::vector<float>> ends(3, std::vector<float>(2));
  std::vector<float*> to;
  for (auto& stage : ends) to.push_back(stage.data());
  const float* control = controls.control.data();
  const auto move = [&](float at) {
    ASSERT_TRUE(sampler.RunMoved(Pairs(1), controls.weights, control, at,
                                 base::UnlimitedBudget(), to));
  };
  move(controls.control[0]);
  EXPECT_EQ(ends, controls.ends);
  move(controls.control[0] + 1);
  for (size_t stage = 0; stage < ends.size(); ++stage) {
    EXPECT_GT(ends[stage][0], controls.ends[stage][0]);
    EXPECT_LT(ends[stage][1], controls.ends[stage][1]);
  }
}

class CancelledBudget final : public base::Budget {
 public:
  bool Cancelled() const override { return true; }
  absl::Duration Elapsed() const override { return absl::ZeroDuration(); }
  absl::Duration Remaining() const override { return absl::InfiniteDuration(); }
};

TEST(ReplicaSampler, StopsWhenCancelled) {
  const auto of = BuildModel(OneOperation(Distribution::MakeNormal(10, 1)));
  ASSERT_NE(of, nullptr);
  float ends[2];
  float* to[] = {ends};
  ReplicaSampler sampler(of->model, {}, 1);
  EXPECT_FALSE(sampler.Run(Pairs(1), CancelledBudget(), to));
}

TEST(ReplicaKinds, AllAreOneKindWithoutSlowdowns) {
  StepProfile profile = NoisyPipeline();
  profile.data = 12;
  const auto kinds = FindReplicaKinds(BuildGraph(profile));
  ASSERT_EQ(kinds.size(), 1u);
  EXPECT_EQ(kinds[0].count, 12);
}

TEST(ReplicaKinds, EqualSlowdownsAreOneKind) {
  StepProfile profile = NoisyPipeline();
  profile.data = 12;
  // Three ranks a replica; 4 and 7 alike, 9 not.
  profile.slowdown = {{4 * 3 + 1, 1.1}, {7 * 3 + 1, 1.1}, {9 * 3 + 2, 1.1}};
  const auto kinds = FindReplicaKinds(BuildGraph(profile));
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[0].first_replica, 0);
  EXPECT_EQ(kinds[0].count, 9);
  EXPECT_EQ(kinds[1].first_replica, 4);
  EXPECT_EQ(kinds[1].count, 2);
  EXPECT_EQ(kinds[2].first_replica, 9);
  EXPECT_EQ(kinds[2].count, 1);
}

// Replica r is 1 + r * step times as slow.
StepProfile UnevenProfile(int replicas, double step) {
  StepProfile profile = OneOperation(Distribution::MakeNormal(100, 1));
  profile.data = replicas;
  for (int r = 0; r < replicas; ++r) {
    profile.slowdown.push_back({r, 1 + r * step});
  }
  return profile;
}

SelectedKinds SelectOf(const ModelOf& of) {
  auto selected = SelectKinds(of.graph, of.model, FindReplicaKinds(of.graph),
                              {0}, 1, base::UnlimitedBudget());
  EXPECT_TRUE(selected.ok()) << selected.status();
  return selected.ok() ? *std::move(selected) : SelectedKinds{};
}

int CountOf(const SelectedKinds& selected) {
  int count = 0;
  for (const ReplicaKind& kind : selected.kinds) count += kind.count;
  return count;
}

TEST(KindSelection, FewKindsAreAllKept) {
  const auto of = BuildModel(UnevenProfile(20, 0.01));
  ASSERT_NE(of, nullptr);
  const SelectedKinds selected = SelectOf(*of);
  ASSERT_EQ(selected.kinds.size(), 20u);
  for (size_t k = 0; k < 20; ++k) {
    EXPECT_NEAR(selected.factors[k].mean[of->model.operations[0].law],
                1 + 0.01 * static_cast<double>(k), 1e-6);
  }
}

TEST(KindSelection, ManyKindsStandForAll) {
  const auto of = BuildModel(UnevenProfile(1000, 1e-5));
  ASSERT_NE(of, nullptr);
  const SelectedKinds selected = SelectOf(*of);
  EXPECT_LE(selected.kinds.size(), 128u);
  EXPECT_EQ(CountOf(selected), 1000);
  EXPECT_EQ(selected.kinds[0].first_replica, 999);
  EXPECT_EQ(selected.kinds[0].count, 1);
}

TEST(KindSelection, HopelessKindsAreLeftOut) {
  // Eight deviations are 8% of the mean: some 80 replicas of 1,000.
  const auto of = BuildModel(UnevenProfile(1000, 1e-3));
  ASSERT_NE(of, nullptr);
  const SelectedKinds selected = SelectOf(*of);
  EXPECT_GT(CountOf(selected), 40);
  EXPECT_LT(CountOf(selected), 120);
  for (const ReplicaKind& kind : selected.kinds) {
    EXPECT_GT(kind.first_replica, 800);
  }
}

TEST(KindSelection, WithoutSlowdownsNothingIsScaled) {
  const auto of = BuildModel(NoisyPipeline());
  ASSERT_NE(of, nullptr);
  const auto selected =
      SelectKinds(of->graph, of->model, FindReplicaKinds(of->graph), {0, 0, 0},
                  1, base::UnlimitedBudget());
  ASSERT_TRUE(selected.ok());
  EXPECT_EQ(selected->kinds.size(), 1u);
  EXPECT_TRUE(selected->factors.empty());
}

TEST(KindSelection, StopsWhenCancelled) {
  const auto of = BuildModel(UnevenProfile(1000, 1e-5));
  ASSERT_NE(of, nullptr);
  EXPECT_EQ(SelectKinds(of->graph, of->model, FindReplicaKinds(of->graph), {0},
                        1, CancelledBudget())
                .status()
                .code(),
            absl::StatusCode::kCancelled);
}

MaximumLaw LawOf(const PipelineModel& model, const MaximumRequest& request,
                 int64_t samples) {
  ReplicaMaximum maximum(model, request);
  base::InlineExecutor executor;
  EXPECT_TRUE(maximum.Extend(samples, base::UnlimitedBudget(), executor).ok());
  const auto laws = maximum.Laws({true}, base::UnlimitedBudget());
  EXPECT_TRUE(laws.ok());
  return laws.ok() ? (*laws)[0] : MaximumLaw{};
}

TEST(ReplicaMaximum, FollowsOrderStatisticsOfANormal) {
  const auto of = BuildModel(OneOperation(Distribution::MakeNormal(10, 1)));
  ASSERT_NE(of, nullptr);
  for (const int count : {1, 16, 2048}) {
    const MaximumLaw law = LawOf(
        of->model, {.kinds = {{0, count}}, .factors = {}, .closing_mean = {0}},
        1 << 14);
    for (double z = -2; z <= 2.5; z += 0.5) {
      const double exact = 10 + ScoreOfOneAmong(count, z);
      EXPECT_NEAR(law.At(z) * 1e3, exact, 4e3 * law.ErrorAt(z) + 0.02)
          << count << " at " << z;
      EXPECT_LT(law.ErrorAt(z) * 1e3, 0.15);
    }
  }
}

TEST(ReplicaMaximum, OfSeveralKindsHasTheProduct) {
  const auto of = BuildModel(OneOperation(Distribution::MakeNormal(10, 1)));
  ASSERT_NE(of, nullptr);
  const size_t laws = of->model.laws.size();
  const auto factor = [&](float f) {
    return KindFactors{std::vector<float>(laws, f),
                       std::vector<float>(laws, f)};
  };
  const MaximumLaw law = LawOf(of->model,
                               {.kinds = {{0, 30}, {1, 4}},
                                .factors = {factor(1), factor(1.1f)},
                                .closing_mean = {0}},
                               1 << 14);
  const ScoreLaw one = ScoreLaw::Of(Distribution::MakeNormal(10, 1));
  const WeightedFactor copies[] = {{1, 30}, {1.1, 4}};
  const ScoreLaw exact = one.MaximumOf(copies);
  for (double z = -2; z <= 2.5; z += 0.5) {
    EXPECT_NEAR(law.At(z) * 1e3, exact.At(z), 4e3 * law.ErrorAt(z) + 0.03) << z;
  }
}

TEST(ReplicaMaximum, GrowsToTheSameLawInAnySteps) {
  const auto of = BuildModel(NoisyPipeline());
  ASSERT_NE(of, nullptr);
  const MaximumRequest request = {
      .kinds = {{0, 64}}, .factors = {}, .closing_mean = {0, 0, 0}};
  base::InlineExecutor executor;
  const base::UnlimitedBudget budget;
  ReplicaMaximum at_once(of->model, request), stepwise(of->model, request);
  ASSERT_TRUE(at_once.Extend(9000, budget, executor).ok());
  for (const int64_t samples : {200, 333, 5000, 9000}) {
    ASSERT_TRUE(stepwise.Extend(samples, budget, executor).ok());
  }
  const auto a = at_once.Laws({true, true, true}, budget);
  const auto b = stepwise.Laws({true, true, true}, budget);
  ASSERT_TRUE(a.ok() && b.ok());
  for (size_t stage = 0; stage < a->size(); ++stage) {
    EXPECT_EQ((*a)[stage].seconds, (*b)[stage].seconds);
  }
}

TEST(ReplicaMaximum, StagesLagByTheDifferenceOfTheirEnds) {
  StepProfile profile = NoisyPipeline();
  profile.backward[0].compute =
      Distribution::MakeMixture({{1 - 1e-5, Distribution::MakeNormal(5, 0.4)},
                                 {1e-5, Distribution::MakeConstant(500)}});
  for (const bool stalls : {false, true}) {
    const auto of = BuildModel(stalls ? profile : NoisyPipeline());
    ASSERT_NE(of, nullptr);
    const MaximumRequest request = {
        .kinds = {{0, 64}}, .factors = {}, .closing_mean = {0, 0, 0}};
    ReplicaMaximum maximum(of->model, request);
    base::InlineExecutor executor;
    ASSERT_TRUE(maximum.Extend(1000, base::UnlimitedBudget(), executor).ok());
    const StageLag lag = maximum.LagBehind(0, 2);
    EXPECT_NEAR(lag.mean,
                maximum.EndOfStage(0).mean - maximum.EndOfStage(2).mean, 1e-9);
    EXPECT_GT(lag.deviation, 0);
    EXPECT_LT(lag.deviation, maximum.EndOfStage(0).standard_deviation);
    EXPECT_EQ(std::isfinite(lag.least_stalled), stalls);
    EXPECT_EQ(maximum.LagBehind(1, 1).mean, 0);
  }
}

// The second of two kinds has a quicker first stage, which is the last to end.
TEST(ReplicaMaximum, TheKindThatLagsLeastCounts) {
  const auto of = BuildModel(NoisyPipeline());
  ASSERT_NE(of, nullptr);
  KindFactors even, slow;
  for (const auto& site : of->model.sites) {
    for (auto* values : {&even.mean, &even.spread, &slow.spread}) {
      values->push_back(1);
    }
    slow.mean.push_back(site.stage == 0 ? 0.8f : 1);
  }
  const MaximumRequest request = {.kinds = {{0, 4}, {1, 4}},
                                  .factors = {even, slow},
                                  .closing_mean = {0, 0, 0}};
  const MaximumRequest alone = {
      .kinds = {{0, 4}}, .factors = {even}, .closing_mean = {0, 0, 0}};
  base::InlineExecutor executor;
  ReplicaMaximum both(of->model, request), one(of->model, alone);
  ASSERT_TRUE(both.Extend(1000, base::UnlimitedBudget(), executor).ok());
  ASSERT_TRUE(one.Extend(1000, base::UnlimitedBudget(), executor).ok());
  EXPECT_LT(both.LagBehind(0, 2).mean, one.LagBehind(0, 2).mean - 1e-4);
}

TEST(ReplicaMaximum, StopsWhenCancelled) {
  const auto of = BuildModel(OneOperation(Distribution::MakeNormal(10, 1)));
  ASSERT_NE(of, nullptr);
  const MaximumRequest request = {
      .kinds = {{0, 2}}, .factors = {}, .closing_mean = {0}};
  ReplicaMaximum maximum(of->model, request);
  base::InlineExecutor executor;
  EXPECT_EQ(maximum.Extend(100, CancelledBudget(), executor).code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace prism::step
