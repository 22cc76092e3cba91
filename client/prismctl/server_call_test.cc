#include "client/prismctl/server_call.h"

#include <gtest/gtest.h>

#include <sstream>

namespace prism::prismctl {
namespace {

bool Names(const std::string& value, const std::string& server) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  return NamesStoredCluster(value,
                            {in, out, err, {.server = server}, {}, false});
}

TEST(ServerCallTest, ANameIsThatOfAStoredClusterOnlyWithAServer) {
  EXPECT_TRUE(Names("no-such-file", "prism:7450"));
  EXPECT_FALSE(Names("no-such-file", ""));
}

TEST(ServerCallTest, WhatCouldNotBeANameIsAFile) {
  for (const char* file : {"-", "", "cluster.yaml", "./cluster", "Cluster"}) {
    EXPECT_FALSE(Names(file, "prism:7450")) << file;
  }
}

TEST(ServerCallTest, AnExistingFileWins) {
  const std::string folder = ::testing::TempDir();
  EXPECT_FALSE(Names(folder, "prism:7450"));
}

}  // namespace
}  // namespace prism::prismctl
