#include "client/validate/readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "client/validate/questions.h"
#include "client/validate/test_folder.h"
#include "core/query/document.h"
#include "core/query/question.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Unreadable(const Measurements& found) {
  std::vector<std::string> lines;
  for (const base::Violation& violation : found.unreadable.list()) {
    lines.push_back(violation.field + ": " + violation.description);
  }
  return lines;
}

Measurements Read(SetReader reader, std::map<std::string, std::string> files) {
  Measurements found;
  reader(TestFolder(std::move(files)), found);
  return found;
}

// The document of the first row's job, or cluster.
std::string JobOf(const Measurements& found) {
  return query::WriteYaml(found.sources.at(0).rows.at(0).question.job());
}
std::string ClusterTextOf(const Measurements& found) {
  return query::WriteYaml(found.sources.at(0).rows.at(0).question.cluster());
}

TEST(RepositoryTest, EverySetIsThereAndEveryRowReads) {
  const Measurements found = ReadFolder(*RepositoryFolder());
  EXPECT_THAT(found.missing, IsEmpty());
  EXPECT_THAT(Unreadable(found), IsEmpty());
  std::map<std::string, size_t> counts;
  for (const Source& source : found.sources) {
    counts[source.name] = source.rows.size();
    EXPECT_NE(source.assumptions, "") << source.name;
  }
  EXPECT_EQ(counts["arXiv 2104.04473 table 1"], 5);
  EXPECT_EQ(counts["arXiv 2205.05198 table 4"], 10);
  EXPECT_EQ(counts["MLPerf Llama 3.1 405B"], 11);
  EXPECT_EQ(counts["vTrain multi-node"], 75);
  EXPECT_EQ(counts["vTrain single-node"], 979);
  EXPECT_EQ(counts["SimuMax B200 step time"], 29);
  EXPECT_EQ(counts["SimuMax B200 peak memory"], 29);
  EXPECT_EQ(counts["llm-foundry"], 142);
  EXPECT_EQ(counts["torchtitan"], 18);
  EXPECT_EQ(counts["Model files, own fields"], 59);
}

TEST(RepositoryTest, NoQuestionOfARowIsWrong) {
  for (const Source& source : ReadFolder(*RepositoryFolder()).sources) {
    for (const Measured& row : source.rows) {
      if (!row.not_covered.empty()) continue;
      base::Violations violations;
      query::ReadQuestion(row.question, "", violations);
      EXPECT_TRUE(violations.empty()) << source.name << ", " << row.name << ": "
                                      << violations.list().front().field;
    }
  }
}

TEST(ReadersTest, AnEmptyFolderHasNothingAndLacksEverySet) {
  const Measurements found = ReadFolder(TestFolder({}));
  EXPECT_THAT(found.sources, IsEmpty());
  EXPECT_THAT(Unreadable(found), IsEmpty());
  EXPECT_THAT(found.missing, Contains("mlperf-llm-step-times/index.csv"));
  EXPECT_THAT(found.missing, Contains("throughput-tables/torchtitan"));
}

// Text that is no table, no list and no object.
TEST(ReadersTest, DamagedFilesAreNamedAndNeverFatal) {
  for (const std::string text : {"", "\"", "{", "[1, {}]", "a,b\n1", "| a |\n",
                                 "**Table 1** Llama 3.1 8B\n| x |\n| 1 |\n"}) {
    const Measurements found = ReadFolder(
        TestFolder({{"published/published.csv", text},
                    {"published/layer_times.csv", text},
                    {"mlperf-llm-step-times/index.csv", text},
                    {"vtrain-a100-iteration-times/multi_node.csv", text},
                    {"vtrain-a100-iteration-times/single_node.csv", text},
                    {"throughput-tables/simumax-b200/rows.json", text},
                    {"throughput-tables/llm-foundry/fsdp_throughput.csv", text},
                    {"throughput-tables/torchtitan/a.md", text},
                    {"model-configs/calculon/a.json", text}}));
    for (const Source& source : found.sources) {
      EXPECT_THAT(source.rows, IsEmpty()) << text;
    }
    const std::vector<std::string> lines = Unreadable(found);
    EXPECT_THAT(lines, Contains(HasSubstr("multi_node.csv"))) << text;
    EXPECT_THAT(lines, Contains(HasSubstr("rows.json"))) << text;
  }
}

