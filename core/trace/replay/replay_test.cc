#include "core/trace/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/trace/csv/csv_trace.h"
#include "core/trace/csv/text_source.h"
#include "core/trace/testing/made_trace.h"

namespace prism::trace {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Trace TraceOf(const MadeJob& job, int steps) {
  Trace trace{job.sizes, {}};
  for (int i = 0; i < steps; ++i) trace.steps.push_back(MakeStep(job, i));
  return trace;
}

ReplayReport ReplayOf(const Trace& trace, int64_t most_accounted = 1000000) {
  TraceSource source(trace);
  DamageLog damage;
  auto report = Replay(source, {}, damage, most_accounted);
  EXPECT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(damage.empty());
  return *std::move(report);
}

double Base(const Operation& o) {
  return o.kind == OperationKind::kForwardCompute ? 0.1 : 0.2;
}

TEST(ReplayTest, ASlowWorkerIsTheCulpritAndNotItsStageOrReplica) {
  MadeJob job;
  job.sizes = {.data = 4, .pipeline = 4};
  job.compute_seconds = [](const Operation& o) {
    return Base(o) * (o.replica == 2 && o.stage == 1 ? 2 : 1);
  };
  const ReplayReport report = ReplayOf(TraceOf(job, 3));
  EXPECT_GT(report.excess.slowdown(), 1.4);
  ASSERT_FALSE(report.culprits.empty());
  EXPECT_THAT(report.culprits[0], StartsWith("Data rank 2, stage 1 (rank 6)"));
  EXPECT_THAT(
      report.culprits,
      Each(Not(AnyOf(StartsWith("Stage"), StartsWith("Data rank 2 ")))));
  EXPECT_GT(report.worst_workers.removed, 0.95);
  EXPECT_EQ(report.worst_workers.name, "6");
}

TEST(ReplayTest, ASlowStageIsTheCulprit) {
  MadeJob job;
  job.compute_seconds = [](const Operation& o) {
    return Base(o) * (o.stage == 2 ? 1.5 : 1);
  };
  const ReplayReport report = ReplayOf(TraceOf(job, 2));
  EXPECT_THAT(report.culprits[0], StartsWith("Stage 2 makes steps long"));
  // Fixing one of two that are alike does nothing.
  EXPECT_LT(report.worst_workers.removed, 0.1);
}

TEST(ReplayTest, ASlowReplicaIsTheCulprit) {
  MadeJob job;
  job.sizes = {.data = 6, .pipeline = 3};
  job.microbatches = 12;
  job.compute_seconds = [](const Operation& o) {
    return Base(o) * (o.replica == 4 ? 1.5 : 1);
  };
  const ReplayReport report = ReplayOf(TraceOf(job, 2));
  EXPECT_THAT(report.culprits[0], StartsWith("Data rank 4 makes steps long"));
}

TEST(ReplayTest, UnevenSequencesAreTheCulprit) {
  Trace trace;
  for (int i = 0; i < 6; ++i) {
    MadeJob job;
    job.sizes = trace.sizes = {.data = 8, .pipeline = 2};
    job.compute_seconds = [i](const Operation& o) {
      const int mixed = (o.replica * 37 + o.microbatch * 101 + i * 53) % 23;
      return Base(o) * (0.5 + mixed * mixed / 170.0);
    };
    trace.steps.push_back(MakeStep(job, i));
  }
  const ReplayReport report = ReplayOf(trace);
  EXPECT_GT(report.sequences.correlation, 0.99);
  EXPECT_GT(report.sequences.removed, 0.8);
  EXPECT_THAT(report.culprits[0],
              StartsWith("Micro-batches are of uneven length"));
  // No stage or replica has more to do than others in the long run.
  EXPECT_THAT(report.culprits,
              Each(Not(AnyOf(StartsWith("Stage"), StartsWith("Data rank")))));
}

TEST(ReplayTest, AnIdealJobHasNoCulprit) {
  const ReplayReport report = ReplayOf(TraceOf(MadeJob(), 2));
  EXPECT_NEAR(report.excess.slowdown(), 1, 1e-9);
  ASSERT_EQ(report.culprits.size(), 1);
  EXPECT_THAT(report.culprits[0], StartsWith("Nothing makes steps long"));
}

TEST(ReplayTest, AccountsOfALongTraceAreOfStepsSpreadEvenly) {
  const Trace trace = TraceOf(MadeJob(), 12);
  const auto operations =
      static_cast<int64_t>(trace.steps[0].operations.size());
  const ReplayReport report = ReplayOf(trace, 4 * operations);
  EXPECT_EQ(report.steps.size(), 12);
  EXPECT_EQ(report.accounted, (std::vector<size_t>{0, 3, 6, 9}));
}

TEST(ReplayTest, ChangesAreRunBesideTheRecording) {
  MadeJob job;
  job.compute_seconds = [](const Operation& o) {
    return Base(o) * (o.stage == 2 ? 1.5 : 1);
  };
  const Trace trace = TraceOf(job, 2);
  TraceSource source(trace);
  DamageLog damage;
  ReplayOptions options;
  options.changes = {*ParseChange("rebalance-stages")};
  const auto report = Replay(source, options, damage);
  ASSERT_TRUE(report.ok());
  EXPECT_LT(report->steps[0].changed, 0.9 * report->steps[0].simulated);
  EXPECT_FALSE(report->suggestions.empty());
}

std::string TextOf(const Trace& trace) {
  std::string text = CsvHeading();
  for (const Step& step : trace.steps) text += CsvRows(step);
  return text;
}

absl::StatusOr<ReplayReport> ReplayText(const std::string& text,
                                        const Sizes& sizes, DamageLog& damage) {
  TextSource source(text);
  auto trace = CsvTrace::Open(source, sizes, damage);
  if (!trace.ok()) return trace.status();
  return Replay(**trace, {}, damage);
}

// Wherever a recording is cut off, what is whole is replayed.
TEST(ReplayTest, ATruncatedTraceIsReplayedUpToItsEnd) {
  const MadeJob job;
  const std::string text = TextOf(TraceOf(job, 3));
  for (size_t cut = text.size() / 3 + 200; cut < text.size(); cut += 997) {
    DamageLog damage;
    const auto report = ReplayText(text.substr(0, cut), job.sizes, damage);
    ASSERT_TRUE(report.ok()) << cut;
    EXPECT_GE(report->steps.size(), 1);
    EXPECT_FALSE(damage.empty()) << cut;
    for (const StepSeconds& step : report->steps) {
      EXPECT_NEAR(step.simulated, report->steps[0].simulated,
                  0.05 * report->steps[0].simulated);
    }
  }
}

TEST(ReplayTest, DamagedRowsAreCountedAndStepsStayAsLong) {
  const MadeJob job;
  const Trace trace = TraceOf(job, 6);
  std::string text = TextOf(trace);
  int64_t broken = 0;
  for (size_t at = 5000; at < text.size(); at += 7001) {
    const size_t line = text.find('\n', at) + 1;
    if (line < text.size() && text[line] != 'x') {
      text[line] = 'x';
      ++broken;
    }
  }
  ASSERT_GT(broken, 5);
  DamageLog damage;
  const auto report = ReplayText(text, job.sizes, damage);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->steps.size(), 6);
  EXPECT_NEAR(report->excess.simulated, MeasuredSeconds(trace.steps[0]),
              0.01 * report->excess.simulated);
  int64_t rows = 0, mended = 0;
  for (const Damage& entry : damage.entries()) {
    (entry.field == "step" ? mended : rows) += entry.count;
  }
  EXPECT_EQ(rows, broken);
  EXPECT_EQ(mended, broken);
}

// One digit becomes another, which leaves rows that can be read.
TEST(ReplayTest, WrongDigitsDoNotMakeStepsLong) {
  const MadeJob job;
  const Trace trace = TraceOf(job, 6);
  std::string text = TextOf(trace);
  for (size_t at = 5000; at < text.size(); at += 9973) {
    const size_t point = text.find('.', at);  // of a start
    if (point == std::string::npos) break;
    text.insert(point, "7000");
  }
  DamageLog damage;
  const auto report = ReplayText(text, job.sizes, damage);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->steps.size(), 6);
  EXPECT_NEAR(report->excess.simulated, MeasuredSeconds(trace.steps[0]),
              0.02 * report->excess.simulated);
  EXPECT_GT(damage.total(), 10);
}

TEST(ReplayTest, ATraceWithoutAnyStepIsAnError) {
  DamageLog damage;
  EXPECT_EQ(ReplayText(CsvHeading(), {}, damage).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace prism::trace
