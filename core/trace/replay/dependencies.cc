#include "core/trace/replay/dependencies.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/trace/replay/point_to_point.h"
#include "core/trace/replay/worker_operations.h"

namespace prism::trace {
namespace {

using Kind = OperationKind;

class Finder {
 public:
  Finder(const Step& step, const Sizes& sizes)
      : step_(step), sizes_(sizes), workers_(SplitWorkers(step)) {
    found_.group.assign(step.operations.size(), kAlone);
    for (const WorkerOperations& worker : workers_) {
      beside_ |= !worker.Of(Kind::kSeparateGradsAllReduce).empty();
    }
  }

  Dependencies Find() && {
    for (const WorkerOperations& worker : workers_) {
      Chain(worker.computes);
      PointToPoint(worker);
      FirstBackward(worker);
      DataGroup(worker);
      Closing(worker);
    }
    Pairs();
    Groups();
    return std::move(found_);
  }

 private:
  const Operation& At(int32_t i) const {
    return step_.operations[static_cast<size_t>(i)];
  }

  void Edge(int32_t before, int32_t after) {
    found_.edges.emplace_back(before, after);
  }

  void Chain(const std::vector<int32_t>& operations) {
    for (size_t i = 1; i < operations.size(); ++i) {
      Edge(operations[i - 1], operations[i]);
    }
  }

  void PointToPoint(const WorkerOperations& worker) {
    for (const Kind kind : {Kind::kForwardSend, Kind::kForwardReceive,
                            Kind::kBackwardSend, Kind::kBackwardReceive}) {
      Chain(worker.Of(kind));
      const bool is_send =
          kind == Kind::kForwardSend || kind == Kind::kBackwardSend;
      const bool is_forward =
          kind == Kind::kForwardSend || kind == Kind::kForwardReceive;
      const auto& computes = worker.Of(is_forward ? Kind::kForwardCompute
                                                  : Kind::kBackwardCompute);
      for (const Served& served : ServedBy(step_, sizes_, worker, kind)) {
        if (served.compute != kNone && is_send) {
          Edge(served.compute, served.operation);
        } else if (served.compute != kNone) {
          Edge(served.operation, served.compute);
          if (served.number > 0) {
            Edge(computes[static_cast<size_t>(served.number) - 1],
                 served.operation);
          }
        }
        Cross(worker, is_forward, served);
      }
    }
  }

  // Remembers an end of a transfer until the other one is found, too.
  void Cross(const WorkerOperations& worker, bool is_forward,
             const Served& served) {
    if (served.boundary == kNone) {
      AddGroup({served.operation}, 1);
    } else {
      pairs_[{is_forward, worker.replica, served.boundary, served.occurrence}]
          .push_back(served.operation);
    }
  }

  void FirstBackward(const WorkerOperations& worker) {
    const auto& computes = worker.computes;
    const auto first = std::find_if(
        computes.begin(), computes.end(),
        [&](int32_t i) { return At(i).kind == Kind::kBackwardCompute; });
    if (first == computes.end() || first - computes.begin() < 2) return;
    for (const Kind kind : {Kind::kBackwardSend, Kind::kBackwardReceive}) {
      if (!worker.Of(kind).empty()) Edge(*(first - 2), worker.Of(kind).front());
    }
  }

  // Gathers and scatters are one stream, in the order they ran in.
  void DataGroup(const WorkerOperations& worker) {
    std::vector<int32_t> stream = worker.Of(Kind::kParamsAllGather);
    const auto& scatters = worker.Of(Kind::kGradsReduceScatter);
    stream.insert(stream.end(), scatters.begin(), scatters.end());
    std::stable_sort(stream.begin(), stream.end(), [&](int32_t a, int32_t b) {
      return At(a).start_seconds < At(b).start_seconds;
    });
    Chain(stream);
    const auto& gathers = worker.Of(Kind::kParamsAllGather);
    std::set<int32_t> chunks;
    for (auto i = gathers.rbegin(); i != gathers.rend(); ++i) {
      const int32_t compute = FirstForward(worker, At(*i).chunk);
      if (chunks.insert(At(*i).chunk).second && compute != kNone) {
        Edge(*i, compute);
      }
    }
    if (!beside_) return;
    chunks.clear();
    for (const int32_t scatter : scatters) {
      const int32_t compute = LastBackward(worker, At(scatter).chunk);
      if (chunks.insert(At(scatter).chunk).second && compute != kNone) {
        Edge(compute, scatter);
      }
    }
  }

