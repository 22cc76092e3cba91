#include "client/prismctl/message_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "prism/v1/cluster_service.pb.h"
#include "prism/v1/completion_service.pb.h"
#include "prism/v1/placement_service.pb.h"

namespace prism::prismctl {
namespace {

using nlohmann::json;

json JsonOf(const google::protobuf::Message& message) {
  return json::parse(MessageJson(message));
}

TEST(MessageJsonTest, FieldsWithoutAValueHaveTheirDefault) {
  const json scored = JsonOf(prism::v1::ScoredPlacement());
  EXPECT_EQ(scored.at("tied_group"), 0);
  EXPECT_EQ(scored.at("score"), 0.0);
  EXPECT_EQ(scored.at("name"), "");
  EXPECT_EQ(scored.at("stopped_early"), false);
  EXPECT_FALSE(scored.contains("step_time"));
  EXPECT_EQ(JsonOf(prism::v1::ScorePlacementsResponse()).at("placements"),
            json::array());
}

TEST(MessageJsonTest, OptionalFieldsAreThereWhereTheyAreSet) {
  prism::v1::NodeState state;
  EXPECT_FALSE(JsonOf(state).contains("failures_per_day"));
  state.set_failures_per_day(0);
  state.mutable_measured_slowdown()->set_constant(0);
  EXPECT_EQ(JsonOf(state).at("failures_per_day"), 0.0);
  EXPECT_EQ(JsonOf(state).at("measured_slowdown"), json({{"constant", 0.0}}));
}

TEST(MessageJsonTest, ProvenanceStandsAmongTheKeysOfTheAnswer) {
  prism::v1::RankNodesResponse response;
  response.mutable_provenance()->set_signature("abc");
  response.mutable_provenance()->set_cache(prism::v1::CACHE_STATUS_HIT);
  response.add_nodes()->set_node(7);
  const json answer = JsonOf(response);
  EXPECT_EQ(answer.at("signature"), "abc");
  EXPECT_EQ(answer.at("cache"), "HIT");
  EXPECT_EQ(answer.at("nodes").at(0).at("node"), 7);
  EXPECT_FALSE(answer.contains("provenance"));
}

TEST(MessageJsonTest, EnumsAreWordsAndTimesAreTexts) {
  prism::v1::ListNodesResponse nodes;
  nodes.add_nodes()->set_health(prism::v1::HEALTH_DRAINED);
  EXPECT_EQ(JsonOf(nodes).at("nodes").at(0).at("health"), "drained");
  prism::v1::ClusterSummary summary;
  summary.set_revision(std::numeric_limits<uint64_t>::max());
  summary.mutable_update_time()->set_seconds(1700000000);
  summary.mutable_update_time()->set_nanos(500000000);
  EXPECT_EQ(JsonOf(summary).at("update_time"), "2023-11-14T22:13:20.5+00:00");
  EXPECT_EQ(JsonOf(summary).at("revision"),
            std::numeric_limits<uint64_t>::max());
}

TEST(MessageJsonTest, NumbersReadBackToTheSameBits) {
  prism::v1::StepTime time;
  time.set_mean_seconds(0.1 + 0.2);
  EXPECT_EQ(JsonOf(time).at("mean_seconds").get<double>(), 0.1 + 0.2);
}

}  // namespace
}  // namespace prism::prismctl
