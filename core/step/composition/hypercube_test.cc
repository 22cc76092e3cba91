#include "core/step/composition/hypercube.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

constexpr int kSamples = 1024;

TEST(Hypercube, ScoresRiseOneInEachStratum) {
  const Hypercube cube(1, kSamples);
  ASSERT_EQ(cube.scores().size(), size_t{kSamples});
  for (int i = 0; i < kSamples; ++i) {
    const double place = stats::NormalCdf(cube.scores()[i]) * kSamples;
    EXPECT_GT(place, i - 1e-4);
    EXPECT_LT(place, i + 1 + 1e-4);
  }
}

TEST(Hypercube, EveryCoordinateVisitsEveryStratumOnce) {
  for (const int samples : {8, 16, 512, kSamples, 8192}) {
    Hypercube cube(7, samples);
    std::vector<uint32_t> all(samples);
    std::iota(all.begin(), all.end(), 0);
    for (int i = 0; i < Hypercube::kEven + 2; ++i) {
      auto coordinate = cube.Next();
      std::sort(coordinate.begin(), coordinate.end());
      EXPECT_EQ(coordinate, all) << samples << " " << i;
    }
  }
}

// The first three: 2^a, 2^b and 2^c parts of them make 2^(a + b + c) cells with
// a sample each.
TEST(Hypercube, ThreeAreEvenInAllTogether) {
  Hypercube cube(3, kSamples);
  const auto x = cube.Next(), y = cube.Next(), z = cube.Next();
  for (int a = 0; a <= 10; ++a) {
    for (int b = 0; a + b <= 10; ++b) {
      const int c = 10 - a - b;
      std::set<std::array<uint32_t, 3>> cells;
      for (int i = 0; i < kSamples; ++i) {
        cells.insert({x[i] >> (10 - a), y[i] >> (10 - b), z[i] >> (10 - c)});
      }
      EXPECT_EQ(cells.size(), size_t{kSamples}) << a << " " << b;
    }
  }
}

// All pairs of the net: no cell of 16 x 16 has more than twice its share.
TEST(Hypercube, PairsOfTheNetAreEven) {
  Hypercube cube(4, kSamples);
  std::vector<Hypercube::Coordinate> net(Hypercube::kEven);
  for (auto& coordinate : net) coordinate = cube.Next();
  for (int a = 0; a < Hypercube::kEven; ++a) {
    for (int b = 0; b < a; ++b) {
      std::array<int, 256> count = {};
      for (int i = 0; i < kSamples; ++i) {
        ++count[(net[a][i] >> 6) * 16 + (net[b][i] >> 6)];
      }
      EXPECT_LE(*std::max_element(count.begin(), count.end()), 8)
          << a << " " << b;
    }
  }
}

// Products of the scores of two coordinates, and of their squares: of sums over
// a random order the deviation is known, and of 435 pairs their mean square is
// within 5 of its own deviations, of which kurtosis is left out.
TEST(Hypercube, OthersAreAsIfDrawnApart) {
  constexpr int kCoordinates = 30;
  Hypercube cube(11, kSamples);
  for (int i = 0; i < Hypercube::kEven; ++i) cube.Next();
  std::vector<Hypercube::Coordinate> coordinate(kCoordinates);
  for (auto& c : coordinate) c = cube.Next();
  for (const int power : {1, 2}) {
    std::vector<double> value;
    for (const double z : cube.scores()) value.push_back(std::pow(z, power));
    const double mean =
        std::accumulate(value.begin(), value.end(), 0.0) / kSamples;
    double squares = 0;
    for (double& v : value) {
      v -= mean;
      squares += v * v;
    }
    const double variance = squares * squares / (kSamples - 1);
    double ratio = 0;
    int pairs = 0;
    for (int a = 0; a < kCoordinates; ++a) {
      for (int b = 0; b < a; ++b, ++pairs) {
        double product = 0;
        for (int i = 0; i < kSamples; ++i) {
          product += value[coordinate[a][i]] * value[coordinate[b][i]];
        }
        ratio += product * product / variance;
      }
    }
    EXPECT_NEAR(ratio / pairs, 1, 5 * std::sqrt(2.0 / pairs)) << power;
  }
}

TEST(Hypercube, KeysGiveOtherOrders) {
  Hypercube one(1, kSamples), same(1, kSamples), other(2, kSamples);
  const auto first = one.Next();
  EXPECT_EQ(first, same.Next());
  EXPECT_NE(first, other.Next());
  EXPECT_NE(first, one.Next());
}

}  // namespace
}  // namespace prism::step
