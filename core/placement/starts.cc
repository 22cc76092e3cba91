#include "core/placement/starts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/stats/draw_kernels.h"

namespace prism::placement {
namespace {

// Shares of the pool's fastest nodes that sets are taken from, beyond as many
// as the job takes: 1 is the whole pool.
constexpr double kShares[] = {0.0, 0.1, 0.3, 1.0};
// Units of a level that are tried each on its own.
constexpr size_t kMostUnits = 24;

// Keeps the streams of random placements apart from all others.
constexpr uint32_t kPlacementSlot = 2;

// Picks sets of as many nodes as the job takes.
class NodeSets final {
 public:
  NodeSets(const JobModel& model, const Pools& pools)
      : units_(model.units()),
        pools_(pools),
        needed_(static_cast<size_t>(model.layout().positions())) {}

  // Of `nodes`, the fastest first.
  void AddFrom(const std::vector<int64_t>& nodes) {
    if (pools_.segment_level() >= 0) {
      AddBlocks(nodes);
      return;
    }
    Add(Fastest(nodes, needed_));
    for (int level = 0; level < units_.levels(); ++level) {
      AddUnits(nodes, level);
    }
  }

  const std::vector<NodeList>& sets() const { return sets_; }

 private:
  using Unit = std::vector<int64_t>;

  std::vector<Unit> UnitsOf(const std::vector<int64_t>& nodes,
                            int level) const {
    std::map<int32_t, Unit> by_unit;
    for (const int64_t node : nodes) {
      by_unit[units_.Unit(level, node)].push_back(node);
    }
    std::vector<Unit> units;
    for (auto& [unit, members] : by_unit) units.push_back(std::move(members));
    return units;
  }

  // Units that give `each` nodes, those with the fastest such first.
  std::vector<Unit> Giving(std::vector<Unit> units, size_t each) const {
    std::erase_if(units, [each](const Unit& u) { return u.size() < each; });
    std::stable_sort(
        units.begin(), units.end(), [this, each](const Unit& a, const Unit& b) {
          return pools_.FactorOf(a[each - 1]) < pools_.FactorOf(b[each - 1]);
        });
    return units;
  }

  void AddUnits(const std::vector<int64_t>& nodes, int level) {
    const std::vector<Unit> units = UnitsOf(nodes, level);
    // Whole in one unit: for each of the best the fastest, and those that lie
    // together further in.
    const auto whole = Giving(units, needed_);
    for (size_t i = 0; i < std::min(kMostUnits, whole.size()); ++i) {
      Add(Fastest(whole[i], needed_));
      for (int inner = 0; inner < level; ++inner) {
        const auto parts = UnitsOf(whole[i], inner);
        AddEqual(parts);
        AddFullest(parts);
      }
    }
    AddEqual(units);
    AddFullest(units);
  }

  static NodeList Fastest(const Unit& unit, size_t count) {
    return {unit.begin(), unit.begin() + static_cast<ptrdiff_t>(count)};
  }

  // The same from each of as few units as can give it.
  void AddEqual(const std::vector<Unit>& units) {
    for (size_t count = 2; count <= std::min(units.size(), needed_); ++count) {
      if (needed_ % count != 0) continue;
      const size_t each = needed_ / count;
      const auto giving = Giving(units, each);
      if (giving.size() < count) continue;
      NodeList set;
      for (size_t i = 0; i < count; ++i) {
        set.insert(set.end(), giving[i].begin(),
                   giving[i].begin() + static_cast<ptrdiff_t>(each));
      }
      Add(std::move(set));
      return;
    }
  }

  void AddFullest(std::vector<Unit> units) {
    std::stable_sort(
        units.begin(), units.end(),
        [](const Unit& a, const Unit& b) { return a.size() > b.size(); });
    NodeList set;
    for (const Unit& unit : units) {
      const size_t taken = std::min(unit.size(), needed_ - set.size());
      set.insert(set.end(), unit.begin(),
                 unit.begin() + static_cast<ptrdiff_t>(taken));
    }
    if (set.size() == needed_) Add(std::move(set));
  }

