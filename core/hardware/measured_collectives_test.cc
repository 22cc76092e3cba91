// Collective times against measured ones: the tables that
// tests/accuracy/fit_collectives/fit makes its constants from.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "core/hardware/fabric.h"
#include "core/hardware/measured_table.h"

namespace prism::hardware {
namespace {

CollectiveKind KindOf(const std::string& operation) {
  static const std::map<std::string, CollectiveKind> kKinds = {
      {"all_gather", CollectiveKind::kAllGather},
      {"all_reduce", CollectiveKind::kAllReduce},
      {"all_to_all", CollectiveKind::kAllToAll},
      {"reduce_scatter", CollectiveKind::kReduceScatter}};
  return kKinds.at(operation);
}

double Predicted(const Fabric& fabric, const MeasuredRow& row) {
  const int64_t nodes = Count(row, "nodes");
  const int64_t gpus = Count(row, "gpus");
  const double bytes = Number(row, "bytes");
  if (row.at("operation") == "transfer") {
    return fabric.TransferTime(bytes, nodes == 1 ? 0 : 1).seconds;
  }
  const GroupShape shape = {.members = gpus, .in_unit = {gpus / nodes, gpus}};
  return fabric.CollectiveTime(KindOf(row.at("operation")), bytes, shape)
      .seconds;
}

struct Error {
  double sum = 0;
  double count = 0;

  void Add(double predicted, double measured) {
    sum += std::abs(predicted / measured - 1);
    ++count;
  }
  double mean() const { return sum / count; }
};

// Of one source: (nodes, GPUs, operation, algorithm).
using Group =
    std::tuple<std::string, std::string, std::string, std::string, std::string>;

Group GroupOf(const MeasuredRow& row) {
  return {row.at("source"), row.at("nodes"), row.at("gpus"),
          row.at("operation"), row.at("algorithm")};
}

// Below 64 KiB the starts of collectives are all there is.
constexpr double kSmallBytes = 65536;

std::map<Group, Error> Errors() {
  const std::map<std::string, Fabric> fabrics = MeasuredFabrics();
  std::map<Group, Error> errors;
  for (const MeasuredRow& row : ReadMeasured("measured.csv")) {
    if (Number(row, "bytes") < kSmallBytes) continue;
    errors[GroupOf(row)].Add(Predicted(fabrics.at(row.at("source")), row),
                             1e-6 * Number(row, "microseconds"));
  }
  return errors;
}

// The fit has formulas of its own. Where the library was told which algorithm
// to use, it compares that one.
TEST(MeasuredCollectivesTest, AreAsFarFromTheModelAsTheFitSays) {
  const std::map<Group, Error> errors = Errors();
  int compared = 0;
  for (const MeasuredRow& row : ReadMeasured("errors.csv")) {
    if (row.at("algorithm") != "best") continue;
    const Error& error = errors.at(GroupOf(row));
    EXPECT_NEAR(error.mean(), Number(row, "mean_error"), 1e-4)
        << row.at("source") << " " << row.at("nodes") << " nodes, "
        << row.at("gpus") << " GPUs, " << row.at("operation");
    EXPECT_EQ(error.count, Number(row, "rows"));
    ++compared;
  }
  EXPECT_GT(compared, 70);
}

// Mean error over all collectives of some groups, messages apart.
template <typename Chosen>
double MeanError(const Chosen& chosen) {
  Error all;
  for (const auto& [group, error] : Errors()) {
    if (std::get<3>(group) == "transfer" || std::get<4>(group) != "best" ||
        !chosen(std::get<0>(group), std::stoll(std::get<1>(group)))) {
      continue;
    }
    all.sum += error.sum;
    all.count += error.count;
  }
  return all.mean();
}

TEST(MeasuredCollectivesTest, InANodeAreWithinTenPercent) {
  for (const std::string name :
       {"aiconfigurator-a100", "aiconfigurator-h100", "aiconfigurator-h200",
        "nccl-tests-h100", "vtrain-a100"}) {
    EXPECT_LT(MeanError([&](const std::string& source, int64_t nodes) {
                return source == name && nodes == 1;
              }),
              0.10)
        << name;
  }
}

TEST(MeasuredCollectivesTest, BetweenNodesAreWithinFifteenPercent) {
  for (const std::string name : {"abci-a100", "nccl-tests-h100"}) {
    EXPECT_LT(MeanError([&](const std::string& source, int64_t nodes) {
                return source == name && nodes > 1;
              }),
              0.15)
        << name;
  }
}

// The library would take the faster of ring and tree.
TEST(MeasuredCollectivesTest, FasterOfRingAndTreeIsWithinFifteenPercent) {
  const std::map<std::string, Fabric> fabrics = MeasuredFabrics();
  std::map<std::string, MeasuredRow> faster;
  for (const MeasuredRow& row : ReadMeasured("measured.csv")) {
    if (row.at("algorithm") == "best") continue;
    MeasuredRow& best = faster[row.at("nodes") + "," + row.at("bytes")];
    if (best.empty() ||
        Number(row, "microseconds") < Number(best, "microseconds")) {
      best = row;
    }
  }
  Error error;
  for (const auto& [key, row] : faster) {
    error.Add(Predicted(fabrics.at(row.at("source")), row),
              1e-6 * Number(row, "microseconds"));
  }
  EXPECT_EQ(error.count, 27);
  EXPECT_LT(error.mean(), 0.15);
}

}  // namespace
}  // namespace prism::hardware
