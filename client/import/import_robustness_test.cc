// Input of any kind ends in jobs or in violations, never in a crash.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "client/import/golden_table.h"
#include "client/import/huggingface.h"
#include "client/import/megatron.h"

namespace prism::import {
namespace {

using Random = std::mt19937_64;

size_t Below(size_t bound, Random& random) {
  return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
}

std::string RandomBytes(size_t size, Random& random) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(Below(256, random));
  return bytes;
}

// Characters that mean something to a shell or to JSON.
std::string RandomSyntax(size_t size, Random& random) {
  static constexpr char kCharacters[] = "\"'`$(){}[]\\#=;&|<>-:+*/% \n\tA1_,";
  std::string text(size, '\0');
  for (char& c : text) c = kCharacters[Below(sizeof(kCharacters) - 1, random)];
  return text;
}

// `text` cut off, with a piece of itself or of syntax put in somewhere.
std::string Mutate(const std::string& text, Random& random) {
  std::string mutated = text.substr(0, 1 + Below(text.size(), random));
  const std::string piece =
      Below(2, random) == 0
          ? text.substr(Below(text.size(), random), Below(80, random))
          : RandomSyntax(1 + Below(8, random), random);
  mutated.insert(Below(mutated.size(), random), piece);
  return mutated;
}

void ExpectJobsOrViolations(const Imported& imported,
                            const base::Violations& violations,
                            const std::string& text) {
  EXPECT_NE(imported.jobs.empty(), violations.empty()) << text;
}

void ImportScript(const std::string& text) {
  base::Violations violations;
  const Settings settings = Settings::Parse({}, violations);
  ExpectJobsOrViolations(ImportMegatron({{"x", text}}, settings, violations),
                         violations, text);
}

void ImportConfig(const std::string& text) {
  base::Violations violations;
  const Settings settings = Settings::Parse({}, violations);
  ExpectJobsOrViolations(ImportHuggingFace({"x", text}, settings, violations),
                         violations, text);
}

TEST(ImportRobustnessTest, TakesAnyBytes) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const size_t size = Below(400, random);
    const std::string text =
        i % 2 == 0 ? RandomBytes(size, random) : RandomSyntax(size, random);
    ImportScript(text);
    ImportConfig(text);
  }
}

TEST(ImportRobustnessTest, TakesDamagedScripts) {
  Random random(2);
  for (const char* name : {"Megatron-LM/examples-gptoss--02_train.sh.txt",
                           "Megatron-LM/examples-llama--train_llama3_8b_h100_"
                           "fp8.sh.txt",
                           "Megatron-LM/examples-megatron_fsdp--train_llama3_"
                           "8b_fsdp_h100_fp8.sh.txt",
                           "bigscience/train-tr11-176B-ml--tr11-176B-ml.slurm."
                           "txt",
                           "Megatron-LM/academic_paper_scripts-sc21--run_table_"
                           "1.sh.txt"}) {
    const std::string text =
        ReadSourceFile(absl::StrCat("tests/data/job-specs/", name));
    for (int i = 0; i < 300; ++i) ImportScript(Mutate(text, random));
  }
}

TEST(ImportRobustnessTest, TakesDamagedConfigurations) {
  Random random(3);
  for (const char* name : {"llama-3-8b", "falcon-40b", "opt-6.7b", "gpt2"}) {
    const std::string text =
        ReadSourceFile(absl::StrCat("tests/data/huggingface/", name, ".json"));
    for (int i = 0; i < 500; ++i) ImportConfig(Mutate(text, random));
  }
}

TEST(ImportRobustnessTest, TakesNestingWithoutEnd) {
  for (const std::string piece : {"${A:-", "$(", "\"", "'", "`", "A=(\n", "$((",
                                  "(", "{", "A=$A", "<<X\n", "[", "{\"a\":"}) {
    std::string text;
    while (text.size() < kMostScriptBytes - piece.size()) text += piece;
    ImportScript(text);
    ImportConfig(text);
  }
}

}  // namespace
}  // namespace prism::import
