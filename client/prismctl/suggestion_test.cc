#include "client/prismctl/suggestion.h"

#include <gtest/gtest.h>

namespace prism::prismctl {
namespace {

struct DistanceCase {
  const char* a;
  const char* b;
  int distance;
};

TEST(SuggestionTest, DistanceCountsEdits) {
  for (const DistanceCase& c : {DistanceCase{"", "", 0},
                                {"", "abc", 3},
                                {"predict", "predict", 0},
                                {"predct", "predict", 1},
                                {"perdict", "predict", 1},
                                {"kitten", "sitting", 3}}) {
    EXPECT_EQ(EditDistance(c.a, c.b), c.distance) << c.a << " " << c.b;
  }
}

TEST(SuggestionTest, SuggestsTheNearest) {
  EXPECT_EQ(Suggestion("pedict", {"plan", "predict", "import"}), "predict");
}

TEST(SuggestionTest, SuggestsNothingForAnotherWord) {
  EXPECT_EQ(Suggestion("frobnicate", {"predict", "import"}), "");
}

TEST(SuggestionTest, SuggestsNothingWithoutCandidates) {
  EXPECT_EQ(Suggestion("predict", {}), "");
}

}  // namespace
}  // namespace prism::prismctl
