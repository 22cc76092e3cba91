// BusyTimes: when the network streams of the ranks of a stage are busy, and how
// long computation beside them takes.
//
// Rows of ranks, as everywhere in the simulation. The tasks of one stream are
// added in the order in which they run, and a rank's computation comes after
// whatever was asked about it before; then each interval is looked at once.
#ifndef PRISM_CORE_STEP_STREAMS_BUSY_TIMES_H_
#define PRISM_CORE_STEP_STREAMS_BUSY_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prism::step {

// Not thread-safe.
class BusyTimes {
 public:
  // Nothing is busy. `factor`, at least 1, is what time beside a busy stream
  // counts.
  void Reset(int streams, size_t rows, double factor);

  // A task of `stream` runs from start[row] to end[row]. Requires: it does not
  // start before the end of the one added before.
  void Add(int stream, const double* start, const double* end);

  // end[row] = when `work[row]` seconds of computation that start at
  // start[row] are done: a second of work takes `factor` while any stream is
  // busy. Requires: what is busy then has been added, and start[row] is at
  // least what was asked before.
  void Stretch(const double* start, const double* work, double* end);

  // Intervals kept.
  size_t size() const;

  // Memory that they take: 16 bytes by interval and row, and what is spare.
  size_t bytes() const;

 private:
  // Intervals of one stream, [interval][row], and each row's first that may
  // not be over.
  struct Intervals {
    std::vector<double> start, end;
    std::vector<uint32_t> next;
    size_t count = 0;
    size_t drop_at = 0;  // count at which those that are over are dropped
  };

  bool Extends(const Intervals& intervals, const double* start) const;
  void DropPast(Intervals& intervals);
  double StretchRow(size_t row, double time, double work);

  std::vector<Intervals> streams_;
  size_t rows_ = 0;
  double factor_ = 1;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STREAMS_BUSY_TIMES_H_