// Flips a byte, makes a number huge or 0, or cuts the text off.
std::string Damage(std::string text, std::mt19937& random) {
  const size_t at = random() % text.size();
  switch (random() % 4) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.resize(at);
      break;
    default: {
      const size_t digit = text.find_first_of("0123456789", at);
      if (digit == text.npos) break;
      const char* number = random() % 2 == 0 ? "0" : "4194304";
      text.replace(digit, text.find_first_not_of("0123456789", digit) - digit,
                   number);
    }
  }
  return text;
}

TEST(ReadersTest, NoDamageIsFatal) {
  const auto repository = RepositoryFolder();
  std::mt19937 random(5);
  for (const char* path :
       {"published/published.csv", "published/layer_times.csv",
        "mlperf-llm-step-times/index.csv",
        "vtrain-a100-iteration-times/multi_node.csv",
        "throughput-tables/simumax-b200/rows.json",
        "throughput-tables/llm-foundry/fsdp_throughput.csv",
        "throughput-tables/torchtitan/llama3_h100_202412.md",
        "megatron-log-lines-bigscience/tr11-176B-ml-chronicles.log",
        "model-configs/SimuMax/deepseekv3.json"}) {
    const std::string text = repository->Read(path).value();
    for (int i = 0; i < 50; ++i) {
      std::string damaged = Damage(text, random);
      for (int more = 0; more < i && !damaged.empty(); ++more) {
        damaged = Damage(damaged, random);
      }
      const Measurements found = ReadFolder(TestFolder({{path, damaged}}));
      for (const Source& source : found.sources) {
        for (const Measured& row : source.rows) {
          EXPECT_GT(row.value, 0) << path << ", " << row.place;
        }
      }
    }
  }
}

constexpr char kPublished[] =
    "source,name,accelerator,gpus,gpus_per_node,node_network,layers,hidden,"
    "heads,kv_heads,ffn_hidden,gated_ffn,vocabulary,sequence,tensor,context,"
    "pipeline,virtual_stages,data,global_batch,micro_batch,recompute,"
    "sequence_parallel,sharding,precision,measured,unit,remark\n";

Measurements ReadPublished(const std::string& row) {
  Measurements found;
  ReadPublishedRows("p.csv", kPublished + row + "\n", found);
  return found;
}

TEST(PublishedTest, AFullRowBecomesAJob) {
  const Measurements found = ReadPublished(
      "arXiv 2205.05198 table 5,175B selective,a100-80gb-sxm,64,8,"
      "8x200Gb/s HDR InfiniBand,96,12288,96,96,49152,0,51200,2048,8,1,8,3,1,64,"
      "1,selective,1,none,fp16,13.75,seconds,");
  ASSERT_THAT(Unreadable(found), IsEmpty());
  const Measured& row = found.sources[0].rows[0];
  EXPECT_EQ(found.sources[0].name, "arXiv 2205.05198 table 5");
  EXPECT_EQ(row.value, 13.75);
  EXPECT_EQ(row.quantity, Quantity::kStep);
  EXPECT_EQ(row.question.cluster().nodes(), 8);
  EXPECT_EQ(row.question.cluster().fabric_size(), 0);
  const std::string job = JobOf(found);
  for (const char* line :
       {"layers: 96", "position_embeddings: 2048", "tensor: 8",
        "sequence_parallel: true", "pipeline: 8", "virtual_stages: 3",
        "recompute: selective", "precision: fp16", "attention: unfused",
        "framework: megatron-lm"}) {
    EXPECT_THAT(job, HasSubstr(line));
  }
}

constexpr char kLlama[] =
    "arXiv 2407.21783 table 4,405B,h100-80gb-sxm,8192,8,"
    "\"8x400Gb/s RoCE, pods of 3072, 1:7 above\",126,16384,128,8,53248,1,"
    "128256,8192,8,1,16,,64,2048,1,none,1,fsdp,bf16,430,tflops_per_gpu,"
    "whether attention counts is not stated";

