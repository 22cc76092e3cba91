#include "core/query/canonical_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace prism::query {
namespace {

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

template <typename Write>
std::string Written(Write write) {
  CanonicalWriter writer;
  write(writer);
  return writer.Take();
}

TEST(CanonicalWriter, IntegersAreLeastSignificantByteFirst) {
  EXPECT_EQ(Written([](auto& w) { w.Integer(5, 0x0102); }),
            Bytes({5, 2, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Written([](auto& w) { w.Integer(5, -1); }),
            Bytes({5, 255, 255, 255, 255, 255, 255, 255, 255}));
}

TEST(CanonicalWriter, NumbersAreTheirBits) {
  EXPECT_EQ(Written([](auto& w) { w.Number(7, 1.0); }),
            Bytes({7, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  EXPECT_NE(Written([](auto& w) { w.Number(7, 1.0); }),
            Written([](auto& w) { w.Number(7, std::nextafter(1.0, 2.0)); }));
}

TEST(CanonicalWriter, MinusZeroIsZero) {
  EXPECT_EQ(Written([](auto& w) { w.Number(7, -0.0); }),
            Written([](auto& w) { w.Number(7, 0.0); }));
}

TEST(CanonicalWriter, TextCarriesItsLength) {
  EXPECT_EQ(Written([](auto& w) { w.Text(1, "ab"); }),
            Bytes({1, 2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b'}));
  EXPECT_NE(Written([](auto& w) {
              w.Text(1, "a");
              w.Text(1, "b");
            }),
            Written([](auto& w) {
              w.Text(1, "ab");
              w.Text(1, "");
            }));
}

TEST(CanonicalWriter, ListsCarryTheirLength) {
  EXPECT_NE(Written([](auto& w) {
              w.List(1, 1);
              w.Integer(2, 0);
              w.List(1, 0);
            }),
            Written([](auto& w) {
              w.List(1, 0);
              w.List(1, 1);
              w.Integer(2, 0);
            }));
}

}  // namespace
}  // namespace prism::query
