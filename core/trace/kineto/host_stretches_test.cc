#include "core/trace/kineto/host_stretches.h"

#include <gtest/gtest.h>

namespace prism::kineto {
namespace {

HostStretches Nested() {
  HostStretches stretches;
  stretches.Add(1, 100, 200, 7);
  stretches.Add(1, 120, 130, 8);  // in the one before
  stretches.Add(1, 300, 400, 9);
  stretches.Add(2, 500, 600, 10);
  stretches.Close();
  return stretches;
}

TEST(HostStretchesTest, FindsTheInnermostThatHoldsTheInstant) {
  const HostStretches stretches = Nested();
  EXPECT_EQ(stretches.Find(1, 99), -1);
  EXPECT_EQ(stretches.Find(1, 100), 7);
  EXPECT_EQ(stretches.Find(1, 125), 8);
  EXPECT_EQ(stretches.Find(1, 150), 7);
  EXPECT_EQ(stretches.Find(1, 201), -1);
  EXPECT_EQ(stretches.Find(1, 400), 9);
}

TEST(HostStretchesTest, KeepsThreadsApart) {
  const HostStretches stretches = Nested();
  EXPECT_EQ(stretches.Find(2, 350), -1);
  EXPECT_EQ(stretches.Find(2, 550), 10);
  EXPECT_EQ(stretches.Find(3, 550), -1);
}

}  // namespace
}  // namespace prism::kineto
