// Flight: one computation under way and the callers that wait for it.
#ifndef PRISM_SERVER_FLIGHT_H_
#define PRISM_SERVER_FLIGHT_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "prism/v1/prediction.pb.h"
#include "server/answer.h"
#include "server/clock.h"

namespace prism::server {

// How a question is known: the signature finds, the canonical form proves.
struct QuestionKey {
  std::string signature;
  std::string canonical_form;

  bool operator==(const QuestionKey&) const = default;
};

// A question as it is remembered.
struct KnownQuestion {
  QuestionKey key;
  std::string cluster_version;  // as of Reply
};

// Computes the answer to one question. May run on any thread, several times.
using Compute = std::function<absl::StatusOr<Computed>(const base::Budget&,
                                                       base::Executor&)>;

using WaiterId = uint64_t;
// Called once, on any thread, without locks.
using Done = std::function<void(absl::StatusOr<Reply>)>;

struct Waiter {
  WaiterId id;
  absl::Time deadline;
  prism::v1::CacheStatus cache;  // MISS for who began, COALESCED for the rest
  Done done;
};

// The computation ends by the earliest deadline of its waiters, so that each
// gets an answer, if a reduced one. Were any caller let in, one in a hurry
// could cut short a patient one's computation again and again; so a flight
// gives up at most a quarter of its time, and who has less starts another.
//
// The Budget part is thread-safe; the rest is guarded by the owner.
class Flight final : public base::Budget,
                     public std::enable_shared_from_this<Flight> {
 public:
  // Requires: `first` has a finite deadline.
  Flight(std::shared_ptr<const QuestionKey> key, Compute compute, Waiter first,
         Clock clock);

  // Whether a caller with `deadline` may wait here.
  bool Admits(absl::Time deadline) const;
  // Requires: Admits(waiter.deadline).
  void Add(Waiter waiter);
  // Returns whether nobody is left.
  bool Remove(WaiterId id);

  // Takes those who asked for much more time than this flight had, and who
  // would gain from another: where time ran out, not something else.
  std::vector<Waiter> TakePatient();
  std::vector<Waiter> TakeAll() { return std::exchange(waiters_, {}); }

  void Cancel() { cancelled_ = true; }
  // The computation begins.
  void Begin() { begin_ = clock_(); }

  // base::Budget. Remaining() keeps a little for sending the answer.
  bool Cancelled() const override { return cancelled_; }
  absl::Duration Elapsed() const override { return clock_() - begin_; }
  absl::Duration Remaining() const override;

  absl::Time deadline() const;
  const std::shared_ptr<const QuestionKey>& key() const { return key_; }
  const Compute& compute() const { return compute_; }
  const std::vector<Waiter>& waiters() const { return waiters_; }

  // Its place in the queue of the pool.
  uint64_t task_id = 0;

 private:
  const std::shared_ptr<const QuestionKey> key_;
  const Compute compute_;
  const Clock clock_;
  const absl::Time created_;
  const absl::Time earliest_deadline_;  // that is admitted
  const absl::Duration reserve_;        // for sending the answer
  std::vector<Waiter> waiters_;
  absl::Time begin_;
  std::atomic<bool> cancelled_{false};
  std::atomic<int64_t> deadline_nanos_;  // since the epoch
};

}  // namespace prism::server

#endif  // PRISM_SERVER_FLIGHT_H_
