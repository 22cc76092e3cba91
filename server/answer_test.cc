#include "server/answer.h"

#include <gtest/gtest.h>

namespace prism::server {
namespace {

using prism::v1::Prediction;
using prism::v1::Provenance;
using prism::v1::RankNodesResponse;

Provenance OfOneCall() {
  Provenance provenance;
  provenance.set_prediction_id("id");
  provenance.set_cache(prism::v1::CACHE_STATUS_HIT);
  provenance.set_cluster_version("c1");
  return provenance;
}

TEST(AnswerTest, PredictionTakesProvenanceAmongItsOwnFields) {
  Prediction prediction;
  prediction.set_nominal_step_seconds(2);
  prediction.set_method(prism::v1::METHOD_AUTO);
  prediction.mutable_sampling()->set_samples(7);
  Computed computed = ComputedFrom(prediction);
  EXPECT_EQ(computed.engine, Engine::kStructured);
  EXPECT_EQ(computed.samples, 7u);

  AddProvenance(OfOneCall(), computed.place, computed.bytes);
  Prediction sent;
  ASSERT_TRUE(sent.ParseFromString(computed.bytes));
  EXPECT_EQ(sent.prediction_id(), "id");
  EXPECT_EQ(sent.cache(), prism::v1::CACHE_STATUS_HIT);
  EXPECT_EQ(sent.cluster_version(), "c1");
  EXPECT_EQ(sent.nominal_step_seconds(), 2);
}

TEST(AnswerTest, OtherAnswersKeepWhatTheirProvenanceSays) {
  RankNodesResponse response;
  response.mutable_provenance()->set_quality(prism::v1::QUALITY_REDUCED);
  response.mutable_provenance()->add_notes("note");
  response.add_nodes()->set_node(3);
  Computed computed = ComputedFrom(response, Engine::kPlacement, 9);
  EXPECT_EQ(computed.quality, prism::v1::QUALITY_REDUCED);

  AddProvenance(OfOneCall(), computed.place, computed.bytes);
  RankNodesResponse sent;
  ASSERT_TRUE(sent.ParseFromString(computed.bytes));
  EXPECT_EQ(sent.nodes(0).node(), 3u);
  EXPECT_EQ(sent.provenance().notes(0), "note");
  EXPECT_EQ(sent.provenance().prediction_id(), "id");
  EXPECT_EQ(sent.provenance().quality(), prism::v1::QUALITY_REDUCED);
}

// A length of two bytes in the head.
TEST(AnswerTest, LongProvenanceIsReadBack) {
  Provenance provenance;
  provenance.set_prediction_id(std::string(1000, 'x'));
  std::string bytes;
  AddProvenance(provenance, ProvenancePlace::kField1, bytes);
  RankNodesResponse sent;
  ASSERT_TRUE(sent.ParseFromString(bytes));
  EXPECT_EQ(sent.provenance().prediction_id().size(), 1000u);
}

}  // namespace
}  // namespace prism::server
