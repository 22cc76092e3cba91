#include "core/trace/csv/meta.h"

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "core/query/node.h"
#include "core/query/yaml_text.h"

namespace prism::trace {
namespace {

struct Key {
  std::string_view name;
  int Sizes::*size;
};
constexpr Key kKeys[] = {{"dp_size", &Sizes::data},
                         {"pp_size", &Sizes::pipeline},
                         {"vpp_size", &Sizes::chunks},
                         {"tp_size", &Sizes::tensor},
                         {"dsp_size", &Sizes::context}};
constexpr std::string_view kWorld = "world_size";
constexpr std::string_view kNamesAlone[] = {"trial_name", "run_id"};
constexpr int64_t kMostRanks = 10'000'000;

bool IsNameAlone(std::string_view key) {
  for (const std::string_view name : kNamesAlone) {
    if (key == name) return true;
  }
  return false;
}

// The whole number from 1 that `entry` holds.
std::optional<int64_t> Count(const query::Entry& entry, DamageLog& damage) {
  const int64_t* value = entry.node.As<int64_t>();
  if (value != nullptr && *value >= 1 && *value <= kMostRanks) return *value;
  damage.Add(0, entry.key,
             "is no whole number from 1 to 10000000; sizes are taken from the "
             "rows",
             query::Describe(entry.node));
  return std::nullopt;
}

int64_t Product(const Sizes& sizes) {
  int64_t product = 1;
  for (const int size :
       {sizes.data, sizes.pipeline, sizes.tensor, sizes.context}) {
    product *= size;
    if (product > kMostRanks) return kMostRanks + 1;
  }
  return product;
}

// Reads the entries that mean something; false where one is unusable.
bool ReadEntries(const query::Node::Map& map, Sizes& sizes,
                 std::optional<int64_t>& world, DamageLog& damage) {
  bool ok = true;
  for (const query::Entry& entry : map) {
    const Key* key = nullptr;
    for (const Key& known : kKeys) {
      if (entry.key == known.name) key = &known;
    }
    if (key == nullptr && entry.key != kWorld) {
      if (!IsNameAlone(entry.key)) {
        damage.Add(0, "", "key ignored", entry.key);
      }
      continue;
    }
    const std::optional<int64_t> count = Count(entry, damage);
    ok = ok && count;
    if (count && key != nullptr) sizes.*(key->size) = static_cast<int>(*count);
    if (count && key == nullptr) world = count;
  }
  return ok;
}

}  // namespace

std::optional<Sizes> ParseMeta(const std::string& text, DamageLog& damage) {
  const absl::StatusOr<query::Node> tree = query::ParseYaml(text);
  const query::Node::Map* map =
      tree.ok() ? tree->As<query::Node::Map>() : nullptr;
  if (map == nullptr) {
    damage.Add(0, "",
               absl::StrCat("is no YAML map of sizes; they are taken from the "
                            "rows",
                            tree.ok() ? "" : ": ", tree.status().message()));
    return std::nullopt;
  }
  Sizes sizes;
  std::optional<int64_t> world;
  if (!ReadEntries(*map, sizes, world, damage)) return std::nullopt;
  const int64_t ranks = Product(sizes);
  if (world && *world != ranks) {
    damage.Add(0, kWorld,
               absl::StrCat("is not the product of the sizes, ", ranks,
                            ", which is used"),
               absl::StrCat(*world));
  }
  return sizes;
}

}  // namespace prism::trace
