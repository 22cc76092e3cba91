#include "core/calibration/constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace prism::calibration {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(ConstantsTest, NamesAreThePathsOfMembers) {
  Constants constants;
  ASSERT_TRUE(SetConstant(constants, "operators.launch_seconds", 0.5).ok());
  ASSERT_TRUE(
      SetConstant(constants, "operators.hopper.product_fp8", 0.75).ok());
  ASSERT_TRUE(
      SetConstant(constants, "links.nvlink3.simple.ramp_seconds", 0.25).ok());
  EXPECT_EQ(constants.operators.launch_seconds, 0.5);
  EXPECT_EQ(constants.operators.of(hardware::Architecture::kHopper)
                .product[static_cast<size_t>(hardware::NumberFormat::kFp8)],
            0.75);
  EXPECT_EQ(constants.links.nvlink3.simple.ramp_seconds, 0.25);
  EXPECT_THAT(ConstantNames(), Contains("links.network.ll.hop_seconds"));
}

TEST(ConstantsTest, EveryNameIsADifferentConstant) {
  const std::vector<std::string> names = ConstantNames();
  for (const std::string& name : names) {
    Constants constants;
    const double before = *GetConstant(constants, name);
    double set = before == 1 ? 0.5 : 1;
    if (!SetConstant(constants, name, set).ok()) set = 2;
    ASSERT_TRUE(SetConstant(constants, name, set).ok()) << name;
    for (const std::string& other : names) {
      const double expected =
          other == name ? set : *GetConstant(Constants(), other);
      EXPECT_EQ(*GetConstant(constants, other), expected) << other;
    }
  }
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(),
            names.size());
}

TEST(ConstantsTest, UnknownNamesAreNotFound) {
  Constants constants;
  EXPECT_EQ(SetConstant(constants, "operators", 1).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(GetConstant(constants, "operators.launch").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(ConstantsTest, ValuesOutsideTheRangeAreRefusedAndNamed) {
  for (const double value :
       {-1.0, 0.0, 1.5, std::numeric_limits<double>::quiet_NaN(),
        std::numeric_limits<double>::infinity()}) {
    Constants constants;
    const absl::Status status =
        SetConstant(constants, "links.network.tree_share", value);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << value;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("links.network.tree_share is"));
    EXPECT_EQ(constants.links.network.tree_share,
              Constants().links.network.tree_share);
  }
}

}  // namespace
}  // namespace prism::calibration
