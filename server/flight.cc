#include "server/flight.h"

#include <algorithm>

namespace prism::server {
namespace {

// Part of its time a flight must keep when others join.
constexpr double kKept = 0.75;
// Waiters with this much more time than the flight are patient.
constexpr double kPatient = 1.5;
// A computation that used less of its time ended for another reason.
constexpr double kUsed = 0.5;

// Share of its time, and most of it, that is kept for summing up the samples
// and sending the answer.
constexpr double kReserve = 0.1;
constexpr absl::Duration kMostReserve = absl::Milliseconds(250);

}  // namespace

Flight::Flight(std::shared_ptr<const QuestionKey> key, Compute compute,
               Waiter first, Clock clock)
    : key_(std::move(key)),
      compute_(std::move(compute)),
      clock_(std::move(clock)),
      created_(clock_()),
      earliest_deadline_(created_ + kKept * (first.deadline - created_)),
      reserve_(std::clamp(kReserve * (first.deadline - created_),
                          absl::ZeroDuration(), kMostReserve)),
      begin_(created_),
      deadline_nanos_(absl::ToUnixNanos(first.deadline)) {
  waiters_.push_back(std::move(first));
}

bool Flight::Admits(absl::Time deadline) const {
  return !cancelled_ && deadline >= earliest_deadline_;
}

void Flight::Add(Waiter waiter) {
  deadline_nanos_ =
      std::min(deadline_nanos_.load(), absl::ToUnixNanos(waiter.deadline));
  waiters_.push_back(std::move(waiter));
}

bool Flight::Remove(WaiterId id) {
  std::erase_if(waiters_, [id](const Waiter& w) { return w.id == id; });
  return waiters_.empty();
}

std::vector<Waiter> Flight::TakePatient() {
  const absl::Duration had = deadline() - created_;
  if (Elapsed() < kUsed * (deadline() - begin_)) return {};
  const absl::Time patient_from = created_ + kPatient * had;
  const auto patient = std::stable_partition(
      waiters_.begin(), waiters_.end(),
      [&](const Waiter& w) { return w.deadline < patient_from; });
  std::vector<Waiter> taken(std::make_move_iterator(patient),
                            std::make_move_iterator(waiters_.end()));
  waiters_.erase(patient, waiters_.end());
  return taken;
}

absl::Duration Flight::Remaining() const {
  return deadline() - reserve_ - clock_();
}

absl::Time Flight::deadline() const {
  return absl::FromUnixNanos(deadline_nanos_);
}

}  // namespace prism::server