  // The blocks with the fastest slowest nodes.
  void AddBlocks(const std::vector<int64_t>& nodes) {
    const auto block = static_cast<size_t>(pools_.segment_nodes());
    std::vector<Unit> blocks;
    for (const Unit& unit : UnitsOf(nodes, pools_.segment_level())) {
      for (size_t i = 0; i + block <= unit.size(); i += block) {
        blocks.emplace_back(unit.begin() + static_cast<ptrdiff_t>(i),
                            unit.begin() + static_cast<ptrdiff_t>(i + block));
      }
    }
    blocks = Giving(std::move(blocks), block);
    NodeList set;
    for (const Unit& members : blocks) {
      if (set.size() == needed_) break;
      set.insert(set.end(), members.begin(), members.end());
    }
    if (set.size() == needed_) Add(std::move(set));
  }

  void Add(NodeList set) {
    NodeList key = set;
    std::sort(key.begin(), key.end());
    if (seen_.insert(std::move(key)).second) sets_.push_back(std::move(set));
  }

  const FabricUnits& units_;
  const Pools& pools_;
  const size_t needed_;
  std::vector<NodeList> sets_;
  std::set<NodeList> seen_;
};

// Orders a set in the ways that tend to be good.
class Orders final {
 public:
  Orders(const JobModel& model, const Pools& pools)
      : layout_(model.layout()), units_(model.units()), pools_(pools) {
    for (int i = 0; i < layout_.positions(); ++i) by_group_.push_back(i);
    by_replica_ = by_stage_ = by_group_;
    // The first cell of a position stands for it.
    std::stable_sort(by_replica_.begin(), by_replica_.end(),
                     [this](int a, int b) {
                       return layout_.CellsAt(a)[0] < layout_.CellsAt(b)[0];
                     });
    std::stable_sort(by_stage_.begin(), by_stage_.end(),
                     [this](int a, int b) { return StageAt(a) < StageAt(b); });
    there_and_back_ = by_stage_;
    for (auto first = there_and_back_.begin();
         first != there_and_back_.end();) {
      const int stage = StageAt(*first);
      const auto end = std::find_if(first, there_and_back_.end(),
                                    [&](int i) { return StageAt(i) != stage; });
      if (stage % 2 == 1) std::reverse(first, end);
      first = end;
    }
  }

  std::vector<NodeList> Of(const NodeList& set) const {
    if (pools_.segment_level() >= 0) return {set};
    std::vector<NodeList> orders;
    const NodeList fabric = AlongFabric(set);
    const NodeList slow = SlowestFirst(set);
    orders.push_back(Placed(fabric, by_group_));
    orders.push_back(Placed(fabric, by_replica_));
    orders.push_back(Placed(slow, by_replica_));
    orders.push_back(Placed(slow, by_stage_));
    orders.push_back(Placed(slow, there_and_back_));
    return orders;
  }

  const std::vector<int>& by_stage() const { return by_stage_; }

  static NodeList Placed(const NodeList& nodes,
                         const std::vector<int>& positions) {
    NodeList placed(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) placed[positions[i]] = nodes[i];
    return placed;
  }

  NodeList SlowestFirst(NodeList set) const {
    std::stable_sort(set.begin(), set.end(), [this](int64_t a, int64_t b) {
      return pools_.FactorOf(a) > pools_.FactorOf(b);
    });
    return set;
  }

 private:
  int StageAt(int position) const {
    return layout_.CellsAt(position)[0] % layout_.stages();
  }

  // Outermost unit first; the slowest first in each.
  NodeList AlongFabric(const NodeList& set) const {
    NodeList nodes = SlowestFirst(set);
    for (int level = 0; level < units_.levels(); ++level) {
      std::stable_sort(nodes.begin(), nodes.end(),
                       [this, level](int64_t a, int64_t b) {
                         return units_.Unit(level, a) < units_.Unit(level, b);
                       });
    }
    return nodes;
  }

