#include "core/trace/chakra/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace prism::chakra {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

struct Cut {
  std::vector<std::pair<std::string, int64_t>> messages;
  kineto::Damage damage;

  std::string What() const {
    return damage.count() == 0 ? "" : damage.named()[0].what;
  }
};

Cut CutUp(std::string_view bytes, size_t block = 1) {
  Cut cut;
  Frames frames(cut.damage);
  for (size_t at = 0; at < bytes.size(); at += block) {
    frames.Feed(bytes.substr(at, block),
                [&cut](std::string_view message, int64_t byte) {
                  cut.messages.emplace_back(message, byte);
                });
  }
  frames.Finish();
  return cut;
}

TEST(FramesTest, CutsAtLengthsWhateverTheBlocks) {
  const std::string longer(300, 'x');
  const std::string bytes =
      "\x03"
      "abc"
      "\xac\x02" +
      longer + "\x01z";
  for (const size_t block : {1, 2, 7, 1000}) {
    const Cut cut = CutUp(bytes, block);
    EXPECT_THAT(cut.messages,
                ElementsAre(Pair("abc", 1), Pair(longer, 6), Pair("z", 307)));
    EXPECT_EQ(cut.damage.count(), 0);
  }
}

TEST(FramesTest, NamesWhatIsDamaged) {
  EXPECT_EQ(CutUp("").What(), "is empty");
  EXPECT_EQ(CutUp("\x05"
                  "ab")
                .What(),
            "the file ends in a message");
  EXPECT_EQ(CutUp("\x81").What(), "the file ends in a message");
  EXPECT_THAT(CutUp(std::string("\x01"
                                "a\0bcd",
                                6))
                  .What(),
              HasSubstr("a message has 0 bytes"));
  EXPECT_THAT(CutUp("\xff\xff\xff\xff\xff\x01").What(),
              HasSubstr("a length is no varint"));
  EXPECT_THAT(CutUp("\xff\xff\xff\xff\x0f").What(),
              HasSubstr("a message has 4294967295 bytes"));
}

TEST(FramesTest, KeepsWhatCameBeforeDamage) {
  EXPECT_THAT(CutUp(std::string("\x01"
                                "a\x01"
                                "b\0c",
                                6))
                  .messages,
              ElementsAre(Pair("a", 1), Pair("b", 3)));
}

TEST(FramesTest, TakesAnyBytes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes(random() % 80, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 256);
    CutUp(bytes, 1 + random() % 9);
  }
}

}  // namespace
}  // namespace prism::chakra
