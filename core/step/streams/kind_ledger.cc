#include "core/step/streams/kind_ledger.h"

#include <algorithm>

namespace prism::step {

void KindLedger::Reset(size_t stages, size_t kinds, size_t rows) {
  kinds_ = kinds;
  rows_ = rows;
  seconds_.assign(stages * kinds * rows, {});
}

void KindLedger::Forget(size_t stage) {
  std::fill_n(seconds_.begin() + stage * kinds_ * rows_, kinds_ * rows_,
              KindSeconds{});
}

void KindLedger::Spend(size_t stage, size_t kind, const double* from,
                       const double* to) {
  for (size_t row = 0; row < rows_; ++row) {
    At(stage, kind, row).spent += std::max(0.0, to[row] - from[row]);
  }
}

void KindLedger::AddBusy(size_t stage, size_t kind, const double* from,
                         const double* to) {
  for (size_t row = 0; row < rows_; ++row) {
    At(stage, kind, row).busy += std::max(0.0, to[row] - from[row]);
  }
}

}  // namespace prism::step
