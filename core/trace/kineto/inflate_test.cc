#include "core/trace/kineto/inflate.h"

#include <gtest/gtest.h>

#include <string>

#include "core/trace/kineto/test_support.h"

namespace prism::kineto {
namespace {

struct Inflated {
  std::string text;
  absl::Status status;
};

Inflated InflateAll(std::string_view bytes, size_t block) {
  Inflated result;
  const auto take = [&result](std::string_view part) {
    result.text.append(part);
  };
  Inflater inflater;
  for (size_t at = 0; at < bytes.size() && result.status.ok(); at += block)
    result.status = inflater.Feed(bytes.substr(at, block), take);
  if (result.status.ok()) result.status = inflater.Finish(take);
  return result;
}

std::string LongText() {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i * 7919 % 10007);
  return text;
}

TEST(InflaterTest, GivesBackWhatWasCompressedWhateverTheBlocks) {
  const std::string text = LongText();
  const std::string bytes = Gzip(text);
  for (const size_t block : {size_t{1}, size_t{2}, size_t{1000}, bytes.size()})
    EXPECT_EQ(InflateAll(bytes, block).text, text) << block;
}

TEST(InflaterTest, PassesPlainBytes) {
  for (const std::string text : {"", "{", "{}", "\x1f", "\x1fz123"}) {
    for (const size_t block : {1, 2, 100}) {
      const Inflated result = InflateAll(text, block);
      EXPECT_TRUE(result.status.ok());
      EXPECT_EQ(result.text, text);
    }
  }
}

TEST(InflaterTest, ReadsStreamsInARow) {
  const Inflated result = InflateAll(Gzip("one ") + Gzip("two"), 3);
  EXPECT_TRUE(result.status.ok());
  EXPECT_EQ(result.text, "one two");
}

TEST(InflaterTest, SaysWhereDataEndsEarly) {
  const std::string text = LongText();
  const std::string bytes = Gzip(text);
  const Inflated result = InflateAll(bytes.substr(0, bytes.size() / 2), 100);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_GT(result.text.size(), text.size() / 4);
  EXPECT_EQ(result.text, text.substr(0, result.text.size()));
}

TEST(InflaterTest, StopsAtDamage) {
  std::string bytes = Gzip(LongText());
  for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 50; ++i)
    bytes[i] = static_cast<char>(~bytes[i]);
  EXPECT_EQ(InflateAll(bytes, 100).status.code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace prism::kineto
