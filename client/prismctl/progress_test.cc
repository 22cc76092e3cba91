#include "client/prismctl/progress.h"

#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace prism::prismctl {
namespace {

TEST(ProgressTest, SaysNothingWithoutATerminal) {
  std::ostringstream err;
  {
    Progress progress(err, false, "working");
    absl::SleepFor(absl::Milliseconds(700));
  }
  EXPECT_EQ(err.str(), "");
}

TEST(ProgressTest, WipesTheLineAtTheEnd) {
  std::ostringstream err;
  {
    Progress progress(err, true, "working");
    absl::SleepFor(absl::Milliseconds(700));
  }
  // A busy machine may not have shown anything yet.
  if (!err.str().empty()) {
    EXPECT_TRUE(err.str().ends_with("\r\x1b[K"));
  }
}

}  // namespace
}  // namespace prism::prismctl