  bool IsOf(int32_t compute, Kind kind, int32_t chunk) const {
    return At(compute).kind == kind &&
           (chunk == kNone || At(compute).chunk == kNone ||
            At(compute).chunk == chunk);
  }

  int32_t FirstForward(const WorkerOperations& worker, int32_t chunk) const {
    for (const int32_t i : worker.computes) {
      if (IsOf(i, Kind::kForwardCompute, chunk)) return i;
    }
    return kNone;
  }

  int32_t LastBackward(const WorkerOperations& worker, int32_t chunk) const {
    for (auto i = worker.computes.rbegin(); i != worker.computes.rend(); ++i) {
      if (IsOf(*i, Kind::kBackwardCompute, chunk)) return *i;
    }
    return kNone;
  }

  void Closing(const WorkerOperations& worker) {
    std::vector<int32_t> chain;
    if (!worker.computes.empty()) chain.push_back(worker.computes.back());
    const auto append = [&](Kind kind) {
      const auto& more = worker.Of(kind);
      chain.insert(chain.end(), more.begin(), more.end());
    };
    append(Kind::kGarbageCollection);
    const size_t opening = chain.size();
    append(Kind::kLayernormGradsAllReduce);
    append(Kind::kEmbeddingGradsAllReduce);
    append(beside_ ? Kind::kSeparateGradsAllReduce : Kind::kGradsReduceScatter);
    append(Kind::kOptimizerClip);
    append(Kind::kOptimizer);
    Chain(chain);
    const auto& scatters = worker.Of(Kind::kGradsReduceScatter);
    if (beside_ && !scatters.empty() && opening < chain.size()) {
      Edge(scatters.back(), chain[opening]);
    }
  }

  void Pairs() {
    for (auto& [key, members] : pairs_) AddGroup(std::move(members), 2);
  }

  void Groups() {
    const int32_t embedding = sizes_.pipeline > 1 ? 2 : 1;
    // Class of group, then what tells its groups apart.
    std::map<std::tuple<Kind, int32_t, int32_t>, std::vector<int32_t>> groups;
    for (size_t i = 0; i < step_.operations.size(); ++i) {
      const Operation& o = step_.operations[i];
      const auto index = static_cast<int32_t>(i);
      if (IsDataGroup(o.kind)) {
        groups[{o.kind, o.stage, o.sequence}].push_back(index);
      } else if (o.kind == Kind::kEmbeddingGradsAllReduce) {
        groups[{o.kind, o.replica, o.sequence}].push_back(index);
      } else if (o.kind == Kind::kOptimizerClip) {
        groups[{o.kind, 0, o.sequence}].push_back(index);
      }
    }
    for (auto& [key, members] : groups) {
      const Kind kind = std::get<0>(key);
      AddGroup(std::move(members), IsDataGroup(kind) ? sizes_.data
                                   : kind == Kind::kEmbeddingGradsAllReduce
                                       ? embedding
                                       : sizes_.workers());
    }
  }

  void AddGroup(std::vector<int32_t> members, int32_t expected) {
    const auto group = static_cast<int32_t>(found_.groups.size());
    for (const int32_t member : members) {
      found_.group[static_cast<size_t>(member)] = group;
    }
    found_.incomplete.push_back(static_cast<int32_t>(members.size()) <
                                expected);
    std::sort(members.begin(), members.end());
    found_.groups.push_back(std::move(members));
  }

  // Direction, replica, boundary, occurrence.
  using Crossing = std::tuple<bool, int32_t, int32_t, int32_t>;

  const Step& step_;
  const Sizes& sizes_;
  std::vector<WorkerOperations> workers_;
  bool beside_ = false;  // gradients are reduced beside the backwards
  std::map<Crossing, std::vector<int32_t>> pairs_;
  Dependencies found_;
};

}  // namespace

Dependencies FindDependencies(const Step& step, const Sizes& sizes) {
  return Finder(step, sizes).Find();
}

}  // namespace prism::trace