TEST(PublishedTest, WhatLayersDoNotFillIsLeftToEmbeddingAndHead) {
  const Measurements found = ReadPublished(kLlama);
  ASSERT_THAT(Unreadable(found), IsEmpty());
  const std::string job = JobOf(found);
  for (const char* line :
       {"virtual_stages: 8", "embedding_as_layer: true", "head_as_layer: true",
        "sharding: zero1", "gradients: true", "gated_ffn: true",
        "untied_embeddings: true", "attention: flash",
        "framework: megatron-core", "rank_order: tensor-pipeline-data"}) {
    EXPECT_THAT(job, HasSubstr(line));
  }
  EXPECT_EQ(found.sources[0].rows[0].quantity, Quantity::kModelFlops);
}

TEST(PublishedTest, PodsBecomeLevelsOfTheFabric) {
  const v1::Cluster cluster =
      ReadPublished(kLlama).sources[0].rows[0].question.cluster();
  ASSERT_EQ(cluster.fabric_size(), 3);
  EXPECT_EQ(cluster.fabric(0).gpus(), 8);
  EXPECT_EQ(cluster.fabric(1).gpus(), 3072);
  EXPECT_EQ(cluster.fabric(1).gigabytes_per_second(), 50);
  EXPECT_EQ(cluster.fabric(2).oversubscription(), 7);
  EXPECT_EQ(cluster.nodes() % 384, 0);
  EXPECT_GE(cluster.nodes(), 1024);
}

TEST(PublishedTest, PodsOfPartsOfNodesAreNamed) {
  std::string row = kLlama;
  row.replace(row.find("3072"), 4, "4");
  EXPECT_THAT(Unreadable(ReadPublished(row)),
              ElementsAre("p.csv:2: node_network: has pods of 4 GPUs; must be "
                          "whole nodes"));
}

TEST(PublishedTest, RemarksSayWhatFlopsCount) {
  const std::string row =
      "arXiv 2104.04473,a,a100-80gb-sxm,8,8,,8,1024,8,,,0,51200,2048,8,1,1,1,1,"
      "8,1,full,0,none,fp16,140,tflops_per_gpu,";
  const auto quantity = [&](const std::string& remark) {
    return ReadPublished(row + remark).sources[0].rows[0].quantity;
  };
  EXPECT_EQ(quantity("recomputation included"), Quantity::kExecutedFlops);
  EXPECT_EQ(quantity("model FLOPs"), Quantity::kModelFlops);
}

TEST(PublishedTest, WrongCellsAreNamed) {
  const std::string before = "arXiv 2104.04473,a,";
  struct Case {
    std::string row;
    std::string problem;
  };
  for (const Case& c :
       {Case{before + "a101,8,8,,8,1024,8,,,0,51200,2048,8,1,1,1,1,8,1,full,0,"
                      "none,fp16,1,seconds,",
             "p.csv:2: accelerator: is \"a101\"; must be one of a100-40gb"},
        Case{before + "a100-80gb-sxm,8,8,,8,1024,8,,,0,51200,2048,8,1,1,1,1,8,"
                      "1,some,0,none,fp16,1,seconds,",
             "p.csv:2: recompute: is \"some\"; must be one of none, selective"},
        Case{before + "a100-80gb-sxm,9,8,,8,1024,8,,,0,51200,2048,8,1,1,1,1,8,"
                      "1,full,0,none,fp16,1,seconds,",
             "p.csv:2: gpus: is 9; must be tensor * context"},
        Case{before + "a100-80gb-sxm,8,8,,8,1024,8,,,2,51200,2048,8,1,1,1,1,8,"
                      "1,full,0,none,fp16,1,seconds,",
             "p.csv:2: gated_ffn: is \"2\"; must be 0, 1, true or false"}}) {
    const Measurements found = ReadPublished(c.row);
    EXPECT_THAT(Unreadable(found), Contains(HasSubstr(c.problem)));
    EXPECT_THAT(found.sources, IsEmpty());
  }
}

