#include "core/placement/local_search.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "core/placement/budgets.h"

namespace prism::placement {
namespace {

// Gains below this share of the end are rounding.
constexpr double kLeastGain = 2e-6;
// Finding out how a placement communicates costs as much as so many operations
// a GPU.
constexpr double kShapeWork = 50;
constexpr int kFree = -1;
// Moves that are looked at together; each changes two replicas or so.
constexpr size_t kBatch = kColumns / 2;

// The node at position `a` goes to position `b`, or is freed, for `node`.
struct Move {
  int a = 0;
  int b = kFree;
  int64_t node = 0;
};

// Replicas that a move changes, with their slowdowns and ends after it.
struct Changed {
  int move = 0;
  int replica = 0;
  std::vector<float> slowdown;
  double end = 0;
};

// A stride below `count` that visits all of [0, count) and leaves neighbours
// far apart.
size_t ScatteringStride(size_t count) {
  auto stride = static_cast<size_t>(0.618 * static_cast<double>(count)) + 1;
  while (std::gcd(stride, count) != 1) ++stride;
  return stride % count;
}

class Search final {
 public:
  Search(JobModel& model, const Pools& pools, const Pool& pool,
         const NodeList& start, const SearchOptions& options,
         const base::Budget& budget)
      : model_(model),
        layout_(model.layout()),
        pools_(pools),
        pool_(pool),
        options_(options),
        budget_(budget),
        random_(options.seed),
        nodes_(start) {}

  absl::StatusOr<SearchResult> Run();

 private:
  absl::Status Start();
  void PlaceAll();
  // All ends, with `communication`.
  void AllEnds(const Communication& communication, std::vector<double>& ends);
  double EndOf(const Communication& communication, const float* slowdown,
               const float* clock, int column) const;

  // The latest replica that was not found stuck, or -1.
  int NextReplica() const;
  // Names the positions of a replica.
  void SetOwn(int replica);
  // The move of position `a` to position `target` or, beyond them, to a free
  // node, if it can be of use.
  std::optional<Move> MoveTo(int a, size_t target) const;
  // True where a move was made.
  absl::StatusOr<bool> ImproveReplica(int replica);
  // The same among moves that do, or do not, leave the communication alone.
  absl::StatusOr<bool> TryTargets(bool together);
  absl::StatusOr<bool> TryElsewhere(const Move& move);
  // Of moves that leave the communication as it is.
  bool TryHere(const std::vector<Move>& moves);
  void Change(const Move& move, int index, std::vector<Changed>& changed);
  void ComputeEnds(std::vector<Changed>& changed);
  void Make(const Move& move);
  bool LieTogether(const Move& move) const;

  double SlowdownOf(int64_t node) const {
    return pools_.FactorOf(node) / model_.assumed_slowdown();
  }
  bool OutOfWork() const {
    return work_ > options_.work || !StatusOf(budget_).ok();
  }

  JobModel& model_;
  const Layout& layout_;
  const Pools& pools_;
  const Pool& pool_;
  const SearchOptions& options_;
  const base::Budget& budget_;
  std::mt19937_64 random_;
  ReplicaResponse::Workspace workspace_;

