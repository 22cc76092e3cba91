// The structured method on step profiles with known distributions
// (tests/data/oracle), asked as a user would.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "core/query/document.h"
#include "core/query/predict.h"
#include "core/query/question.h"

namespace prism {
namespace {

const std::string kProfiles[] = {
    "01_1f1b_tensor",    "02_gpipe_gamma",     "03_interleaved",
    "04_sharded_data",   "05_slow_gpu",        "06_uneven_gpus",
    "07_rare_stalls",    "08_bimodal",         "09_uneven_stages",
    "10_wide_data",      "11_high_noise",      "12_data_only",
    "13_shared_regimes", "14_microbatch_load", "15_sharded_load",
    "16_all_warmup",     "17_mixed",           "18_sharded_tensor",
};

// One reference quantile is 3.2 of its own standard errors too low: 120,000
// samples of the reference method give 1095.99 with an error of 0.10 where
// 8,000 samples gave 1095.16 with an error of 0.26. Its true value is further
// off than what is allowed, so the finer one stands for it.
struct FinerReference {
  const char* profile = "09_uneven_stages";
  const char* quantile = "p99";
  double milliseconds = 1095.991;
};

double ReferenceOf(const std::string& profile, const char* quantile,
                   double stored) {
  const FinerReference finer;
  return profile == finer.profile && quantile == std::string(finer.quantile)
             ? finer.milliseconds
             : stored;
}

std::string ReadFile(const std::string& name) {
  std::ifstream file(PRISM_SOURCE_DIR "/tests/data/oracle/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<query::Question> ReadProfileQuestion(const std::string& name) {
  prism::v1::Question message;
  base::Violations violations;
  query::ReadDocument(ReadFile(name + ".json"), message.mutable_profile(),
                      violations);
  message.set_method(prism::v1::METHOD_AUTO);
  auto question = query::ReadQuestion(message, "", violations);
  for (const auto& violation : violations.list()) {
    ADD_FAILURE() << violation.field << " " << violation.description;
  }
  return question;
}

class AutoOracleTest : public testing::TestWithParam<std::string> {};

// The question fixes the random key, so a failure is a change, not chance.
TEST_P(AutoOracleTest, QuantilesAreWithinWhatIsAllowed) {
  const auto question = ReadProfileQuestion(GetParam());
  ASSERT_TRUE(question.has_value());
  base::InlineExecutor executor;
  const auto prediction =
      query::Predict(*question, base::UnlimitedBudget(), executor);
  ASSERT_TRUE(prediction.ok()) << prediction.status();
  EXPECT_EQ(prediction->method(), prism::v1::METHOD_AUTO);
  EXPECT_EQ(prediction->quality(), prism::v1::QUALITY_EXACT);

  const auto expected =
      nlohmann::json::parse(ReadFile(GetParam() + ".expected.json"));
  const auto& reference = expected["quantiles"];
  const double spread =
      reference["p75"].get<double>() - reference["p25"].get<double>();
  const auto& quantiles = prediction->step_time().quantiles();
  const auto expect_quantile = [&](const char* name, double seconds) {
    const double error = expected["standard_error"][name];
    const double off =
        seconds * 1e3 -
        ReferenceOf(GetParam(), name, reference[name].get<double>());
    EXPECT_LE(std::abs(off), std::max(0.075 * spread, 3 * error)) << name;
    RecordProperty(name, std::to_string(off / spread));
  };
  expect_quantile("p05", quantiles.p05());
  expect_quantile("p25", quantiles.p25());
  expect_quantile("p50", quantiles.p50());
  expect_quantile("p75", quantiles.p75());
  expect_quantile("p95", quantiles.p95());
  expect_quantile("p99", quantiles.p99());
}

INSTANTIATE_TEST_SUITE_P(Profiles, AutoOracleTest, testing::ValuesIn(kProfiles),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace prism
