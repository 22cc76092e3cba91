#include "client/prismctl/answer_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "client/status_details.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace prism::prismctl {
namespace {

using prism::v1::Prediction;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A session on strings.
struct Strings {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Session session{in, out, err, {}, {}, false};
};

Prediction Answered() {
  Prediction prediction;
  prediction.set_feasible(true);
  prediction.mutable_step_time()->mutable_quantiles()->set_p50(1.5);
  return prediction;
}

Prediction TooLarge() {
  Prediction prediction = Answered();
  prediction.set_feasible(false);
  prediction.set_infeasible_reason("needs 97 GiB of 80 GiB");
  prediction.mutable_memory()->set_peak_bytes_per_gpu(97 * 0x1p30);
  prediction.mutable_memory()->set_capacity_bytes_per_gpu(80 * 0x1p30);
  return prediction;
}

absl::Status WrongSamples() {
  google::rpc::BadRequest bad_request;
  auto* violation = bad_request.add_field_violations();
  violation->set_field("questions[0].profile.forward");
  violation->set_description("is empty");
  google::rpc::Status details;
  details.add_details()->PackFrom(bad_request);
  return client::StatusWithDetails(3, "wrong", details.SerializeAsString());
}

TEST(AnswerOutputTest, AnAnswerGoesToStandardOutputAlone) {
  Strings strings;
  EXPECT_EQ(WritePrediction(Answered(), strings.session), kAnswered);
  EXPECT_THAT(strings.out.str(), StartsWith("Step time"));
  EXPECT_EQ(strings.err.str(), "");
}

TEST(AnswerOutputTest, JsonIsOneObjectOnItsOwnLines) {
  Strings strings;
  strings.session.options.format = OutputFormat::kJson;
  WritePrediction(Answered(), strings.session);
  EXPECT_THAT(strings.out.str(), StartsWith("{"));
  EXPECT_TRUE(strings.out.str().ends_with("}\n"));
}

TEST(AnswerOutputTest, AnInfeasibleJobSaysWhyOnStandardError) {
  Strings strings;
  EXPECT_EQ(WritePrediction(TooLarge(), strings.session), kInfeasible);
  EXPECT_EQ(strings.out.str(), "");
  EXPECT_THAT(strings.err.str(),
              StartsWith("prismctl: the job cannot run: needs 97 GiB"));
  EXPECT_THAT(strings.err.str(), HasSubstr("Memory"));
}

TEST(AnswerOutputTest, AnInfeasibleJobStillGivesJson) {
  Strings strings;
  strings.session.options.format = OutputFormat::kJson;
  EXPECT_EQ(WritePrediction(TooLarge(), strings.session), kInfeasible);
  EXPECT_THAT(strings.out.str(), HasSubstr("\"feasible\": false"));
  EXPECT_THAT(strings.err.str(), HasSubstr("needs 97 GiB"));
}

TEST(AnswerOutputTest, AServersViolationsNameTheFile) {
  Strings strings;
  strings.session.options.server = "a:1";
  EXPECT_EQ(
      WriteFailure(WrongSamples(), {{"profile", "p.json"}}, strings.session),
      kWrongInput);
  EXPECT_THAT(strings.err.str(), HasSubstr("  p.json: forward: is empty\n"));
}

TEST(AnswerOutputTest, AWrongQuestionWithoutDetailsIsWrongInput) {
  Strings strings;
  EXPECT_EQ(WriteFailure(absl::InvalidArgumentError("stages wait in a circle"),
                         {}, strings.session),
            kWrongInput);
  EXPECT_THAT(strings.err.str(), HasSubstr("stages wait in a circle"));
}

TEST(AnswerOutputTest, AServerThatFailsIsNamedWithTheReason) {
  for (const absl::Status& status :
       {absl::UnavailableError("connection refused"),
        absl::ResourceExhaustedError("queue is full"),
        absl::DeadlineExceededError("too late"), absl::InternalError("id 7")}) {
    Strings strings;
    strings.session.options.server = "a:1";
    EXPECT_EQ(WriteFailure(status, {}, strings.session), kServerFailed);
    EXPECT_THAT(strings.err.str(), HasSubstr("server at a:1"));
    EXPECT_THAT(strings.err.str(), HasSubstr(std::string(status.message())));
    EXPECT_EQ(strings.out.str(), "");
  }
}

TEST(AnswerOutputTest, AFailureInProcessIsOurs) {
  Strings strings;
  EXPECT_EQ(WriteFailure(absl::InternalError("oops"), {}, strings.session),
            kInternalError);
  EXPECT_THAT(strings.err.str(), HasSubstr("INTERNAL: oops"));
}

}  // namespace
}  // namespace prism::prismctl