TEST(LayerTimesTest, ARowHasForwardAndBackward) {
  Measurements found;
  ReadLayerTimes("l.csv",
                 "source,name,accelerator,gpus,gpus_per_node,layers,hidden,"
                 "heads,vocabulary,sequence,tensor,global_batch,micro_batch,"
                 "recompute,sequence_parallel,precision,forward_ms,"
                 "backward_ms\n"
                 "s,plain,a100-80gb-sxm,8,8,48,6144,64,51200,2048,8,4,4,none,0,"
                 "fp16,7.7,11.9\n"
                 "s,bad,a100-80gb-sxm,8,8,48,6144,64,51200,2048,8,4,4,none,0,"
                 "fp16,7.7,slow\n",
                 found);
  ASSERT_EQ(found.sources.size(), 1);
  ASSERT_EQ(found.sources[0].rows.size(), 2);
  EXPECT_EQ(found.sources[0].rows[0].quantity, Quantity::kLayerForward);
  EXPECT_DOUBLE_EQ(found.sources[0].rows[1].value, 11.9e-3);
  EXPECT_THAT(Unreadable(found),
              ElementsAre("l.csv:3: backward_ms: is \"slow\"; must be a number "
                          "above 0"));
}

TEST(VtrainTest, RowsBecomeJobsAndDamagedOnesAreNamed) {
  const Measurements found =
      Read(ReadVtrain,
           {{"vtrain-a100-iteration-times/single_node.csv",
             "gpus,global_batch,micro_batch,hidden,heads,layers,seq_len,tp,dp,"
             "pp,iter_time_ms\n"
             "4,16,4,2048,16,24,1024,1,2,2,410.490577\n"
             "8,16,4,2048,16,24,1024,1,2,2,410.490577\n"
             "4,16,4,2048,16,24,1024,1,2,2,\n"
             "4,16,4,-2048,16,24,1024,1,2,2,3\n"}});
  EXPECT_EQ(found.sources[0].rows.size(), 1);
  EXPECT_DOUBLE_EQ(found.sources[0].rows[0].value, 0.410490577);
  EXPECT_EQ(found.sources[0].rows[0].family, "4 GPUs");
  EXPECT_THAT(ClusterTextOf(found), HasSubstr("nodes: 1"));
  EXPECT_THAT(
      Unreadable(found),
      ElementsAre("single_node.csv:3: gpus: is 8; must be tp * dp * pp, which "
                  "is 4",
                  "single_node.csv:4: iter_time_ms: is missing",
                  "single_node.csv:5: hidden: is \"-2048\"; must be a whole "
                  "number from 1 to 4294967295"));
  EXPECT_THAT(found.missing,
              ElementsAre("vtrain-a100-iteration-times/multi_node.csv"));
}

constexpr char kMlperf[] =
    "id,benchmark,nodes,gpus_per_node,gpus,gpu,gbs,seq,tp,pp,vp,cp,mbs,config,"
    "config_match,median_s\n";

Measurements ReadMlperfRow(const std::string& row, const std::string& env) {
  return Read(ReadMlperf,
              {{"mlperf-llm-step-times/index.csv", kMlperf + row + "\n"},
               {"mlperf-llm-step-times/config/run.env.txt", env}});
}

TEST(MlperfTest, SettingsAndNamesSayHowARunWasSplit) {
  const Measurements found = ReadMlperfRow(
      "run,llama31_405b,64,8,512,NVIDIA H100-SXM5-80GB,1152,8192,8.0,8.0,8.0,"
      "2.0,1.0,config_DGXH100.sh,exact,55.1",
      "# settings\nASYM_PP_EMBED=True\nTP_PP_DP_MAPPING=True\n"
      "TP_COMM_OVERLAP=True\nWALLTIME=1\n");
  ASSERT_THAT(Unreadable(found), IsEmpty());
  EXPECT_EQ(found.sources[0].rows[0].family, "h100 fp8");
  EXPECT_EQ(found.sources[0].rows[0].value, 55.1);
  const std::string job = JobOf(found);
  for (const char* line : {"data: 4", "context: 2", "embedding_as_layer: true",
                           "rank_order: tensor-pipeline-data", "precision: fp8",
                           "layers: 126", "sharding: zero1", "tensor: true"}) {
    EXPECT_THAT(job, HasSubstr(line));
  }
  EXPECT_THAT(job, Not(HasSubstr("head_as_layer")));
}

