#include "server/page_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prism::server {
namespace {

TEST(PageTokenTest, GivesThePositionBack) {
  for (const std::string& position :
       {std::string(), std::string("cluster-7"), std::string("\0\xff\n", 3)}) {
    EXPECT_EQ(ReadPageToken("q", MakePageToken("q", position)), position);
  }
}

TEST(PageTokenTest, FitsIntoAUrl) {
  for (int i = 0; i < 300; ++i) {
    EXPECT_THAT(MakePageToken("q", std::string(i % 7, static_cast<char>(i))),
                testing::MatchesRegex("[A-Za-z0-9_-]+"));
  }
}

TEST(PageTokenTest, IsForOneQueryOnly) {
  const std::string token = MakePageToken("q", "7");
  EXPECT_EQ(ReadPageToken("other", token), std::nullopt);
  EXPECT_EQ(ReadPageToken("q7", MakePageToken("q", "77")), std::nullopt);
}

TEST(PageTokenTest, WhatWasNotMadeIsNotRead) {
  std::string token = MakePageToken("q", "cluster-7");
  for (const char* wrong : {"", "x", "!!!", "AAAAAAAAAAAAAAAA", "7"}) {
    EXPECT_EQ(ReadPageToken("q", wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(ReadPageToken("q", token + "="), std::nullopt);
  token[token.size() / 2] ^= 1;
  EXPECT_EQ(ReadPageToken("q", token), std::nullopt);
}

}  // namespace
}  // namespace prism::server
