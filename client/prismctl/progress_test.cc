#include "client/prismctl/progress.h"

#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

namespace prism::prismctl {
namespace {

constexpr std::chrono::milliseconds kInterval(1);

TEST(ProgressTest, SaysNothingWithoutATerminal) {
  std::ostringstream err;
  {
    Progress progress(err, false, "working", kInterval);
    absl::SleepFor(absl::Milliseconds(300));
  }
  EXPECT_EQ(err.str(), "");
}

TEST(ProgressTest, WipesTheLineAtTheEnd) {
  std::ostringstream err;
  {
    Progress progress(err, true, "working", kInterval);
    absl::SleepFor(absl::Milliseconds(300));
  }
  // A busy machine may not have shown anything yet.
  if (!err.str().empty()) {
    EXPECT_TRUE(err.str().ends_with("\r\x1b[K"));
  }
}

}  // namespace
}  // namespace prism::prismctl
