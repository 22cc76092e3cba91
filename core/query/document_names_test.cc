#include "core/query/document_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prism/v1/step_profile.pb.h"

namespace prism::query {
namespace {

using testing::ElementsAre;

TEST(EnumWords, AreThoseOfTheDocuments) {
  EXPECT_THAT(EnumWords(*prism::v1::Sync_descriptor()),
              ElementsAre("none", "tensor", "data"));
}

TEST(FindEnumWord, KnowsOnlyWords) {
  const auto& type = *prism::v1::Schedule_descriptor();
  ASSERT_NE(FindEnumWord(type, "1f1b"), nullptr);
  EXPECT_EQ(FindEnumWord(type, "1f1b")->number(),
            prism::v1::SCHEDULE_ONE_FORWARD_ONE_BACKWARD);
  EXPECT_EQ(FindEnumWord(type, ""), nullptr);
  EXPECT_EQ(FindEnumWord(type, "SCHEDULE_GPIPE"), nullptr);
  EXPECT_EQ(FindEnumWord(type, "GPipe"), nullptr);
}

TEST(Keys, AreTheFieldNames) {
  EXPECT_THAT(Keys(*prism::v1::Layout::descriptor()),
              ElementsAre("data", "pipeline", "tensor", "virtual",
                          "microbatches", "shard"));
}

TEST(ClosestWord, FindsMisspellingsAndNothingElse) {
  const std::vector<std::string> keys = {"data", "pipeline", "tensor",
                                         "microbatches"};
  struct Case {
    const char* word;
    const char* closest;
  };
  const Case cases[] = {{"date", "data"},
                        {"pipline", "pipeline"},
                        {"micro_batches", "microbatches"},
                        {"tensors", "tensor"},
                        {"x", ""},
                        {"", ""},
                        {"chips", ""}};
  for (const Case& c : cases) {
    EXPECT_EQ(ClosestWord(c.word, keys), c.closest) << c.word;
  }
  EXPECT_EQ(ClosestWord(std::string(100000, 'd'), keys), "");
}

TEST(Suggestion, IsAQuestionOrNothing) {
  EXPECT_EQ(Suggestion("dat", {"data"}), "; did you mean \"data\"?");
  EXPECT_EQ(Suggestion("zzz", {"data"}), "");
}

}  // namespace
}  // namespace prism::query
