#include "client/render/units.h"

#include <gtest/gtest.h>

#include <string>

namespace prism::render {
namespace {

struct NumberCase {
  double value;
  const char* text;
};

TEST(UnitsTest, DurationsHaveFourDigitsAndAFittingUnit) {
  for (const NumberCase& c : {NumberCase{0, "0 ns"},
                              {3.2e-9, "3.200 ns"},
                              {1.25e-5, "12.50 us"},
                              {0.6554321, "655.4 ms"},
                              {3.528, "3.528 s"},
                              {95, "95.00 s"},
                              {1200, "20.00 min"},
                              {90000, "25.00 h"},
                              {1e6, "11.57 d"}}) {
    EXPECT_EQ(Duration(c.value), c.text);
  }
}

TEST(UnitsTest, AFineResolutionAddsDecimals) {
  EXPECT_EQ(UnitFor(3.528, 0.00002).Number(3.528), "3.52800");
}

TEST(UnitsTest, ACoarseResolutionTakesNoDecimalsAway) {
  EXPECT_EQ(UnitFor(3.528, 0.5).Number(3.528), "3.528");
}

TEST(UnitsTest, AResolutionOfZeroAddsNoDecimals) {
  EXPECT_EQ(UnitFor(3.528, 0).Number(3.528), "3.528");
}

TEST(UnitsTest, BytesAreBinary) {
  for (const NumberCase& c : {NumberCase{12, "12 B"},
                              {2048, "2.00 KiB"},
                              {1.5 * 0x1p30, "1.50 GiB"},
                              {80 * 0x1p30, "80.0 GiB"},
                              {141e9, "131 GiB"}}) {
    EXPECT_EQ(Bytes(c.value), c.text);
  }
}

TEST(UnitsTest, PercentHasADecimalBelowTen) {
  for (const NumberCase& c : {NumberCase{0.0712, "7.1%"},
                              {0.0999, "10%"},
                              {0.4449, "44%"},
                              {0, "0.0%"}}) {
    EXPECT_EQ(Percent(c.value), c.text);
  }
}

TEST(UnitsTest, CountsAreGroupedByThousands) {
  EXPECT_EQ(Grouped(7), "7");
  EXPECT_EQ(Grouped(131072), "131,072");
  EXPECT_EQ(Grouped(-1234567), "-1,234,567");
}

TEST(UnitsTest, RatesHaveThreeDigits) {
  for (const NumberCase& c : {NumberCase{0.5, "0.500"},
                              {37.25, "37.2"},
                              {999, "999"},
                              {54243, "54,200"},
                              {3412345, "3.41 M"}}) {
    EXPECT_EQ(Rate(c.value), c.text);
  }
}

}  // namespace
}  // namespace prism::render
