// Against the published analysis of two recorded jobs
// (tests/data/straggler-whatif). Of the larger one only some steps are here;
// what is typical of them is taken for typical of all.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "core/query/json_text.h"
#include "core/query/node.h"
#include "core/trace/csv/csv_trace.h"
#include "core/trace/csv/meta.h"
#include "core/trace/csv/text_source.h"
#include "core/trace/replay/replay.h"

namespace prism::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ReadData(const std::string& name) {
  std::ifstream file(std::string(PRISM_SOURCE_DIR) +
                     "/tests/data/straggler-whatif/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The numbers of a published document, by "key" and "key/key".
std::map<std::string, double> Published(const std::string& name) {
  std::map<std::string, double> numbers;
  const auto tree = query::ParseJson(ReadData(name));
  if (!tree.ok()) return numbers;
  for (const query::Entry& entry : *tree->As<query::Node::Map>()) {
    if (const double* value = entry.node.As<double>()) {
      numbers[entry.key] = *value;
    }
    const auto* map = entry.node.As<query::Node::Map>();
    if (map == nullptr) continue;
    for (const query::Entry& inner : *map) {
      if (const double* value = inner.node.As<double>()) {
        numbers[absl::StrCat(entry.key, "/", inner.key)] = *value;
      }
    }
  }
  return numbers;
}

class PublishedTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string& name = GetParam();
    TextSource source(ReadData("trace-" + name + ".csv"));
    auto trace = CsvTrace::Open(
        source, ParseMeta(ReadData("meta-" + name + ".yaml"), damage_),
        damage_);
    ASSERT_TRUE(trace.ok());
    auto report = Replay(**trace, {}, damage_);
    ASSERT_TRUE(report.ok()) << report.status();
    report_ = *std::move(report);
    published_ = Published("result-" + name + ".json");
    ASSERT_FALSE(published_.empty());
  }

  void ExpectNear(double value, const std::string& key, double tolerance) {
    ASSERT_TRUE(published_.contains(key)) << key;
    EXPECT_NEAR(value, published_[key], tolerance * published_[key]) << key;
  }

  DamageLog damage_;
  ReplayReport report_;
  std::map<std::string, double> published_;
};

// Published times are of single precision, ours of whole microseconds.
TEST_P(PublishedTest, EachStepTakesAsLong) {
  EXPECT_TRUE(damage_.empty());
  for (const StepSeconds& step : report_.steps) {
    ExpectNear(step.measured, absl::StrCat("step_t_base/", step.number), 1e-5);
    ExpectNear(step.simulated, absl::StrCat("step_t_nodelay/", step.number),
               1e-5);
  }
}

TEST_P(PublishedTest, TheSlowdownIsTheSame) {
  ExpectNear(report_.excess.slowdown(), "blocking_slowdown", 0.01);
}

TEST_P(PublishedTest, ItIsAttributedTheSame) {
  for (const auto& [key, accounts] :
       {std::pair{"optype", &report_.by_operation},
        {"stage", &report_.by_stage},
        {"dp_rank", &report_.by_rank}}) {
    for (const Account& account : *accounts) {
      ExpectNear(account.slowdown,
                 absl::StrCat("blocking_decompose_by_", key, "/", account.name),
                 0.02);
    }
  }
}

TEST_P(PublishedTest, FixingTheLastStageOrTheWorstWorkersHelpsAsMuch) {
  const auto last_stage = Published("ms-" + GetParam() + ".json");
  const auto worst = Published("mw-" + GetParam() + ".json");
  EXPECT_NEAR(report_.last_stage.removed, last_stage.at("Ms"), 0.02);
  EXPECT_NEAR(report_.worst_workers.removed, worst.at("Mw"), 0.02);
  EXPECT_NEAR(report_.last_stage.without_seconds, last_stage.at("trem"),
              0.02 * last_stage.at("trem"));
  EXPECT_NEAR(report_.last_stage.only_seconds, last_stage.at("tadd"),
              0.02 * last_stage.at("tadd"));
  EXPECT_NEAR(report_.worst_workers.without_seconds, worst.at("trem"),
              0.02 * worst.at("trem"));
}

TEST_P(PublishedTest, TheCulpritIsNamedFirst) {
  ASSERT_FALSE(report_.culprits.empty());
  EXPECT_THAT(report_.culprits[0],
              StartsWith(GetParam() == "AR"
                             ? "Data rank 0, stage 0 (rank 0) makes steps long"
                             : "Stage 3 makes steps long"));
  EXPECT_THAT(report_.culprits[0], HasSubstr("all of the excess goes"));
}

INSTANTIATE_TEST_SUITE_P(Jobs, PublishedTest, ::testing::Values("ST", "AR"),
                         [](const auto& job) { return job.param; });

}  // namespace
}  // namespace prism::trace
