// Tables of tests/data/collectives, for tests.
#ifndef PRISM_CORE_HARDWARE_MEASURED_TABLE_H_
#define PRISM_CORE_HARDWARE_MEASURED_TABLE_H_

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/hardware/fabric.h"

namespace prism::hardware {

// A row by the names of its columns.
using MeasuredRow = std::map<std::string, std::string>;

inline std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  std::string cell;
  while (std::getline(stream, cell, ',')) cells.push_back(cell);
  return cells;
}

inline std::vector<MeasuredRow> ReadMeasured(const std::string& name) {
  std::ifstream file(std::string(PRISM_SOURCE_DIR) +
                     "/tests/data/collectives/" + name);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> heading = Cells(line);
  std::vector<MeasuredRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = Cells(line);
    MeasuredRow& row = rows.emplace_back();
    for (size_t i = 0; i < heading.size(); ++i) row[heading[i]] = cells[i];
  }
  return rows;
}

inline double Number(const MeasuredRow& row, const std::string& column) {
  return std::stod(row.at(column));
}

inline int64_t Count(const MeasuredRow& row, const std::string& column) {
  return std::stoll(row.at(column));
}

inline Cluster MeasuredCluster(const MeasuredRow& row) {
  Cluster cluster;
  cluster.accelerator = row.at("accelerator");
  cluster.nodes = 64;
  cluster.gpus_per_node = Count(row, "gpus_per_node");
  cluster.fabric = {
      {.name = "node",
       .gpus = cluster.gpus_per_node,
       .bytes_per_second = 1e9 * Number(row, "node_gigabytes_per_second"),
       .latency_seconds = kNodeLinkLatencySeconds},
      {.name = "network",
       .gpus = cluster.gpus(),
       .bytes_per_second = 1e9 * Number(row, "network_gigabytes_per_second"),
       .latency_seconds = kNetworkLatencySeconds}};
  return cluster;
}

// By source.
inline std::map<std::string, Fabric> MeasuredFabrics() {
  std::map<std::string, Fabric> fabrics;
  for (const MeasuredRow& row : ReadMeasured("clusters.csv")) {
    fabrics.insert(
        {row.at("source"), Fabric(MeasuredCluster(row),
                                  *FindAccelerator(row.at("accelerator")))});
  }
  return fabrics;
}

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_MEASURED_TABLE_H_
