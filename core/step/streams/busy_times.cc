#include "core/step/streams/busy_times.h"

#include <algorithm>
#include <limits>

namespace prism::step {
namespace {

constexpr size_t kFirstDrop = 32;

}  // namespace

void BusyTimes::Reset(int streams, size_t rows, double factor) {
  rows_ = rows;
  factor_ = factor;
  streams_.resize(streams);
  for (Intervals& intervals : streams_) {
    intervals.start.clear();
    intervals.end.clear();
    intervals.next.assign(rows, 0);
    intervals.count = 0;
    intervals.drop_at = kFirstDrop;
  }
}

void BusyTimes::Add(int stream, const double* start, const double* end) {
  Intervals& intervals = streams_[stream];
  if (Extends(intervals, start)) {
    std::copy_n(end, rows_, intervals.end.end() - rows_);
    const auto last = static_cast<uint32_t>(intervals.count - 1);
    for (uint32_t& next : intervals.next) next = std::min(next, last);
    return;
  }
  if (intervals.count == intervals.drop_at) DropPast(intervals);
  intervals.start.insert(intervals.start.end(), start, start + rows_);
  intervals.end.insert(intervals.end.end(), end, end + rows_);
  ++intervals.count;
}

// Whether the last interval goes on for all rows.
bool BusyTimes::Extends(const Intervals& intervals, const double* start) const {
  return intervals.count > 0 &&
         std::equal(start, start + rows_, intervals.end.end() - rows_);
}

// Drops what is over for all rows; where that is little, waits longer with the
// next look.
void BusyTimes::DropPast(Intervals& intervals) {
  const size_t past =
      *std::min_element(intervals.next.begin(), intervals.next.end());
  intervals.start.erase(intervals.start.begin(),
                        intervals.start.begin() + past * rows_);
  intervals.end.erase(intervals.end.begin(),
                      intervals.end.begin() + past * rows_);
  for (uint32_t& next : intervals.next) next -= static_cast<uint32_t>(past);
  intervals.count -= past;
  if (intervals.count > intervals.drop_at / 2) intervals.drop_at *= 2;
}

void BusyTimes::Stretch(const double* start, const double* work, double* end) {
  for (size_t row = 0; row < rows_; ++row) {
    end[row] = StretchRow(row, start[row], work[row]);
  }
}

// From event to event: a stream becomes busy or free.
double BusyTimes::StretchRow(size_t row, double time, double work) {
  while (work > 0) {
    bool busy = false;
    double until = std::numeric_limits<double>::infinity();
    for (Intervals& intervals : streams_) {
      uint32_t& next = intervals.next[row];
      while (next < intervals.count &&
             intervals.end[next * rows_ + row] <= time) {
        ++next;
      }
      if (next == intervals.count) continue;
      const double start = intervals.start[next * rows_ + row];
      busy = busy || start <= time;
      until = std::min(
          until, start <= time ? intervals.end[next * rows_ + row] : start);
    }
    const double pace = busy ? factor_ : 1;
    const double possible = (until - time) / pace;
    if (possible >= work) return time + work * pace;
    work -= possible;
    time = until;
  }
  return time;
}

size_t BusyTimes::size() const {
  size_t size = 0;
  for (const Intervals& intervals : streams_) size += intervals.count;
  return size;
}

size_t BusyTimes::bytes() const {
  size_t numbers = 0;
  for (const Intervals& intervals : streams_) {
    numbers += intervals.start.capacity() + intervals.end.capacity();
  }
  return numbers * sizeof(double);
}

}  // namespace prism::step
