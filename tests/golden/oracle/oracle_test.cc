// Step profiles with known distributions (tests/data/oracle), asked as a user
// would: document, question, prediction.

#include <gtest/gtest.h>

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

constexpr int kSamples = 20000;

struct Case {
  std::string name;
  int samples = kSamples;
};

// Fewer samples where a step has so many ranks that 20,000 would take longer
// than all others together.
const Case kCases[] = {
    {"01_1f1b_tensor"},     {"02_gpipe_gamma"},     {"03_interleaved"},
    {"04_sharded_data"},    {"05_slow_gpu"},        {"06_uneven_gpus"},
    {"07_rare_stalls"},     {"08_bimodal"},         {"09_uneven_stages"},
    {"10_wide_data", 2000}, {"11_high_noise"},      {"12_data_only"},
    {"13_shared_regimes"},  {"14_microbatch_load"}, {"15_sharded_load"},
    {"16_all_warmup"},      {"17_mixed"},           {"18_sharded_tensor"},
};

std::string ReadFile(const std::string& name) {
  std::ifstream file(PRISM_SOURCE_DIR "/tests/data/oracle/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<query::Question> ReadProfileQuestion(const Case& test) {
  prism::v1::Question message;
  base::Violations violations;
  query::ReadDocument(ReadFile(test.name + ".json"), message.mutable_profile(),
                      violations);
  message.set_method(prism::v1::METHOD_MONTECARLO);
  message.set_samples(test.samples);
  auto question = query::ReadQuestion(message, "", violations);
  for (const auto& violation : violations.list()) {
    ADD_FAILURE() << violation.field << " " << violation.description;
  }
  return question;
}

class OracleTest : public testing::TestWithParam<Case> {};

// Reference and prediction are independent samples, so the difference of a
// quantile has the variance of both errors together. Five standard deviations
// of 18 profiles with 5 quantiles each: a false alarm in 20,000 at most, and
// none by chance, as the question fixes the random key.
TEST_P(OracleTest, QuantilesAgreeWithinFiveCombinedErrors) {
  const auto question = ReadProfileQuestion(GetParam());
  ASSERT_TRUE(question.has_value());
  base::ThreadExecutor executor(2);
  const auto prediction =
      query::Predict(*question, base::UnlimitedBudget(), executor);
  ASSERT_TRUE(prediction.ok()) << prediction.status();
  ASSERT_EQ(prediction->sampling().samples(), GetParam().samples);

  const auto expected =
      nlohmann::json::parse(ReadFile(GetParam().name + ".expected.json"));
  const auto& quantiles = prediction->step_time().quantiles();
  const auto& errors = prediction->sampling().standard_error();
  const auto expect_quantile = [&](const char* name, double seconds,
                                   double error_seconds) {
    const double reference = expected["quantiles"][name];
    const double error = std::hypot(
        expected["standard_error"][name].get<double>(), error_seconds * 1e3);
    EXPECT_NEAR(seconds * 1e3, reference, 5 * error) << name;
    RecordProperty(name, std::to_string((seconds * 1e3 - reference) / error));
  };
  expect_quantile("p05", quantiles.p05(), errors.p05());
  expect_quantile("p25", quantiles.p25(), errors.p25());
  expect_quantile("p50", quantiles.p50(), errors.p50());
  expect_quantile("p75", quantiles.p75(), errors.p75());
  expect_quantile("p95", quantiles.p95(), errors.p95());
  expect_quantile("p99", quantiles.p99(), errors.p99());
}

INSTANTIATE_TEST_SUITE_P(Profiles, OracleTest, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace prism
