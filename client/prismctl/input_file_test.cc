#include "client/prismctl/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace prism::prismctl {
namespace {

using ::testing::HasSubstr;

std::string MessageOf(const std::string& path, const std::string& in = "") {
  std::istringstream stream(in);
  return std::string(ReadInput(path, stream).status().message());
}

std::string TemporaryFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(InputFileTest, ReadsAFile) {
  std::istringstream unused;
  const auto text = ReadInput(TemporaryFile("file", "a: 1\n"), unused);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "a: 1\n");
}

TEST(InputFileTest, ADashIsStandardInput) {
  std::istringstream in("b: 2\n");
  const auto text = ReadInput("-", in);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "b: 2\n");
}

TEST(InputFileTest, NamesStandardInput) {
  EXPECT_EQ(InputName("-"), "standard input");
  EXPECT_EQ(InputName("job.yaml"), "job.yaml");
}

TEST(InputFileTest, RefusesAFileThatIsMissing) {
  EXPECT_THAT(MessageOf("/no/such/file"), HasSubstr("does not exist"));
}

TEST(InputFileTest, RefusesADirectory) {
  EXPECT_THAT(MessageOf(testing::TempDir()), HasSubstr("is a directory"));
}

TEST(InputFileTest, RefusesAFileWithoutContent) {
  EXPECT_THAT(MessageOf(TemporaryFile("blank", " \n\t\n")),
              HasSubstr("is empty"));
}

TEST(InputFileTest, RefusesEmptyStandardInput) {
  EXPECT_THAT(MessageOf("-"), HasSubstr("is empty"));
}

TEST(InputFileTest, StopsReadingBeyondTheLargestSize) {
  EXPECT_THAT(MessageOf("/dev/zero"), HasSubstr("is larger than 64 MiB"));
}

}  // namespace
}  // namespace prism::prismctl
