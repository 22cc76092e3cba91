#include "client/import/settings.h"

#include <gtest/gtest.h>

namespace prism::import {
namespace {

TEST(SettingsTest, ReadsNamesAndValues) {
  base::Violations violations;
  const Settings settings =
      Settings::Parse({"A=1", "B=x=y", "C=", "A=2"}, violations);
  EXPECT_TRUE(violations.empty());
  EXPECT_EQ(settings.Find("A"), "2");
  EXPECT_EQ(settings.Find("B"), "x=y");
  EXPECT_EQ(settings.Find("C"), "");
  EXPECT_EQ(settings.Find("D"), std::nullopt);
}

TEST(SettingsTest, RejectsTextsWithoutNameOrValue) {
  base::Violations violations;
  Settings::Parse({"A", "=1", ""}, violations);
  ASSERT_EQ(violations.list().size(), 3u);
  EXPECT_EQ(violations.list()[0].description, "is \"A\"; must be NAME=VALUE");
}

TEST(SettingsTest, ReportsWhatNobodyAskedFor) {
  base::Violations violations;
  const Settings settings = Settings::Parse({"A=1", "B=2"}, violations);
  settings.Find("A");
  settings.ReportUnused(violations);
  ASSERT_EQ(violations.list().size(), 1u);
  EXPECT_EQ(violations.list()[0].field, "--set B");
}

}  // namespace
}  // namespace prism::import
