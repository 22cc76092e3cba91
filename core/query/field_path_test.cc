#include "core/query/field_path.h"

#include <gtest/gtest.h>

namespace prism::query {
namespace {

TEST(FieldPath, NamesFieldsAndItems) {
  const FieldPath root("");
  const FieldPath forward = root.Field("forward");
  const FieldPath item = forward.Item(1);
  EXPECT_EQ(item.Field("compute").ToString(), "forward[1].compute");
}

TEST(FieldPath, GoesOnFromItsRoot) {
  const FieldPath root("questions[2]");
  EXPECT_EQ(root.Field("samples").ToString(), "questions[2].samples");
  EXPECT_EQ(root.ToString(), "questions[2]");
}

TEST(FieldPath, AnEmptyRootAddsNoDot) {
  EXPECT_EQ(FieldPath("").Field("samples").ToString(), "samples");
  EXPECT_EQ(FieldPath("").ToString(), "");
}

}  // namespace
}  // namespace prism::query
