#include "client/import/megatron.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "client/import/golden_table.h"
#include "client/import/megatron_options.h"

namespace prism::import {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Enough for a job on 8 GPUs.
constexpr char kSmall[] =
    "torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py \\\n"
    "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 \\\n"
    "--seq-length 2048 --max-position-embeddings 2048 \\\n"
    "--micro-batch-size 2 --bf16 ";

struct Outcome {
  Imported imported;
  base::Violations violations;

  prism::v1::Job job() const {
    EXPECT_EQ(imported.jobs.size(), 1u) << Descriptions(violations);
    return imported.jobs.empty() ? prism::v1::Job() : imported.jobs[0];
  }
};

Outcome Import(const std::string& text,
               const std::vector<std::string>& settings = {}) {
  Outcome outcome;
  const Settings given = Settings::Parse(settings, outcome.violations);
  outcome.imported =
      ImportMegatron({{"dir/train.sh", text}}, given, outcome.violations);
  return outcome;
}

prism::v1::Job Small(const std::string& options) {
  return Import(kSmall + options).job();
}

std::string ProblemOf(const std::string& options) {
  const Outcome outcome = Import(kSmall + options);
  EXPECT_TRUE(outcome.imported.jobs.empty()) << options;
  return Fields(outcome.violations) + " " + Descriptions(outcome.violations);
}

TEST(MegatronTest, FillsInWhatMegatronDefaults) {
  const prism::v1::Job job = Small("");
  EXPECT_EQ(job.name(), "train");
  EXPECT_EQ(job.model().kv_heads(), 16u);
  EXPECT_EQ(job.model().head_size(), 64u);
  EXPECT_EQ(job.model().ffn_hidden(), 4096u);
  EXPECT_EQ(job.model().vocabulary(), 50304u);
  EXPECT_EQ(job.model().position_embeddings(), 2048u);
  EXPECT_FALSE(job.model().untied_embeddings());
  EXPECT_TRUE(job.model().linear_bias());
  EXPECT_EQ(job.parallelism().tensor(), 1u);
  EXPECT_EQ(job.parallelism().pipeline(), 1u);
  EXPECT_EQ(job.parallelism().data(), 8u);
  EXPECT_EQ(job.training().global_batch(), 16u);
  EXPECT_TRUE(job.training().fp32_gradients());
}

TEST(MegatronTest, FollowsTheFeedForwardRuleOfSwiglu) {
  const prism::v1::Job job = Small("--swiglu");
  EXPECT_TRUE(job.model().gated_ffn());
  EXPECT_EQ(job.model().ffn_hidden(), 2688u);  // 2730 in whole 64s
}

TEST(MegatronTest, PadsVocabulariesToTheTensorRanks) {
  const std::vector<std::pair<std::string, uint32_t>> cases = {
      {"--tensor-model-parallel-size 8", 51200},
      {"--vocab-size 32000", 32000},
      {"--vocab-size 32001", 32128},
      {"--vocab-size 32000 --make-vocab-size-divisible-by 1000", 32000},
      {"--vocab-size 256 --tokenizer-type NullTokenizer", 384},
      {"--tokenizer-type Llama2Tokenizer", 32000},
      {"--pad-vocab-size-to 250880", 250880},
      {"--tokenizer-type HuggingFaceTokenizer --tokenizer-model "
       "meta-llama/Llama-3.1-8B",
       128256},
  };
  for (const auto& [options, vocabulary] : cases)
    EXPECT_EQ(Small(options).model().vocabulary(), vocabulary) << options;
}

TEST(MegatronTest, LearnsPositionsOnlyWhereTheyAreAbsolute) {
  for (const std::string options :
       {"--position-embedding-type rope", "--position-embedding-type alibi",
        "--use-rotary-position-embeddings", "--no-position-embedding"}) {
    EXPECT_EQ(Small(options).model().position_embeddings(), 0u) << options;
  }
}

TEST(MegatronTest, GroupsQueriesOnlyWhenAsked) {
  EXPECT_EQ(Small("--num-query-groups 4").model().kv_heads(), 16u);
  EXPECT_EQ(
      Small("--group-query-attention --num-query-groups 4").model().kv_heads(),
      4u);
  EXPECT_EQ(Small("--group-query-attention").model().kv_heads(), 1u);
}

TEST(MegatronTest, ReadsPrecision) {
  using enum prism::v1::Precision;
  const auto precision = [](const std::vector<std::string>& settings) {
    return Import(kSmall, settings).job().training().precision();
  };
  EXPECT_EQ(precision({}), PRECISION_BF16);
  EXPECT_EQ(precision({"bf16=false"}), PRECISION_FP32);
  EXPECT_EQ(precision({"bf16=false", "fp16=true"}), PRECISION_FP16);
  EXPECT_EQ(precision({"fp8-format=hybrid"}), PRECISION_FP8);
  EXPECT_EQ(precision({"fp4-format=e2m1"}), PRECISION_FP4);
}

TEST(MegatronTest, KeepsGradientsInTheFormatOfTheOptions) {
  EXPECT_FALSE(Small("--grad-reduce-in-bf16").training().fp32_gradients());
  EXPECT_TRUE(Import(kSmall, {"bf16=false", "fp16=true",
                              "accumulate-allreduce-grads-in-fp32=true"})
                  .job()
                  .training()
                  .fp32_gradients());
}

TEST(MegatronTest, ReadsRecomputation) {
  using enum prism::v1::Recompute;
  const std::vector<std::pair<std::string, prism::v1::Recompute>> cases = {
      {"", RECOMPUTE_NONE},
      {"--recompute-activations", RECOMPUTE_SELECTIVE},
      {"--recompute-granularity selective", RECOMPUTE_SELECTIVE},
      {"--recompute-granularity full --recompute-method uniform",
       RECOMPUTE_FULL},
      {"--checkpoint-activations", RECOMPUTE_FULL},
      {"--activations-checkpoint-method uniform", RECOMPUTE_FULL},
      {"--deepspeed-activation-checkpointing", RECOMPUTE_NONE},
  };
  for (const auto& [options, recompute] : cases)
    EXPECT_EQ(Small(options).training().recompute(), recompute) << options;
}

TEST(MegatronTest, ReadsAttention) {
  using enum prism::v1::Attention;
  const std::vector<std::pair<std::string, prism::v1::Attention>> cases = {
      {"", ATTENTION_FLASH},
      {"--transformer-impl local", ATTENTION_UNFUSED},
      {"--transformer-impl local --use-flash-attn", ATTENTION_FLASH},
      {"--attention-backend unfused", ATTENTION_UNFUSED},
      {"--attention-backend auto", ATTENTION_FLASH},
      {"--deepspeed --zero-stage 1", ATTENTION_UNFUSED},
  };
  for (const auto& [options, attention] : cases)
    EXPECT_EQ(Small(options).training().attention(), attention) << options;
}

TEST(MegatronTest, ReadsSharding) {
  using enum prism::v1::Sharding;
  const std::vector<std::pair<std::string, prism::v1::Sharding>> cases = {
      {"", SHARDING_UNSPECIFIED},
      {"--use-distributed-optimizer", SHARDING_ZERO1},
      {"--deepspeed --zero-stage 1", SHARDING_ZERO1},
      {"--deepspeed --zero-stage 0", SHARDING_UNSPECIFIED},
      {"--deepspeed --zero-stage 2", SHARDING_ZERO2},
      {"--deepspeed --zero-stage 3", SHARDING_ZERO3},
      {"--use-torch-fsdp2", SHARDING_ZERO3},
      {"--use-megatron-fsdp --use-distributed-optimizer", SHARDING_UNSPECIFIED},
      {"--use-megatron-fsdp --data-parallel-sharding-strategy optim",
       SHARDING_ZERO1},
      {"--use-custom-fsdp --data-parallel-sharding-strategy optim_grads",
       SHARDING_ZERO2},
      {"--use-megatron-fsdp --data-parallel-sharding-strategy "
       "optim_grads_params",
       SHARDING_ZERO3},
  };
  for (const auto& [options, sharding] : cases)
    EXPECT_EQ(Small(options).parallelism().sharding(), sharding) << options;
}

TEST(MegatronTest, ReadsCopiesOfWhatIsSharded) {
  const std::string copies = "--num-distributed-optimizer-instances 2 ";
  EXPECT_EQ(Small(copies).parallelism().shard_group(), 0u);
  EXPECT_EQ(Small(copies + "--use-distributed-optimizer "
                           "--context-parallel-size 2")
                .parallelism()
                .shard_group(),
            4u);
}

TEST(MegatronTest, ReadsContextGroups) {
  using enum prism::v1::ContextKind;
  const std::vector<std::pair<std::string, prism::v1::ContextKind>> cases = {
      {"--context-parallel-size 4", CONTEXT_KIND_UNSPECIFIED},
      {"--context-parallel-size 4 --cp-comm-type p2p", CONTEXT_KIND_RING},
      {"--context-parallel-size 4 --cp-comm-type all_gather",
       CONTEXT_KIND_ALL_GATHER},
      {"--context-parallel-size 4 --cp-comm-type a2a a2a",
       CONTEXT_KIND_ALL_TO_ALL},
      {"--ds-sequence-parallel-size 4", CONTEXT_KIND_ALL_TO_ALL},
  };
  for (const auto& [options, kind] : cases) {
    const auto parallelism = Small(options).parallelism();
    EXPECT_EQ(parallelism.context_kind(), kind) << options;
    EXPECT_EQ(parallelism.context(), 4u) << options;
    EXPECT_EQ(parallelism.data(), 2u) << options;
  }
}

TEST(MegatronTest, ReadsWhatRunsBesideComputation) {
  const auto overlap = [](const std::string& options) {
    return Small(options).parallelism().overlap().ShortDebugString();
  };
  EXPECT_EQ(overlap(""), "");
  EXPECT_EQ(overlap("--overlap-grad-reduce"), "gradients: true");
  EXPECT_EQ(overlap("--overlap-param-gather"), "parameters: true");
  EXPECT_EQ(overlap("--tp-comm-overlap"), "tensor: true");
  EXPECT_EQ(overlap("--no-overlap-p2p-communication"), "pipeline: false");
  EXPECT_EQ(overlap("--use-torch-fsdp2"), "gradients: true parameters: true");
}

TEST(MegatronTest, TellsMegatronCoreFromWhatCameBefore) {
  using enum prism::v1::Framework;
  const std::vector<std::pair<std::string, prism::v1::Framework>> cases = {
      {"", FRAMEWORK_MEGATRON_CORE},
      {"--transformer-impl transformer_engine", FRAMEWORK_MEGATRON_CORE},
      {"--use-mcore-models", FRAMEWORK_MEGATRON_CORE},
      {"--checkpoint-activations --fp8-format e4m3", FRAMEWORK_MEGATRON_CORE},
      {"--transformer-impl local", FRAMEWORK_UNSPECIFIED},
      {"--DDP-impl local", FRAMEWORK_UNSPECIFIED},
      {"--deepspeed --zero-stage 1", FRAMEWORK_UNSPECIFIED},
  };
  for (const auto& [options, framework] : cases)
    EXPECT_EQ(Small(options).training().framework(), framework) << options;
}

TEST(MegatronTest, DropsOutUnlessBothRatesAreZero) {
  EXPECT_TRUE(Small("").training().dropout());
  EXPECT_TRUE(Small("--attention-dropout 0.0").training().dropout());
  EXPECT_FALSE(
      Small("--attention-dropout 0.0 --hidden-dropout 0").training().dropout());
}

TEST(MegatronTest, ReadsTheLossAndWhereTheOptimizerIs) {
  EXPECT_FALSE(
      Small("--cross-entropy-loss-fusion").training().fused_cross_entropy());
  EXPECT_TRUE(
      Small("--cross-entropy-loss-fusion --cross-entropy-fusion-impl te")
          .training()
          .fused_cross_entropy());
  EXPECT_FALSE(Small("").training().offload_optimizer());
  EXPECT_TRUE(Small("--cpu-optimizer").training().offload_optimizer());
  EXPECT_TRUE(Small("--optimizer-cpu-offload --optimizer-offload-fraction 1.0")
                  .training()
                  .offload_optimizer());
}

TEST(MegatronTest, RecomputesSomeLayersWithMethodBlock) {
  const auto layers = [](const std::string& options) {
    return Small(options).training().recompute_layers();
  };
  const std::string full = "--recompute-granularity full --recompute-method ";
  EXPECT_EQ(layers(full + "uniform --recompute-num-layers 3"), 0u);
  EXPECT_EQ(layers(full + "block --recompute-num-layers 3"), 3u);
  EXPECT_EQ(layers("--activations-checkpoint-method block"), 1u);
  const auto none = Small(full + "block --recompute-num-layers 0").training();
  EXPECT_EQ(none.recompute(), prism::v1::RECOMPUTE_NONE);
  EXPECT_EQ(none.recompute_layers(), 0u);
}

TEST(MegatronTest, GivesTheEndsOfAPipelineTheirLayers) {
  const auto layers = [](const std::string& options) {
    return Small("--pipeline-model-parallel-size 4 " + options)
        .parallelism()
        .stage_layers();
  };
  using ::testing::ElementsAre;
  const std::string ends =
      "--decoder-first-pipeline-num-layers 4 "
      "--decoder-last-pipeline-num-layers 4 ";
  EXPECT_THAT(layers(""), IsEmpty());
  EXPECT_THAT(layers(ends), ElementsAre(4, 8, 8, 4));
  EXPECT_THAT(layers(ends + "--num-virtual-stages-per-pipeline-rank 2"),
              ElementsAre(2, 4, 4, 2, 2, 4, 4, 2));
  EXPECT_THAT(layers("--decoder-first-pipeline-num-layers 3"),
              ElementsAre(3, 7, 7, 7));
  EXPECT_THAT(layers("--standalone-embedding-stage"), ElementsAre(0, 8, 8, 8));
}

TEST(MegatronTest, CountsEndsAsLayersWhereOptionsSaySo) {
  const auto parallelism =
      Small(
          "--num-layers 22 --pipeline-model-parallel-size 4 "
          "--num-layers-per-virtual-pipeline-stage 3 "
          "--account-for-embedding-in-pipeline-split "
          "--account-for-loss-in-pipeline-split")
          .parallelism();
  EXPECT_TRUE(parallelism.embedding_as_layer());
  EXPECT_TRUE(parallelism.head_as_layer());
  EXPECT_EQ(parallelism.virtual_stages(), 2u);
  EXPECT_FALSE(Small("--account-for-loss-in-pipeline-split")
                   .parallelism()
                   .head_as_layer());
}

TEST(MegatronTest, SplitsStages) {
  const auto parallelism = Small(
                               "--pipeline-model-parallel-size 4 "
                               "--num-layers-per-virtual-pipeline-stage 2")
                               .parallelism();
  EXPECT_EQ(parallelism.virtual_stages(), 3u);
  EXPECT_EQ(parallelism.schedule(), prism::v1::SCHEDULE_INTERLEAVED);
  EXPECT_EQ(parallelism.data(), 2u);
}

TEST(MegatronTest, SplitsSequencesOnlyWithTensorRanks) {
  EXPECT_FALSE(Small("--sequence-parallel").parallelism().sequence_parallel());
  EXPECT_TRUE(Small("--sequence-parallel --tensor-model-parallel-size 2")
                  .parallelism()
                  .sequence_parallel());
}

TEST(MegatronTest, ReadsTheRankOrder) {
  EXPECT_EQ(Small("--use-tp-pp-dp-mapping").parallelism().rank_order(),
            prism::v1::RANK_ORDER_TENSOR_PIPELINE_DATA);
}

TEST(MegatronTest, CountsEmbeddingAndHeadAsLayersWhereThatIsEven) {
  const std::string method =
      "--pp-partition-method 'type:transformer|embedding' "
      "--pipeline-model-parallel-size ";
  EXPECT_FALSE(Small(method + "1").parallelism().embedding_as_layer());
  EXPECT_TRUE(Small(method + "2").parallelism().embedding_as_layer());
  EXPECT_TRUE(Small(method + "2").parallelism().head_as_layer());
  EXPECT_THAT(ProblemOf(method + "4"), HasSubstr("not split evenly"));
}

TEST(MegatronTest, RefusesWhatContradictsItself) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"--pipeline-model-parallel-size 5", "must split evenly over 5"},
      {"--pipeline-model-parallel-size 4 "
       "--num-layers-per-virtual-pipeline-stage 4",
       "must divide the 6 layers"},
      {"--tensor-model-parallel-size 3", "must be a multiple of 3"},
      {"--global-batch-size 17", "must be a multiple of 16"},
      {"--num-attention-heads 15", "must divide --hidden-size 1024"},
      {"--hidden-size 0", "must be a whole number from 1"},
      {"--hidden-size 1e3", "must be a whole number from 1"},
      {"--hidden-size 99999999999999999999", "must be a whole number from 1"},
      {"--hidden-size", "has no value"},
      {"--fp16", "contradicts --bf16"},
      {"--deepspeed", "--set zero-stage=VALUE"},
      {"--recompute-granularity half", "must be full or selective"},
      {"--deepspeed --zero-stage 4", "must be 0 to 3"},
      {"--use-megatron-fsdp --data-parallel-sharding-strategy all",
       "must be no_shard"},
      {"--use-distributed-optimizer --num-distributed-optimizer-instances 3",
       "must divide the 8"},
      {"--use-distributed-optimizer --num-distributed-optimizer-instances 2 "
       "--outer-dp-sharding-strategy optim",
       "shards between copies"},
      {"--context-parallel-size 2 --ds-sequence-parallel-size 2",
       "contradicts --context-parallel-size"},
      {"--context-parallel-size 2 --cp-comm-type p2p a2a",
       "differs from layer to layer"},
      {"--context-parallel-size 3", "multiple of 3, tensor * context"},
      {"--pipeline-model-parallel-size 4 "
       "--decoder-first-pipeline-num-layers 4",
       "the ends leave, 20, must split evenly over 3"},
      {"--pipeline-model-parallel-size 2 "
       "--decoder-first-pipeline-num-layers 4 "
       "--decoder-last-pipeline-num-layers 4",
       "the ends leave, 16, must split evenly over 0"},
      {"--pipeline-model-parallel-size 4 --decoder-last-pipeline-num-layers 6 "
       "--num-layers-per-virtual-pipeline-stage 3",
       "is not allowed where stages differ"},
      {"--pipeline-model-parallel-size 4 --decoder-last-pipeline-num-layers 6 "
       "--account-for-loss-in-pipeline-split",
       "contradicts embedding or head"},
      {"--pipeline-model-parallel-size 4 --standalone-embedding-stage "
       "--num-virtual-stages-per-pipeline-rank 2",
       "is not allowed with other splits"},
      {"--pipeline-model-parallel-size 8 --account-for-loss-in-pipeline-split",
       "24 and 1 more for embedding or head"},
      {"--recompute-granularity full --recompute-method block",
       "--set recompute-num-layers=VALUE"},
      {"--attention-dropout high", "must be a number from 0 to 1"},
      {"--optimizer-cpu-offload --optimizer-offload-fraction 0.5",
       "all optimizer states on the host"},
      {"--nnodes 16777216", "must be at most 16777216"},
      {"--recompute-granularity selective --recompute-modules core_attn mlp",
       "recomputes more"},
      {"--make-vocab-size-divisible-by 16777216 "
       "--tensor-model-parallel-size 16777216",
       "pads the vocabulary"},
  };
  for (const auto& [options, problem] : cases)
    EXPECT_THAT(ProblemOf(options), HasSubstr(problem)) << options;
}

