#include "core/trace/csv/meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace prism::trace {
namespace {

using ::testing::HasSubstr;

TEST(MetaTest, SizesAreRead) {
  DamageLog damage;
  EXPECT_EQ(
      ParseMeta("trial_name: AR\nrun_id: 0\ndp_size: 4\ndsp_size: 2\n"
                "pp_size: 8\ntp_size: 3\nvpp_size: 5\nworld_size: 192\n",
                damage),
      (Sizes{
          .data = 4, .pipeline = 8, .chunks = 5, .tensor = 3, .context = 2}));
  EXPECT_TRUE(damage.empty());
}

struct Case {
  std::string text;
  bool usable;
  std::string said;
};

TEST(MetaTest, WhatCannotBeUsedIsNamed) {
  const std::vector<Case> cases = {
      {"dp_size: 2\nworld_size: 3\n", true,
       "world_size \"3\" is not the product of the sizes, 2"},
      {"dp_size: 2\ncolor: red\n", true, "\"color\" key ignored"},
      {"dp_size: 0\n", false, "dp_size \"0\" is no whole number from 1"},
      {"dp_size: many\n", false, "dp_size"},
      {"- 3\n", false, "no YAML map"},
      {"a: [\n", false, "no YAML map"},
  };
  for (const Case& c : cases) {
    DamageLog damage;
    EXPECT_EQ(ParseMeta(c.text, damage).has_value(), c.usable) << c.text;
    ASSERT_EQ(damage.entries().size(), 1) << c.text;
    EXPECT_THAT(Describe(damage.entries()[0]), HasSubstr(c.said));
  }
}

}  // namespace
}  // namespace prism::trace