TEST(MlperfTest, GuessedSettingsStandApart) {
  const Measurements found = ReadMlperfRow(
      "run,llama31_8b,1,8,8,NVIDIA Blackwell GPU (B200-SXM-180GB),16,8192,1,1,"
      ",1,2,config_8b_fp4.sh,by node count,0.45",
      "");
  EXPECT_THAT(found.sources[0].rows, IsEmpty());
  const Source& guessed = found.sources.at(1);
  EXPECT_EQ(guessed.name, "MLPerf Llama 3.1 8B, settings guessed");
  ASSERT_EQ(guessed.rows.size(), 1);
  EXPECT_EQ(guessed.rows[0].family, "b200 fp4");
}

TEST(MlperfTest, WhatIsNotPublishedOrNotKnownIsNotCovered) {
  EXPECT_THAT(ReadMlperfRow("run,llama31_8b,8,8,64,NVIDIA H200-SXM5-141GB,32,"
                            "8192,,,,,,,none,0.35",
                            "")
                  .sources.at(1)
                  .rows.at(0)
                  .not_covered,
              HasSubstr("was not published"));
  EXPECT_THAT(ReadMlperfRow("run,llama31_8b,8,8,64,NVIDIA Z1,64,8192,1,1,1,1,1,"
                            "c.sh,exact,0.35",
                            "")
                  .sources.back()
                  .rows.at(0)
                  .not_covered,
              HasSubstr("no NVIDIA Z1"));
}

TEST(MlperfTest, RowsThatDoNotAddUpAreNamed) {
  const Measurements found = ReadMlperfRow(
      "run,bert,64,8,500,NVIDIA H100-SXM5-80GB,1152,8192,8,8,8,2,1,c.sh,exact,"
      "55.1",
      "");
  EXPECT_THAT(Unreadable(found),
              ElementsAre(HasSubstr("benchmark: is \"bert\""),
                          HasSubstr("gpus: is 500; must be a multiple")));
}

Measurements ReadSimumaxRows(const std::string& rows) {
  return Read(ReadSimumax,
              {{"throughput-tables/simumax-b200/rows.json", rows},
               {"model-configs/SimuMax/tiny.json",
                R"({"hidden_size": 4096, "head_num": 32, "kv_head_num": 8,
                    "head_size": 128, "intermediate_size": 11008,
                    "layer_num": 8, "vocab_size": 32000, "use_swiglu": true})"},
               {"model-configs/SimuMax/mixture.json", R"({"expert_num": 8})"}});
}

std::string SimumaxRow(const std::string& name, const std::string& model) {
  return R"({"case": ")" + name + R"(", "model": ")" + model +
         R"(", "layer_num": 12, "mbc": 4, "vp_size": 1, "real_ms": 1758.0,
             "real_alloc_gib": 68.5})";
}

TEST(SimumaxTest, NamesOfCasesSayTheLayout) {
  const Measurements found = ReadSimumaxRows(
      "[" +
      SimumaxRow("llama3_70b_l12_tp2_cp4_pp1_dp1_seq32768_mbc4_cef",
                 "llama3-70b") +
      "]");
  ASSERT_THAT(Unreadable(found), IsEmpty());
  const std::string job = JobOf(found);
  for (const char* line :
       {"layers: 12", "hidden: 8192", "tensor: 2", "context: 4",
        "sequence: 32768", "global_batch: 4", "fused_cross_entropy: true",
        "sharding: zero1", "framework: megatron-core",
        "context_kind: all-to-all"}) {
    EXPECT_THAT(job, HasSubstr(line));
  }
  EXPECT_DOUBLE_EQ(found.sources[0].rows[0].value, 1.758);
  EXPECT_EQ(found.sources[1].rows[0].quantity, Quantity::kPeakMemory);
  EXPECT_DOUBLE_EQ(found.sources[1].rows[0].value, 68.5 * (1 << 30));
}