TEST(MegatronTest, RefusesEveryOptionThatIsNotModelled) {
  for (const std::string option :
       {"--num-experts 8", "--expert-model-parallel-size 4",
        "--encoder-num-layers 12", "--multi-latent-attention", "--bitfit",
        "--pipeline-model-parallel-layout Et*24L", "--mamba-state-dim 128",
        "--cpu-offloading"}) {
    EXPECT_THAT(ProblemOf(option), HasSubstr("does not model")) << option;
  }
  EXPECT_EQ(Small("--context-parallel-size 1").parallelism().data(), 8u);
}

TEST(MegatronTest, ListsEverythingThatIsMissingAtOnce) {
  EXPECT_EQ(Fields(Import("run --num-layers $NL --bf16").violations),
            "--hidden-size;--num-attention-heads;--num-layers;--seq-length;"
            "--max-position-embeddings;--micro-batch-size;NNODES;"
            "GPUS_PER_NODE");
}

TEST(MegatronTest, TakesNodesAndGpusFromSlurm) {
  const std::string text =
      "#SBATCH --nodes=4\n#SBATCH --gres=gpu:a100:8\nrun --num-layers 2 "
      "--hidden-size 64 --num-attention-heads 4 --seq-length 8 "
      "--max-position-embeddings 8 --micro-batch-size 1";
  EXPECT_EQ(Import(text).job().parallelism().data(), 32u);
  EXPECT_EQ(Import(text, {"SLURM_NNODES=2"}).job().parallelism().data(), 16u);
  EXPECT_EQ(Import(text, {"WORLD_SIZE=3"}).job().parallelism().data(), 3u);
}

