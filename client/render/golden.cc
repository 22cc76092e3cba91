#include "client/render/golden.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace prism::render {
namespace {

std::string PathOf(const std::string& name) {
  return std::string(PRISM_SOURCE_DIR) + "/client/render/testdata/" + name;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

void ReadTestMessage(const std::string& name,
                     google::protobuf::Message* message) {
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      FileText(PathOf(name)), message))
      << name;
}

void ExpectGolden(const std::string& text, const std::string& name) {
  const std::string path = PathOf(name);
  if (std::getenv("PRISM_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
  }
  EXPECT_EQ(text, FileText(path)) << path;
}

}  // namespace prism::render
