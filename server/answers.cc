#include "server/answers.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "server/rpc_status.h"

namespace prism::server {

Answers::Answers(const AnswersOptions& options, Clock clock, Metrics& metrics)
    : options_(options),
      clock_(std::move(clock)),
      metrics_(metrics),
      cache_(options.cache_bytes, metrics),
      pool_(options.workers, options.queue_limit, clock_, metrics) {}

std::vector<Reply> Answers::FindAll(
    const std::vector<KnownQuestion>& questions) {
  const absl::Time now = clock_();
  std::vector<Reply> replies;
  replies.reserve(questions.size());
  for (const KnownQuestion& question : questions) {
    auto answer = cache_.Find(question.key, now);
    if (answer == nullptr) return {};
    replies.push_back({std::move(answer), prism::v1::CACHE_STATUS_HIT,
                       question.cluster_version});
  }
  metrics_.cache_hits.Increment(static_cast<double>(replies.size()));
  return replies;
}

absl::StatusOr<Answers::Asked> Answers::Ask(
    std::shared_ptr<const QuestionKey> key, server::Compute compute,
    absl::Time deadline, Done done) {
  const absl::Time now = clock_();
  deadline = std::min(deadline, now + options_.max_prediction);
  std::lock_guard lock(mutex_);
  // Under the lock: a flight is in the cache before it leaves flights_.
  if (auto answer = cache_.Find(*key, now)) {
    metrics_.cache_hits.Increment();
    return Asked{Reply{std::move(answer), prism::v1::CACHE_STATUS_HIT, {}}};
  }
  Waiter waiter{next_waiter_++, deadline, prism::v1::CACHE_STATUS_COALESCED,
                std::move(done)};
  const WaiterId id = waiter.id;
  if (Flight* flight = FindFlight(*key, deadline)) {
    metrics_.cache_coalesced.Increment();
    flight->Add(std::move(waiter));
    waiting_[id] = flight->shared_from_this();
    return Asked{std::nullopt, id};
  }
  metrics_.cache_misses.Increment();
  waiter.cache = prism::v1::CACHE_STATUS_MISS;
  if (!Launch(std::make_shared<Flight>(std::move(key), std::move(compute),
                                       std::move(waiter), clock_))) {
    metrics_.shed_queue_full.Increment();
    return QueueFullError(pool_.ExpectedWait());
  }
  return Asked{std::nullopt, id};
}

void Answers::Leave(WaiterId waiter) {
  std::lock_guard lock(mutex_);
  const auto found = waiting_.find(waiter);
  if (found == waiting_.end()) return;
  const FlightPtr flight = found->second;
  waiting_.erase(found);
  if (!flight->Remove(waiter)) return;
  flight->Cancel();
  Forget(*flight);
  pool_.Withdraw(flight->task_id);
}

Flight* Answers::FindFlight(const QuestionKey& key, absl::Time deadline) {
  const auto [begin, end] = flights_.equal_range(key.signature);
  for (auto entry = begin; entry != end; ++entry) {
    Flight& flight = *entry->second;
    if (*flight.key() == key && flight.Admits(deadline)) return &flight;
  }
  return nullptr;
}

bool Answers::Launch(const FlightPtr& flight) {
  const auto task = pool_.Submit([this, flight] { Run(flight); });
  if (!task) return false;
  flight->task_id = *task;
  flights_.emplace(flight->key()->signature, flight);
  for (const Waiter& waiter : flight->waiters()) waiting_[waiter.id] = flight;
  return true;
}

void Answers::Forget(const Flight& flight) {
  const auto [begin, end] = flights_.equal_range(flight.key()->signature);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry->second.get() != &flight) continue;
    flights_.erase(entry);
    return;
  }
}

void Answers::Run(const FlightPtr& flight) {
  if (flight->Cancelled()) return;
  if (clock_() < flight->deadline()) {
    Land(flight, Compute(*flight));
  } else {
    metrics_.shed_expired.Increment();
    Land(flight, DeadlineError());
  }
}

absl::StatusOr<Computed> Answers::Compute(Flight& flight) {
  flight.Begin();
  absl::StatusOr<Computed> result;
  try {
    result = flight.compute()(flight, pool_);
  } catch (const std::exception& error) {
    result = absl::InternalError(absl::StrCat("exception: ", error.what()));
  }
  if (result.ok()) {
    metrics_.SimulationSeconds(result->engine)
        .Observe(absl::ToDoubleSeconds(flight.Elapsed()));
    metrics_.simulation_samples.Increment(static_cast<double>(result->samples));
  }
  return result;
}

void Answers::Land(const FlightPtr& flight, absl::StatusOr<Computed> result) {
  const bool short_of_time = result.ok()
                                 ? result->quality == prism::v1::QUALITY_REDUCED
                                 : absl::IsDeadlineExceeded(result.status());
  const auto answer = Finished(*flight->key(), std::move(result));
  std::vector<Waiter> waiters;
  {
    std::lock_guard lock(mutex_);
    Forget(*flight);
    if (short_of_time) {
      waiters = flight->TakePatient();
      Relaunch(*flight, waiters);
    }
    for (Waiter& waiter : flight->TakeAll()) {
      waiters.push_back(std::move(waiter));
    }
    for (const Waiter& waiter : waiters) waiting_.erase(waiter.id);
  }
  for (const Waiter& waiter : waiters) {
    if (answer.ok()) {
      waiter.done(Reply{*answer, waiter.cache, {}});
    } else {
      waiter.done(answer.status());
    }
  }
}

void Answers::Relaunch(const Flight& flight, std::vector<Waiter>& waiters) {
  if (waiters.empty()) return;
  const auto hurried = std::min_element(
      waiters.begin(), waiters.end(),
      [](const Waiter& a, const Waiter& b) { return a.deadline < b.deadline; });
  std::iter_swap(waiters.begin(), hurried);
  auto next = std::make_shared<Flight>(flight.key(), flight.compute(),
                                       std::move(waiters.front()), clock_);
  for (size_t i = 1; i < waiters.size(); ++i) next->Add(std::move(waiters[i]));
  waiters.clear();
  if (!Launch(next)) waiters = next->TakeAll();
}

absl::StatusOr<std::shared_ptr<const Answer>> Answers::Finished(
    const QuestionKey& key, absl::StatusOr<Computed> result) {
  if (!result.ok()) return result.status();
  auto answer = std::make_shared<Answer>();
  const bool exact = result->quality == prism::v1::QUALITY_EXACT;
  answer->canonical_form = key.canonical_form;
  answer->signature = key.signature;
  answer->bytes = std::move(result->bytes);
  answer->place = result->place;
  answer->quality = result->quality;
  answer->valid_until = exact ? clock_() + options_.ttl : clock_();

  prism::v1::Provenance provenance;
  provenance.set_signature(key.signature);
  const int64_t nanos = absl::ToUnixNanos(answer->valid_until);
  auto& valid_until = *provenance.mutable_valid_until();
  valid_until.set_seconds(nanos / 1000000000);
  valid_until.set_nanos(static_cast<int32_t>(nanos % 1000000000));
  AddProvenance(provenance, answer->place, answer->bytes);
  if (exact) cache_.Insert(key, answer);
  return answer;
}

}  // namespace prism::server
