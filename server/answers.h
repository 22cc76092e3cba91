// Answers: where answers come from. The cache first, then a computation that
// is under way, then a new one.
//
// Knows nothing of transport and nothing of the model: a question is its key
// and a function that computes it. At most one computation of a question runs
// at a time (see Flight for the one exception), and it is cancelled when the
// last caller that waits for it leaves. Only exact answers are kept.
#ifndef PRISM_SERVER_ANSWERS_H_
#define PRISM_SERVER_ANSWERS_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/answer_cache.h"
#include "server/clock.h"
#include "server/compute_pool.h"
#include "server/flight.h"
#include "server/metrics.h"

namespace prism::server {

struct AnswersOptions {
  int workers = 1;
  int queue_limit = 1024;
  size_t cache_bytes = 256 << 20;
  absl::Duration ttl = absl::Hours(24);
  // Longest computation, whatever the deadlines.
  absl::Duration max_prediction = absl::Minutes(1);
};

// Thread-safe.
class Answers {
 public:
  // `metrics` outlives the object.
  Answers(const AnswersOptions& options, Clock clock, Metrics& metrics);

  // Replies from the cache to all `questions`, or, if any is not there, none.
  std::vector<Reply> FindAll(const std::vector<KnownQuestion>& questions);

  // Asks one question: either there is a reply at once, or `done` is called
  // later and Leave(waiter) says that the caller no longer waits.
  //
  // Errors: RESOURCE_EXHAUSTED if the queue is full. `done` gets what compute
  // returned, or DEADLINE_EXCEEDED.
  struct Asked {
    std::optional<Reply> reply;
    WaiterId waiter = 0;
  };
  absl::StatusOr<Asked> Ask(std::shared_ptr<const QuestionKey> key,
                            Compute compute, absl::Time deadline, Done done);

  // After this `done` is not called, unless a call has already begun.
  void Leave(WaiterId waiter);

  const AnswerCache& cache() const { return cache_; }

 private:
  using FlightPtr = std::shared_ptr<Flight>;

  Flight* FindFlight(const QuestionKey& key, absl::Time deadline);
  // False if the pool refuses it.
  bool Launch(const FlightPtr& flight);
  void Forget(const Flight& flight);
  void Run(const FlightPtr& flight);
  absl::StatusOr<Computed> Compute(Flight& flight);
  // Ends a flight: its waiters get `result`, or another flight.
  void Land(const FlightPtr& flight, absl::StatusOr<Computed> result);
  // Waiters that go on; those in `waiters` that could not are left in it.
  void Relaunch(const Flight& flight, std::vector<Waiter>& waiters);
  absl::StatusOr<std::shared_ptr<const Answer>> Finished(
      const QuestionKey& key, absl::StatusOr<Computed> result);

  const AnswersOptions options_;
  const Clock clock_;
  Metrics& metrics_;
  AnswerCache cache_;

  // Guards what follows, and all flights. Taken before the pool's lock.
  std::mutex mutex_;
  std::unordered_multimap<std::string, FlightPtr> flights_;  // by signature
  std::unordered_map<WaiterId, FlightPtr> waiting_;
  WaiterId next_waiter_ = 1;

  ComputePool pool_;  // last: its tasks use all the rest
};

}  // namespace prism::server

#endif  // PRISM_SERVER_ANSWERS_H_
