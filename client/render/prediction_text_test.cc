#include "client/render/prediction_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "client/render/bars.h"
#include "client/render/golden.h"

namespace prism::render {
namespace {

using prism::v1::Prediction;
using ::testing::HasSubstr;
using ::testing::Not;

Prediction ReadPrediction(const std::string& name) {
  return ReadTestMessage<Prediction>(name);
}

const Terminal kPlain = {.columns = 80, .utf8 = false, .colour = false};
const Terminal kBlocks = {.columns = 80, .utf8 = true, .colour = false};

TEST(PredictionTextTest, AJobInAscii) {
  ExpectGolden(PredictionText(ReadPrediction("job.textproto"), kPlain),
               "job_ascii.txt");
}

TEST(PredictionTextTest, AJobInBlocks) {
  ExpectGolden(PredictionText(ReadPrediction("job.textproto"), kBlocks),
               "job_blocks.txt");
}

TEST(PredictionTextTest, AJobOnANarrowTerminal) {
  const Terminal narrow = {.columns = 40, .utf8 = true, .colour = false};
  ExpectGolden(PredictionText(ReadPrediction("job.textproto"), narrow),
               "job_narrow.txt");
}

TEST(PredictionTextTest, AJobInColour) {
  const Terminal colour = {.columns = 80, .utf8 = true, .colour = true};
  ExpectGolden(PredictionText(ReadPrediction("job.textproto"), colour),
               "job_colour.txt");
}

TEST(PredictionTextTest, AProfileHasNoSectionsOfAJob) {
  ExpectGolden(PredictionText(ReadPrediction("profile.textproto"), kBlocks),
               "profile_blocks.txt");
}

TEST(PredictionTextTest, AConstantStepHasNoHistogram) {
  ExpectGolden(PredictionText(ReadPrediction("constant.textproto"), kBlocks),
               "constant_blocks.txt");
}

TEST(PredictionTextTest, SaysWhatOfHiddenCommunicationIsExposed) {
  Prediction prediction = ReadPrediction("job.textproto");
  EXPECT_THAT(PredictionText(prediction, kPlain), Not(HasSubstr("exposed")));
  prism::v1::BreakdownEntry& entry = *prediction.mutable_breakdown(4);
  ASSERT_EQ(entry.kind(), "data_communication");
  entry.set_busy_seconds(0.5);
  entry.set_mean_seconds(0.2031);
  entry.set_mean_busy_seconds(0.5213);
  EXPECT_THAT(
      PredictionText(prediction, kPlain),
      HasSubstr("\nCommunication that runs beside computation\n"
                "                         runs     mean  exposed     mean\n"
                "  data communication  0.500 s  0.521 s  0.180 s  0.203 s\n"));
}

TEST(PredictionTextTest, NoLineIsWiderThanTheTerminal) {
  const Prediction prediction = ReadPrediction("job.textproto");
  for (int columns = 60; columns <= kMostColumns; ++columns) {
    std::istringstream text(
        PredictionText(prediction, {.columns = columns, .utf8 = true}));
    for (std::string line; std::getline(text, line);) {
      EXPECT_LE(DisplayWidth(line), columns) << line;
    }
  }
}

TEST(PredictionTextTest, MemoryBeyondTheCapacitySaysSo) {
  prism::v1::Memory memory = ReadPrediction("job.textproto").memory();
  memory.set_capacity_bytes_per_gpu(memory.peak_bytes_per_gpu() / 2);
  EXPECT_THAT(MemoryText(memory, kPlain), HasSubstr("(200%)"));
}

TEST(PredictionTextTest, MemoryThatIsShortSaysWhatToChange) {
  prism::v1::Memory memory = ReadPrediction("job.textproto").memory();
  memory.set_margin_bytes_per_gpu(-5e9);
  memory.set_fit(prism::v1::MEMORY_FIT_DOES_NOT_FIT);
  memory.set_advice("set training.recompute to full");
  EXPECT_THAT(MemoryText(memory, kPlain),
              HasSubstr("short: set training.recompute to full"));
  memory.set_margin_bytes_per_gpu(1e9);
  memory.set_fit(prism::v1::MEMORY_FIT_TIGHT);
  EXPECT_THAT(MemoryText(memory, kPlain), HasSubstr("tight, only"));
}

TEST(PredictionTextTest, OneStageHasNoRange) {
  prism::v1::Memory memory = ReadPrediction("job.textproto").memory();
  EXPECT_THAT(MemoryText(memory, kPlain), HasSubstr("stages from"));
  memory.mutable_stages()->RemoveLast();
  EXPECT_THAT(MemoryText(memory, kPlain), Not(HasSubstr("stages from")));
}

TEST(PredictionTextTest, NoMemoryNoText) {
  EXPECT_EQ(MemoryText(prism::v1::Memory(), kPlain), "");
}

TEST(PredictionTextTest, WithoutColourThereAreNoEscapes) {
  EXPECT_THAT(PredictionText(ReadPrediction("job.textproto"), kBlocks),
              Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace prism::render
