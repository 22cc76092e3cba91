// The seeds of trace_fuzzer, and what random edits make of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/trace_input.h"

namespace prism::fuzz {
namespace {

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(PRISM_SOURCE_DIR) + "/tests/fuzz/seeds/trace")) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    seeds.push_back(text.str());
  }
  return seeds;
}

TEST(TraceReplayTest, SeedsAreReadHeldOrNot) {
  ASSERT_GE(Seeds().size(), 2);
  for (const std::string& seed : Seeds()) CheckTrace(seed);
}

TEST(TraceReplayTest, EditedSeedsNeverEndTheProcess) {
  std::mt19937 random(7);
  const auto below = [&random](size_t n) { return random() % n; };
  for (const std::string& seed : Seeds()) {
    for (int i = 0; i < 400; ++i) {
      std::string text = seed;
      for (size_t edits = 1 + below(6); edits > 0; --edits) {
        const size_t at = below(text.size());
        constexpr std::string_view kBytes = "0123456789,-.\n\"ex";
        switch (below(3)) {
          case 0:
            text[at] = kBytes[below(kBytes.size())];
            break;
          case 1:
            text.erase(at, below(60));
            break;
          default:
            text.insert(at, text.substr(below(text.size()), below(120)));
        }
        if (text.empty()) text = ",";
      }
      CheckTrace(text);
    }
  }
}

}  // namespace
}  // namespace prism::fuzz
