#include "client/validate/validate_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/prismctl/command_run.h"

namespace prism::validate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr char kHeading[] =
    "source,name,accelerator,gpus,gpus_per_node,layers,hidden,heads,"
    "vocabulary,sequence,tensor,pipeline,data,global_batch,micro_batch,"
    "recompute,precision,measured,unit,remark\n";
constexpr char kRow[] =
    "arXiv 2104.04473 table 1,1.7B,a100-80gb-sxm,32,8,24,2304,24,51200,2048,1,"
    "1,32,512,16,full,fp16,3.528,seconds,\n";

prismctl::CommandRun Validate(std::vector<std::string> arguments,
                              const std::string& in = "") {
  return prismctl::RunOne(ValidateCommand(), std::move(arguments), in,
                          "no-server:1");
}

Json ValidateJson(std::vector<std::string> arguments,
                  const std::string& in = "") {
  arguments.insert(arguments.end(), {"--format", "json"});
  const auto run = Validate(std::move(arguments), in);
  EXPECT_EQ(run.code, prismctl::kAnswered) << run.err;
  return Json::parse(run.out, nullptr, false);
}

// A folder of its own with one file.
std::string FolderWith(const std::string& path, const std::string& text) {
  const std::filesystem::path folder = prismctl::TemporaryFile("folder", "");
  std::filesystem::remove(folder);
  std::filesystem::create_directories((folder / path).parent_path());
  std::ofstream(folder / path) << text;
  return folder;
}

TEST(ValidateCommandTest, RunsTheRepositorysRowsWithoutOptions) {
  const Json json = ValidateJson({"--source", "2104.04473 table 1"});
  ASSERT_EQ(json["sources"].size(), 1);
  const Json& source = json["sources"][0];
  EXPECT_EQ(source["source"], "arXiv 2104.04473 table 1");
  EXPECT_EQ(source["count"], 5);
  EXPECT_EQ(source["rows"].size(), 5);
  EXPECT_LT(source["mean_absolute_error"], 0.1);
  EXPECT_EQ(json["unreadable_count"], 0);
  for (const Json& row : source["rows"]) {
    EXPECT_NEAR(
        row["error"],
        row["predicted"].get<double>() / row["measured"].get<double>() - 1,
        1e-12);
  }
}

TEST(ValidateCommandTest, WritesStatisticsOfTheRows) {
  const std::string faster =
      "arXiv 2104.04473 table 1,half,a100-80gb-sxm,32,8,24,2304,24,51200,2048,"
      "1,1,32,512,16,full,fp16,1.764,seconds,\n";
  const Json json =
      ValidateJson({"--rows", "-"}, std::string(kHeading) + kRow + faster);
  const Json& source = json["sources"][0];
  const double whole = source["rows"][0]["error"];
  const double half = source["rows"][1]["error"];
  EXPECT_NEAR(half, 2 * (1 + whole) - 1, 1e-12);
  EXPECT_NEAR(source["bias"], (whole + half) / 2, 1e-12);
  EXPECT_NEAR(source["mean_absolute_error"],
              (std::abs(whole) + std::abs(half)) / 2, 1e-12);
  EXPECT_EQ(source["worst"]["name"], "half");
}

TEST(ValidateCommandTest, RowsOfTheRepositoryAloneCountAsFitted) {
  const std::string other =
      "arXiv 2104.04473 table 1,1.7B,a100-80gb-sxm,32,8,24,2304,24,51200,2048,"
      "1,1,32,512,16,full,fp16,3.6,seconds,\n";
  const Json json =
      ValidateJson({"--rows", "-"}, std::string(kHeading) + kRow + other);
  EXPECT_EQ(json["sources"][0]["fitted_rows"], 1);
  EXPECT_EQ(json["sources"][0]["rows"][0]["fitted"], true);
  EXPECT_EQ(json["sources"][0]["rows"][1]["fitted"], false);
}

TEST(ValidateCommandTest, OneSourceIsShownByRowAndFamily) {
  const auto run = Validate({"--source", "multi-node"});
  EXPECT_THAT(run.out, HasSubstr("3.6B t2 d32 p1 b8"));
  EXPECT_THAT(run.out, HasSubstr("vTrain multi-node, by family"));
  EXPECT_THAT(run.out, Not(HasSubstr("Worst of each")));
}

TEST(ValidateCommandTest, UtilisationsBecomeSeconds) {
  // 137 TFLOP/s on 32 GPUs are the row's 3.528 s where recomputation counts.
  const std::string row =
      "arXiv "
      "2104.04473,1.7B,a100-80gb-sxm,32,8,24,2304,24,51200,2048,1,1,32,512,16,"
      "full,"
      "fp16,137,tflops_per_gpu,recomputation included\n";
  const std::string without =
      "arXiv "
      "2104.04473,1.7B,a100-80gb-sxm,32,8,24,2304,24,51200,2048,1,1,32,512,16,"
      "full,"
      "fp16,137,tflops_per_gpu,model FLOPs\n";
  const Json json =
      ValidateJson({"--rows", "-"}, std::string(kHeading) + row + without);
  const Json& rows = json["sources"][0]["rows"];
  EXPECT_NEAR(rows[0]["measured"], 3.528, 0.001);
  EXPECT_NEAR(rows[1]["measured"].get<double>() / 3.528, 0.78, 0.03);
}

