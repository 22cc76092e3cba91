#include "core/query/answer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace prism::query {
namespace {

using nlohmann::json;
using prism::v1::Prediction;

prism::v1::MemoryPart NamedPart(const char* name, double bytes) {
  prism::v1::MemoryPart part;
  part.set_name(name);
  part.set_bytes(bytes);
  return part;
}

Prediction JobPrediction() {
  Prediction p;
  p.set_prediction_id("id");
  p.set_signature("abc");
  p.set_model_version("prism-0.1");
  p.set_quality(prism::v1::QUALITY_EXACT);
  p.set_cache(prism::v1::CACHE_STATUS_MISS);
  p.set_feasible(true);
  p.mutable_step_time()->set_mean_seconds(1.0 / 3);
  p.mutable_step_time()->set_standard_deviation_seconds(0.01);
  p.mutable_step_time()->mutable_quantiles()->set_p95(0.35);
  p.set_nominal_step_seconds(0.3);
  p.set_method(prism::v1::METHOD_MONTECARLO);
  p.mutable_sampling()->set_samples(20000);
  p.mutable_sampling()->mutable_standard_error()->set_p50(1e-5);
  p.set_tokens_per_second(1e5);
  p.set_model_flops_utilization(0.5);
  p.set_tflops_per_gpu(150);
  auto* memory = p.mutable_memory();
  memory->set_peak_bytes_per_gpu(7e10);
  memory->set_capacity_bytes_per_gpu(8e10);
  memory->set_allocated_bytes_per_gpu(6.6e10);
  memory->set_margin_bytes_per_gpu(1e10);
  memory->set_fit(prism::v1::MEMORY_FIT_FITS);
  auto* stage = memory->add_stages();
  stage->set_stage(1);
  stage->set_peak_bytes_per_gpu(6e10);
  *stage->add_parts() = NamedPart("logits", 6e10);
  *memory->add_parts() = NamedPart("parameters", 7e10);
  auto* entry = p.add_breakdown();
  entry->set_kind("compute");
  entry->set_seconds(0.3);
  p.add_notes("first");
  return p;
}

TEST(PredictionJson, JobHasEveryPromisedKey) {
  const json answer = json::parse(PredictionJson(JobPrediction()));
  EXPECT_EQ(answer["feasible"], true);
  EXPECT_EQ(answer["step_time"]["mean_seconds"], 1.0 / 3);
  EXPECT_EQ(answer["step_time"]["standard_deviation_seconds"], 0.01);
  EXPECT_EQ(answer["nominal_step_seconds"], 0.3);
  EXPECT_EQ(answer["tokens_per_second"], 1e5);
  EXPECT_EQ(answer["model_flops_utilization"], 0.5);
  EXPECT_EQ(answer["tflops_per_gpu"], 150);
  EXPECT_EQ(answer["memory"]["peak_bytes_per_gpu"], 7e10);
  EXPECT_EQ(answer["memory"]["capacity_bytes_per_gpu"], 8e10);
  EXPECT_EQ(answer["memory"]["parts"]["parameters"], 7e10);
  EXPECT_EQ(answer["breakdown"]["compute"], 0.3);
  EXPECT_EQ(answer["signature"], "abc");
  EXPECT_EQ(answer["cache"], "MISS");
  EXPECT_EQ(answer["method"], "montecarlo");
  EXPECT_EQ(answer["quality"], "EXACT");
  EXPECT_EQ(answer["samples"], 20000);
  EXPECT_EQ(answer["standard_error"]["p50"], 1e-5);
  EXPECT_EQ(answer["prediction_id"], "id");
  EXPECT_EQ(answer["model_version"], "prism-0.1");
  EXPECT_EQ(answer["notes"], json::array({"first"}));
}

TEST(PredictionJson, HasMeansByKindWhereTheyWereSimulated) {
  Prediction p = JobPrediction();
  EXPECT_FALSE(json::parse(PredictionJson(p)).contains("mean_breakdown"));
  p.mutable_breakdown(0)->set_busy_seconds(0.4);
  p.mutable_breakdown(0)->set_mean_seconds(0.5);
  p.mutable_breakdown(0)->set_mean_busy_seconds(0.6);
  const json answer = json::parse(PredictionJson(p));
  EXPECT_EQ(answer["busy"]["compute"], 0.4);
  EXPECT_EQ(answer["mean_breakdown"]["compute"], 0.5);
  EXPECT_EQ(answer["mean_busy"]["compute"], 0.6);
}

TEST(PredictionJson, MemoryHasItsVerdictAndEveryStage) {
  Prediction p = JobPrediction();
  const json memory = json::parse(PredictionJson(p))["memory"];
  EXPECT_EQ(memory["fit"], "fits");
  EXPECT_EQ(memory["margin_bytes_per_gpu"], 1e10);
  EXPECT_EQ(memory["allocated_bytes_per_gpu"], 6.6e10);
  EXPECT_FALSE(memory.contains("advice"));
  ASSERT_EQ(memory["stages"].size(), 1u);
  EXPECT_EQ(memory["stages"][0]["stage"], 1);
  EXPECT_EQ(memory["stages"][0]["peak_bytes_per_gpu"], 6e10);
  EXPECT_EQ(memory["stages"][0]["parts"]["logits"], 6e10);
  p.mutable_memory()->set_advice("raise parallelism.tensor to 2");
  EXPECT_EQ(json::parse(PredictionJson(p))["memory"]["advice"],
            "raise parallelism.tensor to 2");
}

TEST(PredictionJson, EveryQuantileIsThereEvenWhereZero) {
  const json answer = json::parse(PredictionJson(Prediction()));
  const json& quantiles = answer["step_time"]["quantiles"];
  EXPECT_EQ(quantiles.size(), 7u);
  for (const char* key : {"p01", "p05", "p25", "p50", "p75", "p95", "p99"}) {
    EXPECT_TRUE(quantiles.contains(key)) << key;
  }
}

TEST(PredictionJson, ProfileHasNoFiguresOfAJob) {
  Prediction p = JobPrediction();
  p.clear_memory();
  const json answer = json::parse(PredictionJson(p));
  for (const char* key : {"tokens_per_second", "model_flops_utilization",
                          "tflops_per_gpu", "memory"}) {
    EXPECT_FALSE(answer.contains(key)) << key;
  }
}

TEST(PredictionJson, InfeasibleSaysWhy) {
  Prediction p = JobPrediction();
  p.set_feasible(false);
  p.set_infeasible_reason("needs 90 GB, has 80 GB");
  const json answer = json::parse(PredictionJson(p));
  EXPECT_EQ(answer["feasible"], false);
  EXPECT_EQ(answer["infeasible_reason"], "needs 90 GB, has 80 GB");
}

}  // namespace
}  // namespace prism::query
