#include "core/placement/optimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "core/placement/evaluator.h"
#include "core/placement/race.h"
#include "core/placement/test_support.h"
#include "core/step/simulate.h"

namespace prism::placement {
namespace {

constexpr int kDrawRows = 2;

OptimizeResult Optimize(const OptimizeRequest& request) {
  base::InlineExecutor executor;
  auto result = OptimizePlacement(request, base::UnlimitedBudget(), executor);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

std::vector<double> Means(JobModel& model,
                          const std::vector<NodeList>& placements) {
  Evaluator evaluator(model, kDrawRows);
  const auto evaluated =
      evaluator.Evaluate(placements, model.measured(), base::UnlimitedBudget());
  EXPECT_TRUE(evaluated.ok());
  std::vector<double> means;
  for (const auto& one : *evaluated) means.push_back(one.step.mean);
  return means;
}

// Every ordered choice of `count` of the cluster's nodes.
std::vector<NodeList> AllPlacements(int64_t nodes, int count) {
  std::vector<NodeList> all;
  std::vector<int64_t> order(static_cast<size_t>(nodes));
  std::iota(order.begin(), order.end(), 0);
  do {
    // Each choice once: what is left over stays in ascending order.
    if (!std::is_sorted(order.begin() + count, order.end())) continue;
    all.emplace_back(order.begin(), order.begin() + count);
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

bool IsPlacement(const NodeList& nodes, const hardware::Cluster& cluster,
                 size_t count) {
  const std::set<int64_t> distinct(nodes.begin(), nodes.end());
  return nodes.size() == count && distinct.size() == count &&
         *distinct.begin() >= 0 && *distinct.rbegin() < cluster.nodes;
}

struct SmallCase {
  OptimizeRequest request;
  int needed = 1;
};

SmallCase RandomSmallCase(std::mt19937_64& random) {
  auto pick = [&](auto... choices) {
    const int64_t values[] = {choices...};
    return values[random() % sizeof...(choices)];
  };
  SmallCase small;
  JobSize size;
  size.pipeline = pick(1, 2, 2, 3);
  size.data = size.pipeline == 3 ? pick(1, 2) : pick(1, 2, 3);
  size.tensor = pick(2, 4);
  size.microbatches = pick(2, 4, 6);
  small.request.job = TestJob(size);
  if (random() % 2 == 0) {
    small.request.job.parallelism.rank_order =
        workload::RankOrder::kTensorPipelineData;
  }
  small.needed =
      static_cast<int>((small.request.job.parallelism.gpus() + 3) / 4);
  const int64_t most = small.needed >= 6 ? 7 : 8;
  const int64_t nodes =
      small.needed + static_cast<int64_t>(random() % (most - small.needed + 1));
  small.request.cluster = TestCluster(nodes, 4, pick(2, 3, 4));
  SetSpeeds(pick(1, 3, 10) * 0.01, random(), small.request.cluster);
  small.request.random_key = 7;
  return small;
}

TEST(OptimizeTest, EqualsExhaustiveSearchOnSmallCases) {
  std::mt19937_64 random(2024);
  for (int i = 0; i < 500; ++i) {
    const SmallCase small = RandomSmallCase(random);
    const OptimizeResult result = Optimize(small.request);
    ASSERT_TRUE(result.feasible) << i << result.infeasible_reason;
    EXPECT_TRUE(result.exact) << i;
    EXPECT_EQ(result.gap, 0) << i;
    const auto model = TestModel(small.request.job, small.request.cluster);
    const std::vector<double> all =
        Means(*model, AllPlacements(small.request.cluster.nodes, small.needed));
    const double best = *std::min_element(all.begin(), all.end());
    EXPECT_LE(Means(*model, {result.nodes})[0], best * (1 + 1e-9)) << i;
  }
}

// The same with nothing of this folder in the judgement: the nominal step of
// the graph of every placement.
TEST(OptimizeTest, EqualsExhaustiveSearchByTheNominalStep) {
  std::mt19937_64 random(7);
  int judged = 0;
  while (judged < 25) {
    const SmallCase small = RandomSmallCase(random);
    const auto all = AllPlacements(small.request.cluster.nodes, small.needed);
    if (all.size() > 400) continue;
    ++judged;
    const OptimizeResult result = Optimize(small.request);
    const auto model = TestModel(small.request.job, small.request.cluster);
    auto nominal = [&](const NodeList& nodes) {
      const auto graph = model->Graph(nodes);
      EXPECT_TRUE(graph.ok());
      const auto step = step::SimulateNominal(*graph);
      EXPECT_TRUE(step.ok());
      return step->seconds;
    };
    double best = INFINITY;
    for (const NodeList& nodes : all) best = std::min(best, nominal(nodes));
    // The mean step and the nominal one differ by what chance adds, which is
    // nearly, not quite, the same for all.
    EXPECT_LE(nominal(result.nodes), best * 1.001) << judged;
  }
}

TEST(OptimizeTest, BeatsLuckOnLargerCases) {
  struct {
    JobSize size;
    int64_t nodes;
    double spread;
  } const cases[] = {
      {{.tensor = 4, .pipeline = 4, .data = 8, .microbatches = 8}, 40, 0.05},
      {{.tensor = 4, .pipeline = 1, .data = 24, .microbatches = 2}, 60, 0.03},
      {{.tensor = 8, .pipeline = 4, .data = 4, .microbatches = 8}, 40, 0.02},
      {{.tensor = 2, .pipeline = 8, .data = 4, .microbatches = 16}, 20, 0.1},
  };
  std::mt19937_64 random(3);
  for (const auto& c : cases) {
    OptimizeRequest request;
    request.job = TestJob(c.size);
    request.cluster = TestCluster(c.nodes, 4, 8);
    SetSpeeds(c.spread, 5, request.cluster);
    request.random_key = 7;
    const OptimizeResult result = Optimize(request);
    const auto model = TestModel(request.job, request.cluster);
    const int needed = model->layout().positions();
    ASSERT_TRUE(IsPlacement(result.nodes, request.cluster,
                            static_cast<size_t>(needed)));
    std::vector<NodeList> placements = {result.nodes};
    for (int i = 0; i < 1000; ++i) {
      placements.push_back(RandomNodes(request.cluster, needed, random));
    }
    const std::vector<double> means = Means(*model, placements);
    const double luckiest = *std::min_element(means.begin() + 1, means.end());
    EXPECT_LE(means[0], luckiest) << c.nodes;
    // Within the stated bound, and the bound below all.
    EXPECT_GE(result.gap, 0);
    EXPECT_LT(result.gap, 0.15) << c.nodes;
    EXPECT_LE(result.bound_seconds, result.step_time.mean_seconds);
    for (const ComparedPlacement& compared : result.compared_with) {
      EXPECT_GE(compared.ratio, 1) << compared.name;
    }
  }
}

// docs/step-profile.md: one slow node belongs on the first stage. 16 stages,
// 16 micro-batches, factor 1.5, nothing sent. (Where backward is exactly twice
// forward, worst over best is 1.238: replica_response_test.cc.)
TEST(OptimizeTest, TheFirstStageHidesASlowNode) {
  OptimizeRequest request;
  request.job = TestJob({.pipeline = 16, .microbatches = 16});
  request.job.training.micro_batch = 16;
  request.job.training.global_batch *= 16;
  request.job.model.vocabulary = 64;
  request.cluster = FlatCluster(16, 1);
  request.cluster.fabric = {{.name = "all",
                             .gpus = 16,
                             .bytes_per_second = 1e18,
                             .latency_seconds = 0}};
  for (int64_t node = 0; node < 16; ++node) {
    hardware::NodeState state;
    state.node = node;
    state.slowdown = node == 9 ? 1.5 : 1.0;
    request.cluster.node_states.push_back(state);
  }
  const OptimizeResult result = Optimize(request);
  EXPECT_EQ(result.nodes[0], 9);
  const auto model = TestModel(request.job, request.cluster);
  const auto graph = model->Graph(result.nodes);
  ASSERT_TRUE(graph.ok());
  const StepTimes times = TimesOf(*graph);
  const double forward = times.operations[8].compute;
  const double backward = times.operations[16 + 8].compute;
  const double plain = 31 * (forward + backward);
  const double worst = plain + 0.5 * (forward + backward) * 16;
  const double best = worst - 15 * (std::min(0.5 * forward, backward) +
                                    std::min(0.5 * backward, forward));
  NodeList last = result.nodes;
  std::swap(last[0], last[15]);
  const std::vector<double> means = Means(*model, {last, result.nodes});
  // But for the head, the optimizer and noise.
  EXPECT_NEAR(means[0] / means[1], worst / best, 0.01);
  EXPECT_GT(worst / best, 1.19);
}

std::string ReadExample(const std::string& name) {
  std::ifstream file(PRISM_SOURCE_DIR "/deploy/examples/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The numbers that follow `key` up to the next ']', or the first alone.
std::vector<int32_t> ListAfter(const std::string& text, const char* level) {
  size_t at = text.find(std::string("name: ") + level);
  at = text.find("unit_of_node: [", at);
  at = text.find('[', at) + 1;
  std::string list = text.substr(at, text.find(']', at) - at);
  std::replace(list.begin(), list.end(), ',', ' ');
  std::istringstream numbers(list);
  std::vector<int32_t> values;
  for (int32_t value; numbers >> value;) values.push_back(value);
  return values;
}

// deploy/examples/longhorn: the median GPU has factor 1.
hardware::Cluster Longhorn() {
  hardware::Cluster cluster;
  cluster.accelerator = "v100-16gb-sxm";
  cluster.gpus_per_node = 1;
  const std::string text = ReadExample("longhorn/cluster.yaml");
  const std::string key = "slowdown: ";
  for (size_t at = text.find(key); at != std::string::npos;
       at = text.find(key, at + 1)) {
    hardware::NodeState state;
    state.node = static_cast<int64_t>(cluster.node_states.size());
    state.slowdown = std::stod(text.substr(at + key.size()));
    cluster.node_states.push_back(state);
  }
  cluster.nodes = static_cast<int64_t>(cluster.node_states.size());
  cluster.fabric = {{.name = "network",
                     .gpus = cluster.nodes,
                     .bytes_per_second = 1e18,
                     .latency_seconds = 0}};
  return cluster;
}

// 64 of 392 measured GPUs for a synchronous job: the step over that with median
// GPUs alone. Where nothing is sent it is the slowest GPU's factor.
TEST(OptimizeTest, PicksTheFastestOfLonghorn) {
  OptimizeRequest request;
  request.cluster = Longhorn();
  ASSERT_EQ(request.cluster.nodes, 392);
  request.job = TestJob({.data = 64, .microbatches = 64});
  request.job.model.layers = 24;
  request.random_key = 7;
  const OptimizeResult result = Optimize(request);
  std::vector<double> factors;
  for (const auto& state : request.cluster.node_states) {
    factors.push_back(*state.slowdown);
  }
  std::vector<double> sorted = factors;
  std::sort(sorted.begin(), sorted.end());
  double slowest = 0;
  for (const int64_t node : result.nodes) {
    slowest = std::max(slowest, factors[node]);
  }
  EXPECT_NEAR(slowest, sorted[63], 0.001);
  EXPECT_NEAR(slowest, 0.9839, 0.002);

  hardware::Cluster median = request.cluster;
  for (auto& state : median.node_states) state.slowdown = 1;
  const auto of_median = TestModel(request.job, median);
  const auto model = TestModel(request.job, request.cluster);
  NodeList any(64);
  std::iota(any.begin(), any.end(), 0);
  const double typical = Means(*of_median, {any})[0];
  std::mt19937_64 random(64);
  std::vector<NodeList> placements = {result.nodes};
  for (int i = 0; i < 4000; ++i) {
    placements.push_back(RandomNodes(request.cluster, 64, random));
  }
  const std::vector<double> means = Means(*model, placements);
  EXPECT_NEAR(means[0] / typical, 0.9839, 0.002);
  const double luck =
      std::accumulate(means.begin() + 1, means.end(), 0.0) / 4000 / typical;
  EXPECT_NEAR(luck, 1.0749, 0.002);
}

size_t CellsOf(const NodeList& nodes, const std::vector<int32_t>& cell) {
  std::set<int32_t> cells;
  for (const int64_t node : nodes) cells.insert(cell[node]);
  return cells.size();
}

// deploy/examples/leonardo: its node map and recorded jobs.
TEST(OptimizeTest, EightNodesOfLeonardoComeFromOneCell) {
  OptimizeRequest request;
  hardware::Cluster& cluster = request.cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.gpus_per_node = 4;
  const std::string text = ReadExample("leonardo/cluster.yaml");
  const std::vector<int32_t> leaf = ListAfter(text, "leaf");
  const std::vector<int32_t> cell = ListAfter(text, "cell");
  ASSERT_EQ(leaf.size(), 3456u);
  ASSERT_EQ(cell.size(), 3456u);
  cluster.nodes = 3456;
  cluster.fabric = {{.name = "nvlink",
                     .gpus = 4,
                     .bytes_per_second = 200e9,
                     .latency_seconds = 0.5e-6},
                    {.name = "leaf",
                     .gpus = 4 * 18,
                     .bytes_per_second = 12.5e9,
                     .latency_seconds = 5e-6,
                     .unit_of_node = leaf},
                    {.name = "cell",
                     .gpus = 4 * 180,
                     .bytes_per_second = 12.5e9,
                     .latency_seconds = 5e-6,
                     .oversubscription = 1.22,
                     .unit_of_node = cell},
                    {.name = "system",
                     .gpus = 4 * 3456,
                     .bytes_per_second = 12.5e9,
                     .latency_seconds = 7e-6,
                     .oversubscription = 2}};
  std::vector<int64_t> free;
  std::istringstream lines(ReadExample("leonardo/free-nodes.txt"));
  for (std::string line; std::getline(lines, line);) {
    const size_t dash = line.find('-');
    const int64_t first = std::stol(line);
    const int64_t last =
        dash == std::string::npos ? first : std::stol(line.substr(dash + 1));
    for (int64_t node = first; node <= last; ++node) free.push_back(node);
  }
  for (const JobSize size :
       {JobSize{.tensor = 4, .data = 8}, JobSize{.tensor = 4, .pipeline = 8},
        JobSize{.tensor = 4, .pipeline = 2, .data = 4}}) {
    request.free_nodes = free;
    request.job = TestJob(size);
    EXPECT_EQ(CellsOf(Optimize(request).nodes, cell), 1u) << size.pipeline;
  }
  // More and more of what was free is taken, until no cell has eight nodes. The
  // leaves are left out: a data group of four in one leaf may rightly be worth
  // more than the way between two stages.
  cluster.fabric.erase(cluster.fabric.begin() + 1);
  request.job = TestJob({.tensor = 4, .pipeline = 2, .data = 4});
  std::mt19937_64 random(8);
  std::shuffle(free.begin(), free.end(), random);
  int in_one = 0, in_several = 0;
  for (size_t left = 400; left >= 40; left -= 40) {
    request.free_nodes.assign(free.begin(),
                              free.begin() + static_cast<ptrdiff_t>(left));
    std::vector<int> in_cell(32, 0);
    for (const int64_t node : request.free_nodes) ++in_cell[cell[node]];
    const bool one = *std::max_element(in_cell.begin(), in_cell.end()) >= 8;
    ++(one ? in_one : in_several);
    const OptimizeResult result = Optimize(request);
    EXPECT_EQ(CellsOf(result.nodes, cell) == 1, one) << left;
    // And says what it is worth.
    for (const ComparedPlacement& compared : result.compared_with) {
      if (one && compared.name == "random") {
        EXPECT_GT(compared.ratio, 1.01);
      }
    }
  }
  EXPECT_GE(in_one, 5);
  EXPECT_GE(in_several, 1);
}

OptimizeRequest ConstrainedRequest() {
  OptimizeRequest request;
  request.job = TestJob({.tensor = 4, .data = 6});
  request.cluster = TestCluster(24, 4, 8);
  SetSpeeds(0.05, 9, request.cluster);
  return request;
}

TEST(OptimizeTest, ObeysConstraints) {
  OptimizeRequest request = ConstrainedRequest();
  const OptimizeResult plain = Optimize(request);
  request.constraints.exclude = {plain.nodes[0], plain.nodes[1]};
  request.constraints.spares = 2;
  request.constraints.within = "leaf";
  request.constraints.segment_nodes = 3;
  const OptimizeResult result = Optimize(request);
  ASSERT_TRUE(result.feasible) << result.infeasible_reason;
  for (const int64_t node : result.nodes) {
    EXPECT_NE(node, plain.nodes[0]);
    EXPECT_NE(node, plain.nodes[1]);
    EXPECT_EQ(node / 8, result.nodes[0] / 8);
  }
  ASSERT_EQ(result.spares.size(), 2u);
  EXPECT_EQ(
      std::count(result.nodes.begin(), result.nodes.end(), result.spares[0]),
      0);
}

TEST(OptimizeTest, SegmentsLieInOneUnitEach) {
  OptimizeRequest request = ConstrainedRequest();
  request.job = TestJob({.tensor = 4, .pipeline = 2, .data = 8});
  request.constraints.segment_nodes = 4;
  const OptimizeResult result = Optimize(request);
  ASSERT_EQ(result.nodes.size(), 16u);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(result.nodes[i] / 8, result.nodes[i / 4 * 4] / 8) << i;
  }
}

TEST(OptimizeTest, TakesDegradedNodesLast) {
  OptimizeRequest request = ConstrainedRequest();
  auto& states = request.cluster.node_states;
  for (size_t i = 0; i < 24; ++i) {
    states[i].health = i < 4    ? hardware::Health::kHealthy
                       : i < 10 ? hardware::Health::kDegraded
                       : i < 17 ? hardware::Health::kFailed
                                : hardware::Health::kDrained;
  }
  const OptimizeResult result = Optimize(request);
  ASSERT_TRUE(result.feasible);
  for (const int64_t node : result.nodes) EXPECT_LT(node, 10);
  request.cluster.node_states[9].health = hardware::Health::kFailed;
  request.constraints.spares = 4;
  const OptimizeResult none = Optimize(request);
  EXPECT_FALSE(none.feasible);
  EXPECT_NE(none.infeasible_reason.find("6 nodes and 4 spares"),
            std::string::npos)
      << none.infeasible_reason;
}

TEST(OptimizeTest, SaysWhyItDoesNotFit) {
  OptimizeRequest request = ConstrainedRequest();
  request.constraints.within = "leaf";
  request.free_nodes = {0, 1, 2, 8, 9, 10, 16, 17, 18};
  const OptimizeResult result = Optimize(request);
  EXPECT_FALSE(result.feasible);
  EXPECT_NE(result.infeasible_reason.find("within one unit of leaf"),
            std::string::npos)
      << result.infeasible_reason;
}

TEST(OptimizeTest, AvoidsSlowPaths) {
  OptimizeRequest request;
  request.job = TestJob({.tensor = 4, .data = 4});
  request.cluster = FlatCluster(6, 4);
  request.cluster.path_states = {{.from = 0, .to = 1, .slowdown = 3},
                                 {.from = 1, .to = 2, .slowdown = 3},
                                 {.from = 1, .to = 3, .slowdown = 3},
                                 {.from = 1, .to = 4, .slowdown = 3},
                                 {.from = 1, .to = 5, .slowdown = 3}};
  const OptimizeResult result = Optimize(request);
  EXPECT_EQ(std::count(result.nodes.begin(), result.nodes.end(), 1), 0);
}

// Two nodes of equal mean, one of them in doubt.
TEST(OptimizeTest, PrefersWhatIsKnown) {
  OptimizeRequest request;
  request.job = TestJob({.tensor = 4, .data = 4});
  request.cluster = FlatCluster(8, 4);
  for (int64_t node = 0; node < 8; ++node) {
    hardware::NodeState state;
    state.node = node;
    state.slowdown = node % 2 == 0 ? 1.0 : 1.001;
    if (node % 2 == 0) {
      state.measured_slowdown = stats::Distribution::MakeNormal(1, 0.03);
    }
    request.cluster.node_states.push_back(state);
  }
  for (const int64_t node : Optimize(request).nodes) EXPECT_EQ(node % 2, 1);
}

TEST(OptimizeTest, ADeadlineLeavesTheBestSoFar) {
  OptimizeRequest request = ConstrainedRequest();
  request.job = TestJob({.tensor = 4, .pipeline = 4, .data = 4});
  base::InlineExecutor executor;
  int answered = 0;
  for (int looks = 1; looks < 10000; looks = 2 * looks) {
    const auto result = OptimizePlacement(
        request, CountingBudget(looks, CountingBudget::End::kDeadline),
        executor);
    if (!result.ok()) {
      EXPECT_TRUE(absl::IsDeadlineExceeded(result.status())) << looks;
      continue;
    }
    ++answered;
    EXPECT_TRUE(IsPlacement(result->nodes, request.cluster, 16));
  }
  EXPECT_GT(answered, 0);
}

TEST(OptimizeTest, CancellationEndsIt) {
  OptimizeRequest request = ConstrainedRequest();
  base::InlineExecutor executor;
  for (const int looks : {0, 3, 30}) {
    EXPECT_TRUE(absl::IsCancelled(
        OptimizePlacement(
            request, CountingBudget(looks, CountingBudget::End::kCancelled),
            executor)
            .status()))
        << looks;
  }
}

TEST(OptimizeTest, AnswersRepeat) {
  OptimizeRequest request = ConstrainedRequest();
  request.job = TestJob({.tensor = 4, .pipeline = 4, .data = 4});
  EXPECT_EQ(Optimize(request).nodes, Optimize(request).nodes);
}

}  // namespace
}  // namespace prism::placement