  const Layout& layout_;
  const FabricUnits& units_;
  const Pools& pools_;
  std::vector<int> by_group_;    // positions as they are numbered
  std::vector<int> by_replica_;  // replica by replica, first stage first
  std::vector<int> by_stage_;    // stage by stage
  // Stage by stage, every other in reverse: no replica has the slowest of all
  // stages.
  std::vector<int> there_and_back_;
};

// A random order of [0, size).
std::vector<size_t> RandomOrder(size_t size, uint64_t seed, uint32_t number) {
  std::vector<uint64_t> replica(stats::RowSize(size), 0);
  std::vector<uint64_t> sample(replica.size());
  for (size_t i = 0; i < size; ++i) sample[i] = i;
  std::vector<double> first(replica.size()), second(replica.size());
  stats::UniformRows({.key = seed,
                      .slot = kPlacementSlot,
                      .operation = number,
                      .replica = replica.data(),
                      .sample = sample.data()},
                     size, first.data(), second.data());
  std::vector<size_t> order(size);
  for (size_t i = 0; i < size; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&first](size_t a, size_t b) {
    return std::pair(first[a], a) < std::pair(first[b], b);
  });
  return order;
}

}  // namespace

std::vector<NodeList> StartPlacements(JobModel& model, const Pools& pools,
                                      const Pool& pool) {
  NodeSets sets(model, pools);
  const auto needed = static_cast<size_t>(model.layout().positions());
  for (const double share : kShares) {
    const size_t extra = static_cast<size_t>(
        share * static_cast<double>(pool.nodes.size() - needed));
    std::vector<int64_t> fastest(
        pool.nodes.begin(),
        pool.nodes.begin() + static_cast<ptrdiff_t>(needed + extra));
    sets.AddFrom(fastest);
  }
  const Orders orders(model, pools);
  std::set<NodeList> seen;
  std::vector<NodeList> starts;
  for (const NodeList& set : sets.sets()) {
    for (NodeList& placement : orders.Of(set)) {
      if (pools.Obeys(placement) && seen.insert(placement).second) {
        starts.push_back(std::move(placement));
      }
    }
  }
  return starts;
}

NodeList RandomPlacement(JobModel& model, const Pools& pools, const Pool& pool,
                         uint64_t seed, uint32_t number) {
  const auto needed = static_cast<size_t>(model.layout().positions());
  std::vector<int64_t> shuffled;
  for (const size_t i : RandomOrder(pool.nodes.size(), seed, number)) {
    shuffled.push_back(pool.nodes[i]);
  }
  if (pools.segment_level() < 0) {
    shuffled.resize(needed);
    return shuffled;
  }
  // Blocks are full in the order in which their last nodes come.
  const auto block = static_cast<size_t>(pools.segment_nodes());
  std::map<int32_t, NodeList> open;
  NodeList placement;
  for (const int64_t node : shuffled) {
    NodeList& members = open[model.units().Unit(pools.segment_level(), node)];
    members.push_back(node);
    if (members.size() < block) continue;
    placement.insert(placement.end(), members.begin(), members.end());
    members.clear();
    if (placement.size() == needed) break;
  }
  return placement;
}

NodeList PoorPlacement(JobModel& model, const Pools& pools, const Pool& pool) {
  const auto needed = static_cast<ptrdiff_t>(model.layout().positions());
  if (pools.segment_level() >= 0) {
    return RandomPlacement(model, pools, pool, model.random_key(), 0);
  }
  const Orders orders(model, pools);
  const NodeList slowest = orders.SlowestFirst(
      NodeList(pool.nodes.end() - needed, pool.nodes.end()));
  std::vector<int> latest(orders.by_stage().rbegin(), orders.by_stage().rend());
  return Orders::Placed(slowest, latest);
}

}  // namespace prism::placement
