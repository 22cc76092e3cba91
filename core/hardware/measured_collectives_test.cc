// Collective times against measured ones: the tables that
// tests/accuracy/fit_collectives/fit makes its constants from.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "core/hardware/fabric.h"

namespace prism::hardware {
namespace {

// A row by the names of its columns.
using Row = std::map<std::string, std::string>;

std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  std::string cell;
  while (std::getline(stream, cell, ',')) cells.push_back(cell);
  return cells;
}

std::vector<Row> ReadTable(const std::string& name) {
  std::ifstream file(std::string(PRISM_SOURCE_DIR) +
                     "/tests/data/collectives/" + name);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> heading = Cells(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = Cells(line);
    Row& row = rows.emplace_back();
    for (size_t i = 0; i < heading.size(); ++i) row[heading[i]] = cells[i];
  }
  return rows;
}

Cluster ClusterOf(const Row& row) {
  Cluster cluster;
  cluster.accelerator = row.at("accelerator");
  cluster.nodes = 64;
  cluster.gpus_per_node = std::stoll(row.at("gpus_per_node"));
  cluster.fabric = {
      {.name = "node",
       .gpus = cluster.gpus_per_node,
       .bytes_per_second = 1e9 * std::stod(row.at("node_gigabytes_per_second")),
       .latency_seconds = kNodeLinkLatencySeconds},
      {.name = "network",
       .gpus = cluster.gpus(),
       .bytes_per_second =
           1e9 * std::stod(row.at("network_gigabytes_per_second")),
       .latency_seconds = kNetworkLatencySeconds}};
  return cluster;
}

std::map<std::string, Fabric> Fabrics() {
  std::map<std::string, Fabric> fabrics;
  for (const Row& row : ReadTable("clusters.csv")) {
    fabrics.insert(
        {row.at("source"),
         Fabric(ClusterOf(row), *FindAccelerator(row.at("accelerator")))});
  }
  return fabrics;
}

CollectiveKind KindOf(const std::string& operation) {
  static const std::map<std::string, CollectiveKind> kKinds = {
      {"all_gather", CollectiveKind::kAllGather},
      {"all_reduce", CollectiveKind::kAllReduce},
      {"all_to_all", CollectiveKind::kAllToAll},
      {"reduce_scatter", CollectiveKind::kReduceScatter}};
  return kKinds.at(operation);
}

double Predicted(const Fabric& fabric, const Row& row) {
  const int64_t nodes = std::stoll(row.at("nodes"));
  const int64_t gpus = std::stoll(row.at("gpus"));
  const double bytes = std::stod(row.at("bytes"));
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

Group GroupOf(const Row& row) {
  return {row.at("source"), row.at("nodes"), row.at("gpus"),
          row.at("operation"), row.at("algorithm")};
}

// Below 64 KiB the starts of collectives are all there is.
constexpr double kSmallBytes = 65536;

std::map<Group, Error> Errors() {
  const std::map<std::string, Fabric> fabrics = Fabrics();
  std::map<Group, Error> errors;
  for (const Row& row : ReadTable("measured.csv")) {
    if (std::stod(row.at("bytes")) < kSmallBytes) continue;
    errors[GroupOf(row)].Add(Predicted(fabrics.at(row.at("source")), row),
                             1e-6 * std::stod(row.at("microseconds")));
  }
  return errors;
}

// The fit has formulas of its own. Where the library was told which algorithm
// to use, it compares that one.
TEST(MeasuredCollectivesTest, AreAsFarFromTheModelAsTheFitSays) {
  const std::map<Group, Error> errors = Errors();
  int compared = 0;
  for (const Row& row : ReadTable("errors.csv")) {
    if (row.at("algorithm") != "best") continue;
    const Error& error = errors.at(GroupOf(row));
    EXPECT_NEAR(error.mean(), std::stod(row.at("mean_error")), 1e-4)
        << row.at("source") << " " << row.at("nodes") << " nodes, "
        << row.at("gpus") << " GPUs, " << row.at("operation");
    EXPECT_EQ(error.count, std::stod(row.at("rows")));
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
  const std::map<std::string, Fabric> fabrics = Fabrics();
  std::map<std::string, Row> faster;
  for (const Row& row : ReadTable("measured.csv")) {
    if (row.at("algorithm") == "best") continue;
    Row& best = faster[row.at("nodes") + "," + row.at("bytes")];
    if (best.empty() || std::stod(row.at("microseconds")) <
                            std::stod(best.at("microseconds"))) {
      best = row;
    }
  }
  Error error;
  for (const auto& [key, row] : faster) {
    error.Add(Predicted(fabrics.at(row.at("source")), row),
              1e-6 * std::stod(row.at("microseconds")));
  }
  EXPECT_EQ(error.count, 27);
  EXPECT_LT(error.mean(), 0.15);
}

}  // namespace
}  // namespace prism::hardware
