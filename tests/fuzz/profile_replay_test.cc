// The fuzzer's seeds, and inputs made from them, without libFuzzer.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/profile_input.h"

namespace prism::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kInputs = 400;

std::vector<Bytes> ReadSeeds() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(
           PRISM_SOURCE_DIR "/tests/fuzz/seeds/profile")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> seeds;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file),
                       std::istreambuf_iterator<char>());
  }
  return seeds;
}

// A seed with some bytes changed and its end from another.
Bytes Mutate(const std::vector<Bytes>& seeds, std::mt19937& generator) {
  const auto below = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(generator);
  };
  Bytes bytes = seeds[below(seeds.size())];
  const Bytes& other = seeds[below(seeds.size())];
  const size_t cut = below(bytes.size() + 1);
  if (below(2) == 0 && cut < other.size()) {
    bytes.resize(cut);
    bytes.insert(bytes.end(), other.begin() + static_cast<ptrdiff_t>(cut),
                 other.end());
  }
  bytes.resize(std::max<size_t>(bytes.size(), 1));
  for (size_t changes = below(4); changes > 0; --changes) {
    bytes[below(bytes.size())] = static_cast<uint8_t>(below(256));
  }
  return bytes;
}

// A wrong answer ends the process, so that it cannot be overlooked.
TEST(ProfileReplay, SeedsHaveDistributions) {
  const std::vector<Bytes> seeds = ReadSeeds();
  ASSERT_FALSE(seeds.empty());
  for (const Bytes& seed : seeds) CheckProfile(ReadProfile(seed));
}

TEST(ProfileReplay, MutatedSeedsHaveDistributions) {
  const std::vector<Bytes> seeds = ReadSeeds();
  ASSERT_FALSE(seeds.empty());
  std::mt19937 generator(1);
  for (int i = 0; i < kInputs; ++i) {
    CheckProfile(ReadProfile(Mutate(seeds, generator)));
  }
}

TEST(ProfileReplay, NoBytesAreAProfile) { CheckProfile(ReadProfile({})); }

}  // namespace
}  // namespace prism::fuzz
