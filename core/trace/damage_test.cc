#include "core/trace/damage.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

namespace prism::trace {
namespace {

TEST(DamageTest, EqualDamageIsOneEntryWithTheFirstPlace) {
  DamageLog log;
  log.SetFile("t.csv");
  log.Add(3, "step", "is negative", "-1");
  log.Add(9, "step", "is negative", "-2", 4);
  log.Add(4, "stage", "is negative");
  ASSERT_EQ(log.entries().size(), 2);
  EXPECT_EQ(Describe(log.entries()[0]),
            "t.csv:3: step \"-1\" is negative (5 times)");
  EXPECT_EQ(Describe(log.entries()[1]), "t.csv:4: stage is negative");
  EXPECT_EQ(log.total(), 6);
}

TEST(DamageTest, BeyondTheMostEntriesDamageIsCounted) {
  DamageLog log;
  for (int i = 0; i < DamageLog::kMost + 7; ++i) {
    log.Add(1, absl::StrCat(i), "is odd");
  }
  EXPECT_EQ(log.entries().size(), DamageLog::kMost);
  EXPECT_EQ(log.unnamed(), 7);
  EXPECT_EQ(log.total(), DamageLog::kMost + 7);
}

TEST(DamageTest, ExamplesArePrintable) {
  DamageLog log;
  log.Add(1, "step", "is odd", std::string("a\0\x1b\n", 4));
  EXPECT_EQ(log.entries()[0].example, "\"a???\"");
}

}  // namespace
}  // namespace prism::trace
