#include "core/step/streams/event_simulator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "core/step/reference_draw.h"

namespace prism::step {
namespace {

using stats::Distribution;
using Action = std::function<void()>;

enum StreamName { kData, kCopies, kTensor, kStreamNames };

// What ranks do together, each on one of its streams: it starts when it is the
// first in the stream of every member.
struct Exchange {
  StreamName stream = kData;
  std::vector<int> members;
  const Distribution* law = nullptr;
  size_t ready = 0;  // members in whose stream it is the first
  bool done = false;
  std::vector<Action> when_done;
};

struct Rank {
  int replica = 0, stage = 0, lane = 0;
  std::deque<Action> todo;
  std::array<std::deque<Exchange*>, kStreamNames> streams;
  int running = 0;  // exchanges under way
  bool waits_for_streams = false;
  // Computation under way.
  bool computes = false;
  double left = 0, since = 0, pace = 1;
  int version = 0;  // of the event that ends it
};

// A run of a segment.
struct Run {
  const ProfileSegment* segment = nullptr;
  bool gathers = false, scatters = false;
};

class Simulation {
 public:
  Simulation(const StepProfile& profile, const PipelineOrder& order,
             std::mt19937_64* random)
      : profile_(profile), order_(order), random_(random) {
    compute_regime_ = Draw(profile.compute_regime);
    network_regime_ = Draw(profile.network_regime);
    for (int i = 0; i < profile.data * profile.microbatches; ++i) {
      load_.push_back(Draw(profile.microbatch_load));
    }
    for (int replica = 0; replica < profile.data; ++replica) {
      for (int stage = 0; stage < profile.pipeline; ++stage) {
        for (int lane = 0; lane < profile.tensor; ++lane) {
          Rank& rank = ranks_.emplace_back();
          rank.replica = replica, rank.stage = stage, rank.lane = lane;
        }
      }
    }
  }

  double Run() {
    for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) PlanRank(r);
    for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) Proceed(r);
    while (!events_.empty()) {
      Event event = events_.top();
      events_.pop();
      now_ = event.time;
      event.what();
    }
    for (const Rank& rank : ranks_) {
      if (!rank.todo.empty()) return std::numeric_limits<double>::quiet_NaN();
    }
    return last_end_;
  }

 private:
  // Draws and factors.

  double Draw(const Distribution& law) {
    if (random_ == nullptr) return ReferenceMean(law);
    return ReferenceDraw(law, *random_);
  }

  double Slowdown(int r) const {
    for (const auto& [rank, factor] : profile_.slowdown) {
      if (rank == r) return factor;
    }
    return 1;
  }

  double ComputeWork(int r, const Operation& op, const Distribution& law) {
    const double scale = profile_.stage_scale.empty()
                             ? 1
                             : profile_.stage_scale[op.virtual_stage];
    return Draw(law) * scale * Slowdown(r) * compute_regime_ *
           load_[ranks_[r].replica * profile_.microbatches + op.microbatch];
  }

  // Groups.

  int RankAt(int replica, int stage, int lane) const {
    return (replica * profile_.pipeline + stage) * profile_.tensor + lane;
  }

  std::vector<int> TensorGroup(int r) const {
    std::vector<int> members;
    for (int lane = 0; lane < profile_.tensor; ++lane) {
      members.push_back(RankAt(ranks_[r].replica, ranks_[r].stage, lane));
    }
    return members;
  }

  std::vector<int> Replicas(int r, const std::function<bool(int)>& has) const {
    std::vector<int> members;
    for (int replica = 0; replica < profile_.data; ++replica) {
      if (!has(replica)) continue;
      members.push_back(RankAt(replica, ranks_[r].stage, ranks_[r].lane));
    }
    return members;
  }

  int Shard() const {
    return profile_.shard == 0 ? profile_.data : profile_.shard;
  }
  std::vector<int> DataGroup(int r) const {
    return Replicas(r, [](int) { return true; });
  }
  std::vector<int> ShardGroup(int r) const {
    const int own = ranks_[r].replica / Shard();
    return Replicas(r, [=, this](int i) { return i / Shard() == own; });
  }
  std::vector<int> Copies(int r) const {
    const int own = ranks_[r].replica % Shard();
    return Replicas(r, [=, this](int i) { return i % Shard() == own; });
  }

