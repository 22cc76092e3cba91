// Operator times against measured ones.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/hardware/operator_time.h"

namespace prism::hardware {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> ReadTable(const std::string& name) {
  std::ifstream file(std::string(PRISM_SOURCE_DIR) +
                     "/tests/data/kernel-and-collective-latency/" + name);
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);  // heading
  while (std::getline(file, line)) {
    Row& row = rows.emplace_back();
    std::istringstream cells(line);
    std::string cell;
    while (std::getline(cells, cell, ',')) row.push_back(cell);
  }
  return rows;
}

// Mean of |ln(predicted / measured)|.
class LogError {
 public:
  void Add(double predicted, double measured) {
    sum_ += std::abs(std::log(predicted / measured));
    ++count_;
  }
  double mean() const { return sum_ / count_; }
  int count() const { return count_; }

 private:
  double sum_ = 0;
  int count_ = 0;
};

// Of kernels by themselves, as they were measured.
OperatorSpeeds Alone() {
  OperatorSpeeds speeds;
  for (ArchitectureSpeeds& of : speeds.architectures) of.product.fill(1);
  return speeds;
}

LogError ProductError(const char* accelerator, const char* table) {
  const OperatorModel model(*FindAccelerator(accelerator), Alone());
  LogError error;
  for (const Row& row : ReadTable(table)) {
    const MatrixProduct product = {
        .m = std::stod(row[0]), .n = std::stod(row[1]), .k = std::stod(row[2])};
    error.Add(1e3 * model.MatrixProductSeconds(product, NumberFormat::kBf16),
              std::stod(row[3]));
  }
  return error;
}

TEST(MeasuredProductsTest, A100IsWithinThreePercentOnAverage) {
  const LogError error = ProductError("a100-80gb-sxm", "gemm_a100_sxm.csv");
  EXPECT_GT(error.count(), 200);
  EXPECT_LT(error.mean(), 0.03);
}

TEST(MeasuredProductsTest, H100IsWithinEightPercentOnAverage) {
  const LogError error = ProductError("h100-80gb-sxm", "gemm_h100_sxm.csv");
  EXPECT_GT(error.count(), 200);
  EXPECT_LT(error.mean(), 0.08);  // outliers are not followed
}

}  // namespace
}  // namespace prism::hardware
