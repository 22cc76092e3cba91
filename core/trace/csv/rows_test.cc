#include "core/trace/csv/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace prism::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;
using Rows = std::vector<std::pair<int64_t, std::vector<std::string>>>;

Rows Split(const std::vector<std::string>& blocks) {
  Rows rows;
  RowSplitter splitter(
      [&](int64_t line, std::span<const std::string_view> fields) {
        rows.emplace_back(
            line, std::vector<std::string>(fields.begin(), fields.end()));
      });
  for (const std::string& block : blocks) splitter.Feed(block);
  splitter.Finish();
  return rows;
}

TEST(RowsTest, RowsAreSplitAtCommas) {
  EXPECT_THAT(Split({"a,b\n1,\n"}), ElementsAre(Pair(1, ElementsAre("a", "b")),
                                                Pair(2, ElementsAre("1", ""))));
}

TEST(RowsTest, BlocksMayEndAnywhere) {
  const std::string text = "a,b\r\n\n12,\"3,4\"\n5,6";
  const Rows whole = Split({text});
  ASSERT_THAT(whole, SizeIs(3));
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Split({text.substr(0, cut), text.substr(cut)}), whole) << cut;
  }
}

TEST(RowsTest, BlankLinesCountButAreNoRows) {
  EXPECT_THAT(Split({"a\n\n\r\nb\n"}), ElementsAre(Pair(1, ElementsAre("a")),
                                                   Pair(4, ElementsAre("b"))));
}

TEST(RowsTest, QuotesHoldCommasAndQuotes) {
  EXPECT_THAT(Split({"\"a,b\",\"say \"\"x\"\"\"\n"}),
              ElementsAre(Pair(1, ElementsAre("a,b", "say \"x\""))));
}

TEST(RowsTest, AnOpenQuoteEndsWithItsLine) {
  EXPECT_THAT(
      Split({"\"a,b\nc,d\n"}),
      ElementsAre(Pair(1, ElementsAre("a,b")), Pair(2, ElementsAre("c", "d"))));
}

TEST(RowsTest, AMarkOfTheEncodingIsNoText) {
  EXPECT_THAT(Split({"\xEF\xBB\xBF"
                     "a\n"}),
              ElementsAre(Pair(1, ElementsAre("a"))));
}

TEST(RowsTest, EndlessLinesTakeNoMemory) {
  const std::string block(1 << 14, 'x');
  const Rows rows = Split(std::vector<std::string>(64, block));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].second[0].size(), RowSplitter::kMostLineBytes);
}

}  // namespace
}  // namespace prism::trace