  // The n-th call of a member with a label gets what the n-th calls of the
  // others with it get.
  Exchange* Join(int r, int label, StreamName stream, std::vector<int> members,
                 const Distribution& law) {
    const int number = joined_[{r, label}]++;
    auto& exchange = exchanges_[{members.front(), label, number}];
    if (exchange == nullptr) {
      exchange = std::make_unique<Exchange>();
      exchange->stream = stream;
      exchange->members = std::move(members);
      exchange->law = &law;
    }
    return exchange.get();
  }

  // What a rank does, one after the other.

  void PlanRank(int r) {
    const auto& operations = order_.operations[ranks_[r].stage];
    // A backward is of the kind of its input part when it comes to parameters
    // and of its weight part when it comes to gradients.
    const auto as = [](const Operation& op, Phase part) {
      return std::pair(op.phase == Phase::kBackward ? part : op.phase,
                       op.virtual_stage);
    };
    std::map<std::pair<Phase, int>, int> begun, left;
    for (const Operation& op : operations) {
      ++left[as(op, Phase::kBackwardWeight)];
    }
    for (const Operation& op : operations) {
      const bool first = begun[as(op, Phase::kBackwardInput)]++ == 0;
      PlanOperation(r, op, first, --left[as(op, Phase::kBackwardWeight)] == 0);
    }
    auto& todo = ranks_[r].todo;
    todo.push_back([=, this] { AwaitStreams(r); });
    auto* sync = Join(r, 0, kData, DataGroup(r), profile_.gradient_sync);
    todo.push_back([=, this] { Issue(r, sync), Proceed(r); });
    todo.push_back([=, this] { Await(r, sync); });
    todo.push_back([=, this] {
      const double work =
          Draw(profile_.optimizer) * Slowdown(r) * compute_regime_;
      At(now_ + work, [=, this] { Proceed(r); });
    });
    todo.push_back([=, this] { last_end_ = std::max(last_end_, now_); });
  }

  std::vector<struct Run> RunsOf(const Operation& op, bool first,
                                 bool last) const {
    std::vector<struct Run> runs;
    const auto add = [&](const std::vector<ProfileSegment>& segments) {
      for (const ProfileSegment& segment : segments) {
        const struct Run run = {
            &segment, segment.gather && (first || !profile_.gather_once),
            segment.scatter && (last || !profile_.scatter_once)};
        runs.insert(runs.end(), segment.count, run);
      }
    };
    if (op.phase == Phase::kForward) add(profile_.forward);
    if (op.phase == Phase::kBackward) add(profile_.backward);
    const bool whole =
        op.phase == Phase::kBackward && profile_.backward.empty();
    if (op.phase == Phase::kBackwardInput || whole)
      add(profile_.backward_input);
    if (op.phase == Phase::kBackwardWeight || whole) {
      add(profile_.backward_weight);
    }
    return runs;
  }

  void PlanOperation(int r, const Operation& op, bool first, bool last) {
    auto& todo = ranks_[r].todo;
    todo.push_back([=, this] { AwaitArrival(r, op); });
    const std::vector<struct Run> runs = RunsOf(op, first, last);
    std::vector<size_t> gathering;
    for (size_t j = 0; j < runs.size(); ++j) {
      if (runs[j].gathers) gathering.push_back(j);
    }
    std::vector<Exchange*> gathers;
    const auto issue_up_to = [&](size_t count) {
      while (gathers.size() < std::min(count, gathering.size())) {
        const auto* segment = runs[gathering[gathers.size()]].segment;
        auto* gather = Join(r, 1, kData, ShardGroup(r), *segment->gather);
        gathers.push_back(gather);
        todo.push_back([=, this] { Issue(r, gather), Proceed(r); });
      }
    };
    issue_up_to(profile_.prefetch);
    size_t waited = 0;
    Exchange* beside = nullptr;
    for (const struct Run& run : runs) {
      if (run.gathers) {
        issue_up_to(waited + 1 + profile_.prefetch);
        todo.push_back(
            [=, this, gather = gathers[waited]] { Await(r, gather); });
        ++waited;
      }
      todo.push_back([=, this, law = &run.segment->compute] {
        Compute(r, ComputeWork(r, op, *law));
      });
      PlanCollective(r, *run.segment, beside);
      if (run.scatters) PlanScatter(r, *run.segment);
    }
    if (beside != nullptr) todo.push_back([=, this] { Await(r, beside); });
    todo.push_back([=, this] { Send(r, op), Proceed(r); });
  }