  NodeList nodes_;
  std::vector<int64_t> free_;
  Communication communication_;
  std::vector<double> position_slowdown_;
  std::vector<float> slowdown_;  // [replica][stage]
  std::vector<double> ends_;     // by replica
  std::vector<char> stuck_;      // by replica
  std::vector<int> own_;         // positions of the replica in hand
  std::vector<char> is_own_;     // by position
  std::vector<float> block_, clock_;
  double work_ = 0;
  int64_t evaluated_ = 0;
};

void Search::PlaceAll() {
  position_slowdown_.clear();
  for (const int64_t node : nodes_) {
    position_slowdown_.push_back(SlowdownOf(node));
  }
  slowdown_.clear();
  for (int r = 0; r < layout_.replicas(); ++r) {
    for (int s = 0; s < layout_.stages(); ++s) {
      slowdown_.push_back(
          static_cast<float>(model_.CellSlowdown(r, s, position_slowdown_)));
    }
  }
}

absl::Status Search::Start() {
  auto communication = model_.CommunicationOf(nodes_);
  if (!communication.ok()) return communication.status();
  communication_ = *std::move(communication);
  std::vector<int64_t> used = nodes_;
  std::sort(used.begin(), used.end());
  for (const int64_t node : pool_.nodes) {
    if (!std::binary_search(used.begin(), used.end(), node)) {
      free_.push_back(node);
    }
  }
  block_.resize(static_cast<size_t>(layout_.stages()) * kColumns);
  clock_.resize(block_.size());
  stuck_.assign(static_cast<size_t>(layout_.replicas()), 0);
  PlaceAll();
  AllEnds(communication_, ends_);
  return absl::OkStatus();
}

double Search::EndOf(const Communication& communication, const float* slowdown,
                     const float* clock, int column) const {
  double end = 0;
  for (int s = 0; s < layout_.stages(); ++s) {
    const ClosingTime& closing = communication.closing[s];
    end = std::max(end, clock[s * kColumns + column] + closing.network +
                            closing.optimizer * slowdown[s]);
  }
  return end;
}

void Search::AllEnds(const Communication& communication,
                     std::vector<double>& ends) {
  const int stages = layout_.stages();
  ends.resize(static_cast<size_t>(layout_.replicas()));
  for (int first = 0; first < layout_.replicas(); first += kColumns) {
    const int count = std::min(kColumns, layout_.replicas() - first);
    for (int c = 0; c < kColumns; ++c) {
      const int r = first + std::min(c, count - 1);
      for (int s = 0; s < stages; ++s) {
        block_[s * kColumns + c] = slowdown_[r * stages + s];
      }
    }
    model_.response().Ends(model_.pipeline(communication.pipeline),
                           block_.data(), workspace_, clock_.data());
    for (int c = 0; c < count; ++c) {
      ends[first + c] = EndOf(communication, &slowdown_[(first + c) * stages],
                              clock_.data(), c);
    }
    work_ += static_cast<double>(model_.response().operations()) * kColumns;
  }
}

int Search::NextReplica() const {
  const double latest = *std::max_element(ends_.begin(), ends_.end());
  int next = -1;
  for (int r = 0; r < layout_.replicas(); ++r) {
    if (stuck_[r] || ends_[r] < latest * (1 - options_.window)) continue;
    if (next < 0 || ends_[r] > ends_[next]) next = r;
  }
  return next;
}

// Only a faster node, or another order, makes a replica earlier.
std::optional<Move> Search::MoveTo(int a, size_t target) const {
  Move move = {.a = a};
  if (target < nodes_.size()) {
    const bool useful =
        is_own_[target] ? static_cast<int>(target) > a
                        : position_slowdown_[target] < position_slowdown_[a];
    if (!useful) return std::nullopt;
    move.b = static_cast<int>(target);
    move.node = nodes_[target];
  } else {
    move.node = free_[target - nodes_.size()];
  }
  if (!pools_.SameBlockUnit(nodes_[a], move.node)) return std::nullopt;
  return move;
}

void Search::SetOwn(int replica) {
  is_own_.assign(nodes_.size(), 0);
  own_.clear();
  for (int s = 0; s < layout_.stages(); ++s) {
    for (const Seat& seat : layout_.Cell(replica, s)) {
      if (!is_own_[seat.position]) own_.push_back(seat.position);
      is_own_[seat.position] = 1;
    }
  }
}

bool Search::LieTogether(const Move& move) const {
  return model_.cluster().path_states.empty() &&
         model_.units().LieTogether(nodes_[move.a], move.node);
}

void Search::Change(const Move& move, int index,
                    std::vector<Changed>& changed) {
  const int stages = layout_.stages();
  const double before_a = position_slowdown_[move.a];
  position_slowdown_[move.a] = SlowdownOf(move.node);
  if (move.b != kFree) position_slowdown_[move.b] = before_a;
  const size_t first = changed.size();
  auto touch = [&](int position) {
    for (const int32_t cell : layout_.CellsAt(position)) {
      const int replica = cell / stages;
      size_t i = first;
      while (i < changed.size() && changed[i].replica != replica) ++i;
      if (i == changed.size()) {
        const float* row = &slowdown_[replica * stages];
        changed.push_back({.move = index,
                           .replica = replica,
                           .slowdown = {row, row + stages}});
      }
      changed[i].slowdown[cell % stages] = static_cast<float>(
          model_.CellSlowdown(replica, cell % stages, position_slowdown_));
    }
  };
  touch(move.a);
  if (move.b != kFree) touch(move.b);
  if (move.b != kFree) position_slowdown_[move.b] = SlowdownOf(move.node);
  position_slowdown_[move.a] = before_a;
}

void Search::ComputeEnds(std::vector<Changed>& changed) {
  const int stages = layout_.stages();
  for (size_t first = 0; first < changed.size(); first += kColumns) {
    const size_t count = std::min<size_t>(kColumns, changed.size() - first);
    for (int c = 0; c < kColumns; ++c) {
      const auto& slowdown =
          changed[first + std::min<size_t>(c, count - 1)].slowdown;
      for (int s = 0; s < stages; ++s) block_[s * kColumns + c] = slowdown[s];
    }
    model_.response().Ends(model_.pipeline(communication_.pipeline),
                           block_.data(), workspace_, clock_.data());
    for (size_t c = 0; c < count; ++c) {
      Changed& one = changed[first + c];
      one.end = EndOf(communication_, one.slowdown.data(), clock_.data(),
                      static_cast<int>(c));
    }
    work_ += static_cast<double>(model_.response().operations()) * kColumns;
  }
}

void Search::Make(const Move& move) {
  const int64_t out = nodes_[move.a];
  nodes_[move.a] = move.node;
  if (move.b != kFree) {
    nodes_[move.b] = out;
  } else {
    *std::find(free_.begin(), free_.end(), move.node) = out;
  }
  position_slowdown_[move.a] = SlowdownOf(move.node);
  if (move.b != kFree) position_slowdown_[move.b] = SlowdownOf(out);
}

// The best of the moves by the latest replica it changes, if that gets earlier.
bool Search::TryHere(const std::vector<Move>& moves) {
  std::vector<Changed> changed;
  for (size_t i = 0; i < moves.size(); ++i) {
    Change(moves[i], static_cast<int>(i), changed);
  }
  ComputeEnds(changed);
  evaluated_ += static_cast<int64_t>(moves.size());
  int best = -1;
  double best_gain = 0;
  for (size_t i = 0; i < changed.size();) {
    const int move = changed[i].move;
    double before = 0, after = 0;
    for (; i < changed.size() && changed[i].move == move; ++i) {
      before = std::max(before, ends_[changed[i].replica]);
      after = std::max(after, changed[i].end);
    }
    const double gain = before - after;
    if (gain > kLeastGain * before && gain > best_gain) {
      best = move;
      best_gain = gain;
    }
  }
  if (best < 0) return false;
  Make(moves[best]);
  for (Changed& one : changed) {
    if (one.move != best) continue;
    std::copy(one.slowdown.begin(), one.slowdown.end(),
              &slowdown_[one.replica * layout_.stages()]);
    ends_[one.replica] = one.end;
    stuck_[one.replica] = 0;
  }
  return true;
}

absl::StatusOr<bool> Search::TryElsewhere(const Move& move) {
  const int64_t out = nodes_[move.a];
  NodeList nodes = nodes_;
  nodes[move.a] = move.node;
  if (move.b != kFree) nodes[move.b] = out;
  auto communication = model_.CommunicationOf(nodes);
  if (!communication.ok()) return communication.status();
  work_ += kShapeWork * layout_.gpus();
  if (*communication == communication_) return TryHere({move});
  // Everybody's end may change: the latest of all decides.
  const std::vector<float> slowdown = slowdown_;
  const std::vector<double> positions = position_slowdown_;
  const double before = *std::max_element(ends_.begin(), ends_.end());
  std::vector<double> ends;
  std::swap(nodes, nodes_);
  PlaceAll();
  AllEnds(*communication, ends);
  ++evaluated_;
  const double after = *std::max_element(ends.begin(), ends.end());
  if (before - after <= kLeastGain * before) {
    std::swap(nodes, nodes_);
    slowdown_ = slowdown;
    position_slowdown_ = positions;
    return false;
  }
  if (move.b == kFree) {
    *std::find(free_.begin(), free_.end(), move.node) = out;
  }
  communication_ = *std::move(communication);
  ends_ = std::move(ends);
  std::fill(stuck_.begin(), stuck_.end(), 0);
  return true;
}

absl::StatusOr<bool> Search::ImproveReplica(int replica) {
  SetOwn(replica);
  // First the moves that leave the communication alone, which are cheap.
  for (const bool together : {true, false}) {
    const auto moved = TryTargets(together);
    if (!moved.ok() || *moved) return moved;
  }
  return false;
}

absl::StatusOr<bool> Search::TryTargets(bool together) {
  const size_t targets = nodes_.size() + free_.size();
  const size_t stride = ScatteringStride(targets);
  size_t target = random_() % targets;
  std::vector<Move> batch;
  for (size_t k = 0; k < targets; ++k) {
    target += stride;
    if (target >= targets) target -= targets;
    for (const int a : own_) {
      const auto move = MoveTo(a, target);
      if (!move || LieTogether(*move) != together) continue;
      if (OutOfWork()) return false;
      if (!together) {
        const auto moved = TryElsewhere(*move);
        if (!moved.ok() || *moved) return moved;
        continue;
      }
      batch.push_back(*move);
      if (batch.size() < kBatch) continue;
      if (TryHere(batch)) return true;
      batch.clear();
    }
  }
  return !batch.empty() && TryHere(batch);
}

absl::StatusOr<SearchResult> Search::Run() {
  if (absl::Status status = Start(); !status.ok()) return status;
  SearchResult result;
  for (int replica = NextReplica(); replica >= 0; replica = NextReplica()) {
    if (budget_.Cancelled()) return StatusOf(budget_);
    if (OutOfWork()) {
      result.complete = false;
      break;
    }
    const double end = ends_[replica];
    const auto moved = ImproveReplica(replica);
    if (!moved.ok()) return moved.status();
    if (!*moved) {
      stuck_[replica] = 1;
      continue;
    }
    // What made room for one may make room for those who wait before it.
    for (int r = 0; r < layout_.replicas(); ++r) {
      if (ends_[r] >= end) stuck_[r] = 0;
    }
  }
  result.nodes = std::move(nodes_);
  result.evaluated = evaluated_;
  return result;
}

}  // namespace

absl::StatusOr<SearchResult> Improve(JobModel& model, const Pools& pools,
                                     const Pool& pool, const NodeList& start,
                                     const SearchOptions& options,
                                     const base::Budget& budget) {
  return Search(model, pools, pool, start, options, budget).Run();
}

}  // namespace prism::placement