TEST(SimumaxTest, ModelsComeFromFilesAndMixturesAreNotCovered) {
  const Measurements found =
      ReadSimumaxRows("[" + SimumaxRow("a_tp1_pp1_dp8", "tiny") + "," +
                      SimumaxRow("b_tp1_ep8_pp1_dp8", "mixture") + "," +
                      SimumaxRow("c_tp1_pp1_dp8", "nobody") + "]");
  EXPECT_THAT(JobOf(found), HasSubstr("ffn_hidden: 11008"));
  EXPECT_THAT(JobOf(found), HasSubstr("sequence: 4096"));
  EXPECT_THAT(JobOf(found), HasSubstr("global_batch: 32"));
  EXPECT_EQ(found.sources[0].rows[0].not_covered, "");
  EXPECT_EQ(found.sources[0].rows[1].not_covered, "a mixture of experts");
  EXPECT_EQ(found.sources[0].rows[2].not_covered,
            "no dense model is known as nobody");
}

TEST(SimumaxTest, StagesSendBesideComputationWhereTheRowSaysSo) {
  const std::string row = SimumaxRow("a_tp1_pp2", "tiny");
  EXPECT_THAT(JobOf(ReadSimumaxRows("[" + row + "]")),
              ::testing::Not(HasSubstr("overlap")));
  const auto saying = [&row](const std::string& value) {
    return ReadSimumaxRows("[{\"pp_comm_async\": " + value + "," +
                           row.substr(1) + "]");
  };
  EXPECT_THAT(JobOf(saying("false")), HasSubstr("pipeline: false"));
  EXPECT_THAT(JobOf(saying("true")), HasSubstr("pipeline: true"));
  EXPECT_THAT(Unreadable(saying("1")),
              ElementsAre("rows.json[0]: pp_comm_async: is 1; must be true or "
                          "false"));
}

// As published it has 8.
TEST(SimumaxTest, The405bRanWithTheKeyValueHeadsOfItsFile) {
  EXPECT_THAT(
      JobOf(ReadSimumaxRows("[" + SimumaxRow("a_tp1", "llama3-405b") + "]")),
      HasSubstr("kv_heads: 16"));
}

TEST(SimumaxTest, ModelsOfOtherFoldersComeFromTheRepository) {
  EXPECT_THAT(
      JobOf(ReadSimumaxRows("[" + SimumaxRow("a_tp1", "llama2-70b") + "]")),
      HasSubstr("ffn_hidden: 28672"));
}

TEST(SimumaxTest, DamagedRowsAreNamed) {
  const Measurements found = ReadSimumaxRows(
      R"([{"case": 7, "model": "tiny", "layer_num": 0, "mbc": 1.5,
           "vp_size": 1, "real_ms": -1}])");
  EXPECT_THAT(found.sources[0].rows, IsEmpty());
  EXPECT_THAT(Unreadable(found),
              ElementsAre("rows.json[0]: case: is 7; must be a text",
                          "rows.json[0]: mbc: is 1.5; must be a whole number "
                          "of at least 1",
                          "rows.json[0]: layer_num: is 0; must be a whole "
                          "number of at least 1",
                          "rows.json[0]: real_ms: is -1; must be a number "
                          "above 0",
                          "rows.json[0]: real_alloc_gib: is missing; must be "
                          "a number above 0"));
}

