#include "client/render/pipeline_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/render/golden.h"

namespace prism::render {
namespace {

using nlohmann::json;
using prism::v1::RecordTimelineResponse;

RecordTimelineResponse Example() {
  return ReadTestMessage<RecordTimelineResponse>("pipeline.textproto");
}

json EventsOf(const RecordTimelineResponse& response) {
  const json trace = json::parse(PipelineTrace(response), nullptr, false);
  EXPECT_FALSE(trace.is_discarded());
  return trace["traceEvents"];
}

int64_t Nanoseconds(const json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

TEST(PipelineTraceTest, ASmallTrace) {
  ExpectGolden(PipelineTrace(Example()), "pipeline.json");
}

TEST(PipelineTraceTest, EventsOfAThreadDoNotOverlap) {
  std::map<std::pair<int, int64_t>, std::vector<std::pair<int64_t, int64_t>>>
      spans;
  for (const json& event : EventsOf(Example())) {
    if (event["ph"] != "X") continue;
    const int64_t begin = Nanoseconds(event["ts"]);
    EXPECT_GT(event["dur"], 0);
    spans[{event["pid"], event["tid"]}].emplace_back(
        begin, begin + Nanoseconds(event["dur"]));
  }
  EXPECT_EQ(spans.size(), 4u);  // two ranks and a stream; one rank
  for (auto& [thread, of_thread] : spans) {
    std::sort(of_thread.begin(), of_thread.end());
    for (size_t i = 1; i < of_thread.size(); ++i) {
      EXPECT_GE(of_thread[i].first, of_thread[i - 1].second);
    }
  }
}

TEST(PipelineTraceTest, TheLastEventEndsWithTheStep) {
  const RecordTimelineResponse response = Example();
  std::map<int, int64_t> ends;
  for (const json& event : EventsOf(response)) {
    if (event["ph"] != "X") continue;
    int64_t& end = ends[event["pid"]];
    end = std::max(end, Nanoseconds(event["ts"]) + Nanoseconds(event["dur"]));
  }
  for (int i = 0; i < response.steps_size(); ++i) {
    EXPECT_EQ(ends[i + 1],
              std::llround(response.steps(i).step_seconds() * 1e9));
  }
}

TEST(PipelineTraceTest, FlowsLeadFromInsideTheSenderToTheReceiver) {
  std::map<int64_t, json> begins;
  int flows = 0;
  const json events = EventsOf(Example());
  for (const json& event : events) {
    if (event["ph"] == "s") begins[event["id"]] = event;
    if (event["ph"] != "f") continue;
    ++flows;
    const json& begin = begins.at(event["id"]);
    EXPECT_EQ(begin["pid"], event["pid"]);
    EXPECT_LE(begin["ts"], event["ts"]);
    for (const json& end : {begin, event}) {
      const bool inside =
          std::any_of(events.begin(), events.end(), [&](const json& span) {
            return span["ph"] == "X" && span["pid"] == end["pid"] &&
                   span["tid"] == end["tid"] && span["cat"] != "wait" &&
                   span["ts"] <= end["ts"] &&
                   end["ts"] <
                       span["ts"].get<double>() + span["dur"].get<double>();
          });
      EXPECT_TRUE(inside) << end;
    }
  }
  // Two forwards and two backwards cross over; the sender of the typical
  // step's is not recorded.
  EXPECT_EQ(flows, 4);
}

TEST(PipelineTraceTest, EveryThreadAndProcessHasAName) {
  std::map<std::pair<int, int64_t>, std::string> threads;
  std::map<int, std::string> processes;
  const json events = EventsOf(Example());
  for (const json& event : events) {
    if (event["name"] == "thread_name") {
      threads[{event["pid"], event["tid"]}] = event["args"]["name"];
    }
    if (event["name"] == "process_name") {
      processes[event["pid"]] = event["args"]["name"];
    }
  }
  for (const json& event : events) {
    if (event["ph"] != "X") continue;
    EXPECT_TRUE(threads.contains({event["pid"], event["tid"]})) << event;
  }
  EXPECT_EQ(processes[1], "nominal: 8.000 s");
  EXPECT_EQ(processes[2], "typical: 10.00 s, sample 17 of 1,000");
}

TEST(PipelineTraceTest, WaitsAreBubbleUntilSentAndTransferUntilThere) {
  std::map<std::string, int64_t> nanoseconds;
  for (const json& event : EventsOf(Example())) {
    if (event["cat"] != "wait" || event["pid"] != 1) continue;
    nanoseconds[event["name"]] += Nanoseconds(event["dur"]);
  }
  // Stage 0: 1.25 s until sent, 0.25 s on the way; stage 1: 1 s and 0.25 s.
  EXPECT_EQ(nanoseconds["bubble"], 2'250'000'000);
  EXPECT_EQ(nanoseconds["transfer"], 500'000'000);
  EXPECT_EQ(nanoseconds["streams"], 250'000'000);
  EXPECT_EQ(nanoseconds["members"], 250'000'000);
}

TEST(PipelineTraceTest, AnEmptyTimelineIsATrace) {
  EXPECT_TRUE(EventsOf(RecordTimelineResponse()).empty());
}

}  // namespace
}  // namespace prism::render
