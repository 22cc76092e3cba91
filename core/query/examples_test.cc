// The jobs of deploy/examples have an answer on the clusters they go with.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/query/document.h"
#include "core/query/predict.h"

namespace prism::query {
namespace {

struct Example {
  const char* job;
  const char* cluster;
};

void ReadExample(const std::string& name, google::protobuf::Message* message) {
  std::ifstream file(PRISM_SOURCE_DIR "/deploy/examples/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  base::Violations violations;
  ReadDocument(text.str(), message, violations);
  for (const auto& violation : violations.list()) {
    ADD_FAILURE() << name << ": " << violation.field << " "
                  << violation.description;
  }
}

class ExamplesTest : public ::testing::TestWithParam<Example> {};

TEST_P(ExamplesTest, RunsOnItsCluster) {
  prism::v1::Question message;
  ReadExample(GetParam().job, message.mutable_job());
  ReadExample(GetParam().cluster, message.mutable_cluster());
  message.set_samples(100);
  base::Violations violations;
  const auto question = ReadQuestion(message, "", violations);
  ASSERT_TRUE(question.has_value())
      << violations.list()[0].field << " " << violations.list()[0].description;
  base::UnlimitedBudget budget;
  base::InlineExecutor executor;
  const auto prediction = Predict(*question, budget, executor);
  ASSERT_TRUE(prediction.ok()) << prediction.status();
  EXPECT_TRUE(prediction->feasible()) << prediction->infeasible_reason();
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, ExamplesTest,
    ::testing::Values(Example{"llama3-70b.yaml", "h100-64-nodes.yaml"},
                      Example{"zero-bubble.yaml", "h100-64-nodes.yaml"},
                      Example{"fsdp-70b.yaml", "h100-64-nodes.yaml"},
                      Example{"schedules/job.yaml", "schedules/cluster.yaml"},
                      Example{"llama3-405b/job.yaml",
                              "llama3-405b/cluster.yaml"},
                      Example{"longhorn/job.yaml", "longhorn/cluster.yaml"},
                      Example{"leonardo/job.yaml", "leonardo/cluster.yaml"},
                      Example{"published/gpt-529.6b/job.yaml",
                              "published/dgx-a100-superpod.yaml"}));

}  // namespace
}  // namespace prism::query