TEST(LlmFoundryTest, RowsBecomeJobsAndOddOnesAreNamed) {
  const Measurements found = Read(
      ReadLlmFoundry,
      {{"throughput-tables/llm-foundry/fsdp_throughput.csv",
        "model,seq_len,gpus,gpu,micro_batch,grad_accum,global_batch,"
        "samples_per_s,tokens_per_s,precision,sharding,act_ckpt,num_params\n"
        "70b,2048,512,h100_80gb,8,1,4096,251,515636,amp_bf16,FULL_SHARD,True,"
        "64862437376\n"
        "70b,2048,512,h100_80gb,8,1,4096,251,515636,amp_bf16,FULL_SHARD,True,"
        "51862437376\n"
        "9b,2048,512,v100,8,1,4096,251,515636,int8,NO_SHARD,Maybe,1\n"}});
  ASSERT_EQ(found.sources[0].rows.size(), 1);
  // 251 samples a second would be 16.32 s.
  EXPECT_NEAR(found.sources[0].rows[0].value, 16.268, 0.001);
  const std::string job = JobOf(found);
  for (const char* line : {"layers: 80", "data: 512", "sharding: zero3",
                           "recompute: full", "framework: fsdp"}) {
    EXPECT_THAT(job, HasSubstr(line));
  }
  EXPECT_THAT(
      Unreadable(found),
      ElementsAre(HasSubstr(":3: num_params: is 51862437376; must be within"),
                  HasSubstr(":4: model: is \"9b\""),
                  HasSubstr(":4: sharding: is \"NO_SHARD\""),
                  HasSubstr(":4: precision: is \"int8\""),
                  HasSubstr(":4: act_ckpt: is \"Maybe\""),
                  HasSubstr(":4: gpu: is \"v100\"")));
}

Measurements ReadTitan(const std::string& text) {
  return Read(ReadTorchtitan, {{"throughput-tables/torchtitan/t.md", text}});
}

TEST(TorchtitanTest, TitleAndCellsMakeAJob) {
  const Measurements found = ReadTitan(
      "| Other | table |\n| --- | --- |\n| a | 1 |\n\n"
      "**Table 5** 3D parallelism (FSDP + TP + PP) + torch.compile + Float8 + "
      "AsyncTP. Llama 3.1 405B model. 512 GPUs (FSDP 8, TP 8, PP8). Local "
      "batch size 32, global batch size 256. Full activation checkpointing.\n\n"
      "| Schedule | TPS/GPU | Memory(GiB) |\n| ----- | ----: | ----: |\n"
      "| 1F1B | 100 | 82.5 |\n| Interleaved 1F1B | 1,128 | 72.7 |\n");
  ASSERT_THAT(Unreadable(found), IsEmpty());
  ASSERT_EQ(found.sources[0].rows.size(), 2);
  const std::string job = JobOf(found);
  for (const char* line :
       {"layers: 126", "tensor: 8", "pipeline: 8", "data: 8",
        "global_batch: 256", "micro_batch: 4", "precision: fp8",
        "compiled: true", "sharding: zero2", "recompute: full"}) {
    EXPECT_THAT(job, HasSubstr(line));
  }
  EXPECT_DOUBLE_EQ(found.sources[0].rows[0].value, 256.0 * 8192 / (100 * 512));
  EXPECT_EQ(
      found.sources[0].rows[1].question.job().parallelism().virtual_stages(),
      2);
  EXPECT_DOUBLE_EQ(found.sources[0].rows[1].value, 256.0 * 8192 / (1128 * 512));
}

TEST(TorchtitanTest, CellsStandAboveTheTitle) {
  const Measurements found = ReadTitan(
      "**2** FSDP + CP. Llama 3.1 8B model. 8 H100 GPUs. Local batch size 1. "
      "Selective activation checkpointing.\n\n"
      "| Parallelism | Sequence Length | TPS/GPU |\n| ---- | ---: | ---: |\n"
      "| FSDP 4, CP 2 | 65536 | 2,540 |\n");
  const std::string job = JobOf(found);
  for (const char* line : {"context: 2", "data: 4", "sequence: 65536",
                           "precision: bf16", "recompute_layers: 16"}) {
    EXPECT_THAT(job, HasSubstr(line));
  }
}