TEST(MegatronTest, FollowsNoLogicOfTheShell) {
  const Outcome outcome = Import("if [ $BIG ]; then L=48; else L=24; fi\n" +
                                 std::string(kSmall) + "--num-layers $L");
  EXPECT_THAT(Descriptions(outcome.violations),
              HasSubstr("(\"48\", \"24\"); choose one with --set L=VALUE"));
}

TEST(MegatronTest, WarnsOnceOfOptionsItDoesNotKnow) {
  const Outcome outcome = Import(std::string(kSmall) + "--new-a 1 --new-b\n" +
                                 "run --new-a 1 --fp8-param-gather $MORE");
  EXPECT_THAT(outcome.imported.warnings,
              ::testing::ElementsAre(
                  "options that are not known are left out: --new-a, --new-b",
                  "options that a job has no field for are left out: "
                  "--fp8-param-gather"));
}

TEST(MegatronTest, ReportsSettingsThatNothingReads) {
  EXPECT_EQ(Fields(Import(kSmall, {"NNODE=2"}).violations), "--set_NNODE");
}

TEST(MegatronTest, RefusesFilesThatAreNoScripts) {
  EXPECT_THAT(
      Descriptions(Import(std::string(kMostScriptBytes + 1, '\n')).violations),
      HasSubstr("must be at most"));
}

TEST(MegatronOptionsTest, EveryDefaultNamesAnOptionAndItsSource) {
  for (const OptionDefault& entry : Defaults()) {
    EXPECT_FALSE(entry.source.empty()) << entry.option;
    const std::string option(entry.option.substr(0, entry.option.find(',')));
    const OptionRule* rule = FindRule(option);
    ASSERT_NE(rule, nullptr) << option;
    EXPECT_EQ(rule->use, OptionUse::kRead) << option;
  }
}

TEST(MegatronOptionsTest, TheManualHoldsEveryDefault) {
  const std::string manual = ReadSourceFile("docs/import.md");
  for (const OptionDefault& entry : Defaults()) {
    const std::string row = "| `" + std::string(entry.option) + "` | " +
                            std::string(entry.value) + " | " +
                            std::string(entry.source) + " |";
    EXPECT_THAT(manual, HasSubstr(row));
  }
}

}  // namespace
}  // namespace prism::import
