#include "client/prismctl/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace prism::prismctl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest()
      : folder_(testing::TempDir() + std::to_string(getpid()) + "-output") {
    fs::create_directory(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  std::string In(const std::string& name) const { return folder_ + "/" + name; }
  static std::string TextOf(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int Files() const {
    return static_cast<int>(std::distance(fs::directory_iterator(folder_),
                                          fs::directory_iterator()));
  }

  const std::string folder_;
};

TEST_F(OutputFileTest, WritesTheWholeFileAndNothingBesideIt) {
  const std::string text(100'000, 'x');
  ASSERT_TRUE(WriteOutputFile(In("a.json"), text).ok());
  EXPECT_EQ(TextOf(In("a.json")), text);
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, TakesThePlaceOfWhatWasThere) {
  ASSERT_TRUE(WriteOutputFile(In("a.svg"), "old and long").ok());
  ASSERT_TRUE(WriteOutputFile(In("a.svg"), "new").ok());
  EXPECT_EQ(TextOf(In("a.svg")), "new");
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, AFolderMustBeThere) {
  const std::string path = In("none/a.json");
  for (const absl::Status& status :
       {CheckOutputFile(path), WriteOutputFile(path, "x")}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("none is no folder; must be in one that is there"));
  }
}

TEST_F(OutputFileTest, AFolderIsNoFile) {
  EXPECT_EQ(std::string(WriteOutputFile(folder_, "x").message()),
            "is a folder; must be a file");
  EXPECT_TRUE(CheckOutputFile(In("a.json")).ok());
}

TEST_F(OutputFileTest, AFolderThatTakesNoFilesSaysWhy) {
  // A file beside it cannot even be begun.
  const absl::Status status = WriteOutputFile("/proc/a.json", "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be written: "));
}

}  // namespace
}  // namespace prism::prismctl