TEST(TorchtitanTest, RowsThatCannotBeUnderstoodAreNamed) {
  const Measurements found = ReadTitan(
      "**Table 1** Llama 3.1 8B model. 8 GPUs.\n\n"
      "| Techniques | TPS/GPU |\n| --- | --- |\n| FSDP | fast |\n\n"
      "**Table 2** Llama 3.1 9B model. 8 GPUs.\n\n"
      "| Techniques | TPS/GPU |\n| --- | --- |\n| FSDP | 10 |\n\n"
      "**Table 3** Llama 3.1 8B model.\n\n"
      "| Techniques | TPS/GPU |\n| --- | --- |\n| FSDP | 10 |\n");
  EXPECT_THAT(Unreadable(found),
              ElementsAre("t.md:5: TPS/GPU: is \"fast\"; must be a number "
                          "above 0",
                          "t.md:11: title: must name Llama 3.1 8B, 70B or 405B",
                          "t.md:17: title: lacks a number of GPUs"));
}

TEST(BigscienceTest, TheMedianOfFullBatchesCounts) {
  const auto read = [](const std::string& text) {
    return Read(
        ReadBigscience,
        {{"megatron-log-lines-bigscience/tr11-176B-ml-chronicles.log", text}});
  };
  const Measurements found = read(
      "x | elapsed time per iteration (s): 105.22 | global batch size: 2048 |\n"
      "x | elapsed time per iteration (ms): 104000 | global batch size: 2048 "
      "|\n"
      "x | elapsed time per iteration (s): 111.0 | global batch size: 2048 |\n"
      "x | elapsed time per iteration (s): 9.0 | global batch size: 192 |\n"
      "x | elapsed time per iteration (s): slow | global batch size: 2048 |\n");
  ASSERT_THAT(Unreadable(found), IsEmpty());
  EXPECT_DOUBLE_EQ(found.sources.at(0).rows.at(0).value, 105.22);
  EXPECT_THAT(JobOf(found), HasSubstr("head_as_layer: true"));
  EXPECT_THAT(Unreadable(read("nothing\n")),
              ElementsAre(HasSubstr("has no iteration of a batch of 2048")));
}

TEST(ModelFilesTest, FieldsAreCountedByHand) {
  const Measurements found = Read(
      ReadModelFiles,
      {{"model-configs/calculon/a.json",
        R"({"hidden": 8, "feedforward": 32, "attn_heads": 2, "attn_size": 4,
            "num_blocks": 1})"},
       {"model-configs/llm-analysis/gpu.json", R"({"mem_per_GPU_in_GB": 28})"},
       {"model-configs/SimuMax/m.json",
        R"({"hidden_size": 8, "head_num": 2, "kv_head_num": 1, "head_size": 4,
            "intermediate_size": 16, "moe_ffn_hidden_size": 4, "layer_num": 3,
            "dense_layers": 1, "expert_num": 5, "vocab_size": 10,
            "use_swiglu": true})"}});
  ASSERT_THAT(Unreadable(found), IsEmpty());
  ASSERT_EQ(found.sources[0].rows.size(), 2);
  // Attention 4 * 64 + 32, feed-forward 2 * 256 + 40, norms 3 * 16, one word.
  EXPECT_EQ(found.sources[0].rows[0].value, 288 + 552 + 48 + 8);
  // Attention 8 * 4 * 6, two norms; a dense and two mixed layers; embedding,
  // head and the last norm.
  EXPECT_EQ(found.sources[0].rows[1].value,
            3 * (192 + 16) + 3 * 8 * 16 + 2 * (40 + 5 * 3 * 8 * 4) + 160 + 8);
}

TEST(ModelFilesTest, FieldsThatAreWrongAreNamed) {
  const Measurements found = Read(
      ReadModelFiles, {{"model-configs/calculon/a.json",
                        R"({"hidden": -8, "feedforward": "x", "attn_heads": 2,
                 "attn_size": 1.5})"}});
  EXPECT_THAT(
      Unreadable(found),
      ElementsAre(
          "a.json: num_blocks: is missing; must be a whole number of at least "
          "1",
          "a.json: hidden: is -8; must be a whole number of at least 1",
          "a.json: attn_size: is 1.5; must be a whole number of at least 1",
          "a.json: feedforward: is \"x\"; must be a whole number of at least "
          "1"));
}

}  // namespace
}  // namespace prism::validate
