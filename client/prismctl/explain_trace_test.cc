#include "client/prismctl/explain_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/prismctl/trace_files.h"

namespace prism::prismctl {
namespace {

namespace v1 = prism::v1;

v1::Explanation OfTrace(const std::string& name) {
  trace::DamageLog damage;
  auto file =
      OpenTrace(std::string(PRISM_SOURCE_DIR) +
                    "/tests/data/straggler-whatif/trace-" + name + ".csv",
                damage);
  EXPECT_TRUE(file.ok()) << file.status();
  const auto report = trace::Replay(*file->trace, {}, damage);
  EXPECT_TRUE(report.ok()) << report.status();
  return ExplanationOf(*report);
}

// The cause of a sort without which the mean step is shortest.
std::string Worst(const v1::Explanation& explanation, v1::CauseBy by) {
  const v1::Cause* worst = nullptr;
  for (const v1::Cause& cause : explanation.causes()) {
    if (cause.by() != by) continue;
    if (worst == nullptr ||
        cause.without().mean_seconds() < worst->without().mean_seconds()) {
      worst = &cause;
    }
  }
  return worst == nullptr ? "" : worst->name();
}

// What the traces are published for (tests/data/straggler-whatif/SOURCE.md).
TEST(ExplainTraceTest, NamesTheStraggler) {
  const v1::Explanation explanation = OfTrace("AR");
  EXPECT_EQ(Worst(explanation, v1::CAUSE_BY_RANK), "data rank 0");
  EXPECT_EQ(Worst(explanation, v1::CAUSE_BY_STAGE), "stage 0");
  EXPECT_THAT(explanation.sentences(), testing::Not(testing::IsEmpty()));
}

TEST(ExplainTraceTest, NamesTheLongStage) {
  EXPECT_EQ(Worst(OfTrace("ST"), v1::CAUSE_BY_STAGE), "stage 3");
}

TEST(ExplainTraceTest, StepsAreThoseThatWereRunAgain) {
  const v1::Explanation explanation = OfTrace("AR");
  const auto& quantiles = explanation.step_time().quantiles();
  EXPECT_GT(explanation.samples(), 0);
  EXPECT_LE(quantiles.p50(), quantiles.p95());
  int workers = 0;
  for (const v1::Cause& cause : explanation.causes()) {
    EXPECT_LE(cause.without().p50_seconds(), cause.without().p95_seconds());
    EXPECT_GE(cause.share_of_variance_error(), 0);
    workers += cause.by() == v1::CAUSE_BY_WORKER;
  }
  EXPECT_EQ(workers, 16);
  EXPECT_EQ(explanation.paths(), 0);
}

TEST(ExplainTraceTest, NothingIsSaidOfNothing) {
  EXPECT_EQ(ExplanationOf(trace::ReplayReport()).causes_size(), 0);
}

}  // namespace
}  // namespace prism::prismctl
