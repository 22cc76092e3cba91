#include "client/prismctl/node_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "client/prismctl/command_run.h"

namespace prism::prismctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Nodes = std::vector<uint32_t>;

prism::v1::Cluster NamedCluster() {
  prism::v1::Cluster cluster;
  for (const char* name : {"a", "b", "0", "x-1"}) cluster.add_node_names(name);
  return cluster;
}

Nodes Parse(const std::string& text,
            const prism::v1::Cluster& cluster = prism::v1::Cluster()) {
  const auto nodes = ParseNodes(text, cluster);
  EXPECT_TRUE(nodes.ok()) << nodes.status();
  return nodes.value_or(Nodes());
}

TEST(NodeListTest, TakesNumbersAndRangesInTheirOrder) {
  EXPECT_THAT(Parse("7"), ElementsAre(7));
  EXPECT_THAT(Parse("7,0-3,5-5"), ElementsAre(7, 0, 1, 2, 3, 5));
  EXPECT_THAT(Parse("0-1\n4\t6 , 9\r\n"), ElementsAre(0, 1, 4, 6, 9));
}

TEST(NodeListTest, ANameStandsForItsNode) {
  EXPECT_THAT(Parse("b,a", NamedCluster()), ElementsAre(1, 0));
  EXPECT_THAT(Parse("x-1 3", NamedCluster()), ElementsAre(3, 3));
}

TEST(NodeListTest, ANameThatLooksLikeANumberIsAName) {
  EXPECT_THAT(Parse("0 1", NamedCluster()), ElementsAre(2, 1));
}

TEST(NodeListTest, SaysWhichWordIsWrong) {
  for (const char* word : {"c", "3-1", "-1", "1-", "1-2-3", "1.5", "1048576",
                           "0-1048576", "99999999999", "*"}) {
    const auto nodes = ParseNodes(std::string("0 ") + word, NamedCluster());
    EXPECT_EQ(nodes.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(nodes.status().message()),
                HasSubstr("has \"" + std::string(word) + "\"; must be"));
  }
}

TEST(NodeListTest, AnEmptyListIsWrong) {
  for (const char* text : {"", " ", ",", "\n,\n"}) {
    EXPECT_FALSE(ParseNodes(text, NamedCluster()).ok()) << text;
  }
}

TEST(NodeListTest, AValueMayNameAFileThatHoldsTheList) {
  std::istringstream in;
  const std::string file = TemporaryFile("nodes", "b\n2-3\n");
  EXPECT_THAT(*ReadNodes(file, in, NamedCluster()), ElementsAre(1, 2, 3));
  EXPECT_THAT(*ReadNodes("2-3", in, NamedCluster()), ElementsAre(2, 3));
}

TEST(NodeListTest, ADashIsStandardInput) {
  std::istringstream in("4 a");
  EXPECT_THAT(*ReadNodes("-", in, NamedCluster()), ElementsAre(4, 0));
}

TEST(NodeListTest, AFileThatCannotBeReadSaysSo) {
  std::istringstream in;
  const auto folder = ReadNodes(::testing::TempDir(), in, NamedCluster());
  EXPECT_THAT(std::string(folder.status().message()),
              HasSubstr("is a directory"));
  const auto empty =
      ReadNodes(TemporaryFile("nodes", " \n"), in, NamedCluster());
  EXPECT_THAT(std::string(empty.status().message()), HasSubstr("is empty"));
}

}  // namespace
}  // namespace prism::prismctl