  // Ends the run, and what ran beside it.
  void PlanCollective(int r, const ProfileSegment& segment, Exchange*& beside) {
    auto& todo = ranks_[r].todo;
    const bool data = segment.sync == Sync::kData;
    std::vector<int> members = {r};
    if (data) members = DataGroup(r);
    if (segment.sync == Sync::kTensor) members = TensorGroup(r);
    const int label = 2 + static_cast<int>(segment.sync);
    auto* collective = Join(r, label, data ? kData : kTensor,
                            std::move(members), segment.collective);
    todo.push_back([=, this] { Issue(r, collective), Proceed(r); });
    if (!segment.overlap) {
      todo.push_back([=, this] { Await(r, collective); });
    }
    if (beside != nullptr) {
      todo.push_back([=, this, last = beside] { Await(r, last); });
    }
    beside = segment.overlap ? collective : nullptr;
  }

  void PlanScatter(int r, const ProfileSegment& segment) {
    auto& todo = ranks_[r].todo;
    auto* scatter = Join(r, 6, kData, ShardGroup(r), *segment.scatter);
    Exchange* reduce = nullptr;
    if (segment.reduce) {
      reduce = Join(r, 7, kCopies, Copies(r), *segment.reduce);
    }
    todo.push_back([=, this] {
      ++pending_[r];
      scatter->when_done.push_back([=, this] {
        if (reduce != nullptr) Issue(r, reduce);
        --pending_[r];
      });
      Issue(r, scatter);
      Proceed(r);
    });
  }

  // How it is done.

  void At(double time, Action what) {
    events_.push({time, ++events_added_, std::move(what)});
  }

  void Proceed(int r) {
    auto& todo = ranks_[r].todo;
    if (todo.empty()) return;
    const Action next = std::move(todo.front());
    todo.pop_front();
    next();
  }

  void Compute(int r, double work) {
    Rank& rank = ranks_[r];
    rank.computes = true;
    rank.left = work;
    rank.since = now_;
    SetPace(r);
  }

  // Called whenever computation begins or what runs beside it changes.
  void SetPace(int r) {
    Rank& rank = ranks_[r];
    if (!rank.computes) return;
    rank.left = std::max(0.0, rank.left - (now_ - rank.since) / rank.pace);
    rank.since = now_;
    rank.pace = rank.running > 0 ? profile_.overlap_slowdown : 1;
    const int version = ++rank.version;
    At(now_ + rank.left * rank.pace, [=, this] {
      if (ranks_[r].version != version || !ranks_[r].computes) return;
      ranks_[r].computes = false;
      Proceed(r);
    });
  }

  void Issue(int r, Exchange* exchange) {
    auto& stream = ranks_[r].streams[exchange->stream];
    stream.push_back(exchange);
    if (stream.size() == 1) BecomeFirst(exchange);
  }

  void BecomeFirst(Exchange* exchange) {
    if (++exchange->ready < exchange->members.size()) return;
    for (int member : exchange->members) {
      ++ranks_[member].running;
      SetPace(member);
    }
    At(now_ + Draw(*exchange->law) * network_regime_,
       [=, this] { End(exchange); });
  }