TEST(ValidateCommandTest, DamagedRowsAreNamedAndNeverFatal) {
  const std::string damaged =
      "arXiv 2104.04473 table 1,bad,a100-80gb-sxm,33,8,24,2304,24,51200,2048,1,"
      "1,32,512,16,full,fp16,fast,hours,\n";
  const auto run =
      Validate({"--rows", "-"}, std::string(kHeading) + damaged + kRow);
  EXPECT_EQ(run.code, prismctl::kAnswered);
  EXPECT_THAT(run.out,
              HasSubstr("standard input:2: measured: is \"fast\"; must be a "
                        "number above 0"));
  EXPECT_THAT(run.out, HasSubstr("standard input:2: gpus: is 33; must be"));
  EXPECT_THAT(run.out, HasSubstr("is \"hours\"; must be seconds or"));
  EXPECT_THAT(run.out, HasSubstr("1.7B"));
}

TEST(ValidateCommandTest, RowsThatCannotBeAskedAreLeftOutWithTheReason) {
  const std::string odd =
      "arXiv "
      "2104.04473,odd,a100-80gb-sxm,32,8,24,2304,23,51200,2048,1,1,32,512,16,"
      "full,fp16,"
      "3,seconds,\n";
  const Json json =
      ValidateJson({"--rows", "-"}, std::string(kHeading) + odd + kRow);
  const Json& left_out = json["sources"][0]["left_out"];
  ASSERT_EQ(left_out.size(), 1);
  EXPECT_EQ(left_out[0]["name"], "odd");
  EXPECT_THAT(left_out[0]["reason"].get<std::string>(), HasSubstr("hidden"));
  EXPECT_EQ(json["sources"][0]["mean_absolute_error"], nullptr);
}

TEST(ValidateCommandTest, AFolderIsReadAndWhatItLacksIsSaid) {
  const std::string folder = FolderWith(
      "vtrain-a100-iteration-times/multi_node.csv",
      "params_billion,gpus,global_batch,micro_batch,hidden,heads,layers,"
      "seq_len,tp,dp,pp,iter_time_ms\n"
      "3.6,64,512,8,3072,32,30,2048,2,32,1,3975.2\n"
      "3.6,64,512,8,3072,32,30,2048,2,31,1,3975.2\n");
  const auto run = Validate({"--data", folder});
  EXPECT_EQ(run.code, prismctl::kAnswered) << run.err;
  EXPECT_THAT(run.out, HasSubstr("vTrain multi-node     1"));
  EXPECT_THAT(run.out,
              HasSubstr("gpus: is 64; must be tp * dp * pp, which is 62"));
  EXPECT_THAT(run.out, HasSubstr("mlperf-llm-step-times/index.csv"));
  EXPECT_THAT(run.out, Not(HasSubstr("2104.04473")));
}

TEST(ValidateCommandTest, WrongInputsAreNamed) {
  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::string constants =
      prismctl::TemporaryFile("constants.json", R"({"links.speed": 1})");
  for (const Case& c :
       {Case{{"--data", "/no/folder"}, "/no/folder: does not exist"},
        Case{{"--data", "/dev/null"}, "is a file; must be a folder"},
        Case{{"--data", testing::TempDir()}, "index.csv: is missing"},
        Case{{"--rows", "/no/rows.csv"}, "/no/rows.csv: does not exist"},
        Case{{"--source", "nobody"}, "--source: is \"nobody\"; must be part"},
        Case{{"--constants", constants}, "links.speed: is not known"}}) {
    const auto run = Validate(c.arguments);
    EXPECT_EQ(run.code, prismctl::kWrongInput) << c.message;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(c.message));
  }
}

TEST(ValidateCommandTest, ConstantsReplaceTheModelsOwn) {
  const auto seconds = [](const std::string& constants) {
    const std::string path =
        prismctl::TemporaryFile("constants.json", constants);
    const Json json = ValidateJson({"--rows", "-", "--constants", path},
                                   std::string(kHeading) + kRow);
    return json["sources"][0]["rows"][0]["predicted"].get<double>();
  };
  const double usual = seconds("{}");
  EXPECT_GT(seconds(R"({"operators.launch_seconds": 0.001})"), 1.2 * usual);
}

TEST(ValidateCommandTest, ConstantsMustBeNumbersInRange) {
  const auto error = [](const std::string& text) {
    return Validate({"--constants", "-"}, text).err;
  };
  EXPECT_THAT(error("[]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(error(R"({"operators.launch_seconds": "x"})"),
              HasSubstr("launch_seconds: is \"x\"; must be a number"));
  EXPECT_THAT(error(R"({"operators.launch_seconds": -1})"),
              HasSubstr("must be from"));
}

}  // namespace
}  // namespace prism::validate
