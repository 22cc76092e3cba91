// KindLedger: what the time of every rank went to, by kind of task.
//
// For breakdowns. A rank's time is spent on the tasks of its first
// stream and on waiting for those of others; time that is booked nowhere was
// spent waiting for other ranks' operations.
#ifndef PRISM_CORE_STEP_STREAMS_KIND_LEDGER_H_
#define PRISM_CORE_STEP_STREAMS_KIND_LEDGER_H_

#include <cstddef>
#include <vector>

namespace prism::step {

struct KindSeconds {
  // What the rank spent on tasks of the kind or waiting for them.
  double spent = 0;
  // How long tasks of the kind ran, beside others or not.
  double busy = 0;
};

// Not thread-safe. Rows are of ranks of a stage.
class KindLedger {
 public:
  // Everything is 0.
  void Reset(size_t stages, size_t kinds, size_t rows);

  KindSeconds& At(size_t stage, size_t kind, size_t row) {
    return seconds_[(stage * kinds_ + kind) * rows_ + row];
  }

  // Everything of one stage is 0.
  void Forget(size_t stage);

  // Books to[row] - from[row] where that is above 0.
  void Spend(size_t stage, size_t kind, const double* from, const double* to);
  void AddBusy(size_t stage, size_t kind, const double* from, const double* to);

 private:
  size_t kinds_ = 0;
  size_t rows_ = 0;
  std::vector<KindSeconds> seconds_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STREAMS_KIND_LEDGER_H_