  void End(Exchange* exchange) {
    exchange->done = true;
    for (int member : exchange->members) {
      Rank& rank = ranks_[member];
      --rank.running;
      SetPace(member);
      auto& stream = rank.streams[exchange->stream];
      stream.pop_front();
      if (!stream.empty()) BecomeFirst(stream.front());
    }
    for (const Action& action : std::exchange(exchange->when_done, {})) {
      action();
    }
    for (int member : exchange->members) WakeIfIdle(member);
  }

  void Await(int r, Exchange* exchange) {
    if (exchange->done) return Proceed(r);
    exchange->when_done.push_back([=, this] { Proceed(r); });
  }

  void AwaitStreams(int r) {
    ranks_[r].waits_for_streams = true;
    WakeIfIdle(r);
  }

  void WakeIfIdle(int r) {
    Rank& rank = ranks_[r];
    if (!rank.waits_for_streams || pending_[r] > 0) return;
    for (const auto& stream : rank.streams) {
      if (!stream.empty()) return;
    }
    rank.waits_for_streams = false;
    Proceed(r);
  }

  // The virtual stage before (-1) or after (+1) in the same chain, or -1.
  int Neighbour(int virtual_stage, int direction) const {
    const int length = static_cast<int>(order_.stage_of.size()) / order_.chains;
    const int in_chain = virtual_stage % length + direction;
    if (in_chain < 0 || in_chain == length) return -1;
    return virtual_stage + direction;
  }

  static bool IsGradient(Phase phase) {
    return phase == Phase::kBackward || phase == Phase::kBackwardInput;
  }

  // The second of message and receiver finds that the first is there. What
  // comes from an operation of the same stage is there before.
  void AwaitArrival(int r, const Operation& op) {
    const bool forward = op.phase == Phase::kForward;
    const int from = forward || IsGradient(op.phase)
                         ? Neighbour(op.virtual_stage, forward ? -1 : 1)
                         : -1;
    if (from == -1 || order_.stage_of[from] == ranks_[r].stage) {
      return Proceed(r);
    }
    const Message message = {forward, op.virtual_stage, op.microbatch, r};
    if (!met_.insert(message).second) Proceed(r);
  }

  void Send(int r, const Operation& op) {
    const bool forward = op.phase == Phase::kForward;
    if (!forward && !IsGradient(op.phase)) return;
    const int to = Neighbour(op.virtual_stage, forward ? 1 : -1);
    const Rank& rank = ranks_[r];
    if (to == -1 || order_.stage_of[to] == rank.stage) return;
    const auto [hop, is_new] =
        hops_.try_emplace({forward, to, op.microbatch, rank.replica});
    if (is_new) hop->second = Draw(profile_.transfer) * network_regime_;
    const int receiver = RankAt(rank.replica, order_.stage_of[to], rank.lane);
    const Message message = {forward, to, op.microbatch, receiver};
    At(now_ + hop->second, [=, this] {
      if (!met_.insert(message).second) Proceed(receiver);
    });
  }

  using Message = std::tuple<bool, int, int, int>;  // forward first
  struct Event {
    double time;
    int64_t number;
    Action what;
    bool operator<(const Event& other) const {
      return std::tie(time, number) > std::tie(other.time, other.number);
    }
  };

  const StepProfile& profile_;
  const PipelineOrder& order_;
  std::mt19937_64* const random_;
  double compute_regime_ = 1, network_regime_ = 1;
  std::vector<double> load_;  // [replica][micro-batch]

  std::vector<Rank> ranks_;
  std::map<std::pair<int, int>, int> joined_;
  std::map<std::tuple<int, int, int>, std::unique_ptr<Exchange>> exchanges_;
  std::map<int, int> pending_;  // scatters that are not over
  std::set<Message> met_;
  std::map<Message, double> hops_;

  double now_ = 0, last_end_ = 0;
  std::priority_queue<Event> events_;
  int64_t events_added_ = 0;
};

}  // namespace

double EventStep(const StepProfile& profile, const PipelineOrder& order,
                 std::mt19937_64* random) {
  return Simulation(profile, order, random).Run();
}

}  // namespace prism::step
