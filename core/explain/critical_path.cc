#include "core/explain/critical_path.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/explain/step_record.h"
#include "core/step/block_simulator.h"
#include "core/step/sample_worker.h"

namespace prism::explain {
namespace {

using step::CompiledGraph;
using step::Elements;
using step::Group;
using step::kAbsent;
using step::RankGrid;
using step::StepGraph;
using step::Task;

// What a record may hold: 192 MB.
constexpr double kMostValues = 24e6;
// Replicas of different steps that are watched together.
constexpr size_t kTogether = stats::kRowPad;

// Rows of lanes that a record of one step keeps.
double RowsOf(const CompiledGraph& compiled) {
  double rows = 0;
  const auto add = [&](int program) {
    rows += 2;
    for (const auto& segment : compiled.graph->programs[program].segments) {
      rows += static_cast<double>(segment.count) *
              static_cast<double>(segment.tasks.size());
    }
  };
  for (const auto& planned : compiled.plan.operations) add(planned.program);
  for (const int closing : compiled.graph->closing) add(closing);
  return rows;
}

// A rank at the end of an entry.
struct Place {
  int entry = kAbsent;
  int lane = 0;
  size_t element = 0;
};

// Goes back through a record, as far as `begin` seconds.
class Walk {
 public:
  Walk(const StepGraph& graph, const StepRecord& record, double begin,
       const TakePiece& take)
      : graph_(graph), record_(record), begin_(begin), take_(take) {}

  // From the end of `place` to where nothing is before it; there `place` stays
  // with the entry that has nothing before it.
  void Follow(Place& place) {
    while (true) {
      const RecordedEntry& entry = record_.entries()[place.entry];
      FollowTasks(entry, place);
      if (record_.At(entry.first_row, place.lane, place.element) <= begin_) {
        return;
      }
      if (WaitedForInput(entry, place)) {
        FollowHop(entry, place);
      } else if (entry.before == kAbsent) {
        return;
      } else {
        place.entry = entry.before;
      }
    }
  }

 private:
  void FollowTasks(const RecordedEntry& entry, Place& place) {
    for (size_t i = entry.tasks.size(); i-- > 0;) {
      const Task& task = *entry.tasks[i];
      const size_t ready = entry.first_row + i;
      const double end = record_.At(ready + 1, place.lane, place.element);
      if (end <= begin_) return;
      // A group's own time belongs to where its last member is.
      if (task.group != step::kNoGroup) GoToLast(task.group, ready, place);
      Take(&task, entry.stage, place,
           end - record_.At(ready, place.lane, place.element), end);
    }
  }

  void FollowHop(const RecordedEntry& entry, Place& place) {
    const RecordedEntry& sender = record_.entries()[entry.sender];
    const double arrival = record_.At(entry.arrival, place.lane, place.element);
    const double sent =
        record_.At(record_.EndRow(sender), place.lane, place.element);
    Take(nullptr, sender.stage, place, arrival - sent, arrival);
    place.entry = entry.sender;
  }

  bool WaitedForInput(const RecordedEntry& entry, const Place& place) const {
    if (entry.sender == kAbsent) return false;
    if (entry.before == kAbsent) return true;
    const RecordedEntry& before = record_.entries()[entry.before];
    return record_.At(entry.arrival, place.lane, place.element) >
           record_.At(record_.EndRow(before), place.lane, place.element);
  }

  // Moves to the member of the group that was ready last; the first of several.
  void GoToLast(int index, size_t ready, Place& place) const {
    const Group& group = graph_.groups[index];
    const auto first = [](size_t of, size_t stride, size_t count) {
      return of / (stride * count) * (stride * count) + of % stride;
    };
    const size_t lane = first(place.lane, group.lane_stride, group.lane_count);
    Place last = place;
    double latest = -1;
    const auto look = [&](size_t element) {
      for (int l = 0; l < group.lane_count; ++l) {
        const int row = static_cast<int>(lane) + l * group.lane_stride;
        const double at = record_.At(ready, row, element);
        if (at <= latest) continue;
        latest = at;
        last.lane = row;
        last.element = element;
      }
    };
    if (group.spans_replicas()) {
      // Blocks with such groups hold whole samples, replica by replica.
      const size_t replicas = static_cast<size_t>(graph_.grid.replicas);
      const size_t sample = place.element / replicas * replicas;
      const size_t replica = first(place.element % replicas,
                                   group.replica_stride, group.replica_count);
      for (int r = 0; r < group.replica_count; ++r) {
        look(sample + replica + static_cast<size_t>(r * group.replica_stride));
      }
    } else {
      look(place.element);
    }
    place = last;
  }

  // What lies before the step that is measured is not taken.
  void Take(const Task* task, int stage, const Place& place, double seconds,
            double end) {
    seconds = std::min(seconds, end - begin_);
    if (seconds <= 0) return;
    take_(
        {.task = task,
         .stage = stage,
         .replica = static_cast<int>(record_.elements().replica[place.element]),
         .lane = place.lane,
         .seconds = seconds});
  }

  const StepGraph& graph_;
  const StepRecord& record_;
  const double begin_;
  const TakePiece& take_;
};

class Follower {
 public:
  Follower(const CompiledGraph& compiled, uint64_t random_key,
           const base::Budget& budget, const TakePiece& take)
      : compiled_(compiled),
        graph_(*compiled.graph),
        budget_(budget),
        take_(take),
        worker_(compiled, random_key),
        operations_(compiled, random_key, step::DrawMode::kRandom),
        end_(compiled),
        record_(compiled) {
    if (compiled.replicas_interact) {
      worker_.Observe(&end_);
    } else {
      worker_.ObserveClosing(&end_);
      operations_.Observe(&record_);
    }
  }

  // How many steps are followed together.
  int64_t together() const {
    return compiled_.replicas_interact ? 1 : int64_t{kTogether};
  }

  bool Follow(int64_t first, int64_t count,
              const std::function<void(int64_t, double)>& sample_ends) {
    seconds_.resize(count);
    end_.Clear();
    if (!worker_.Run(first, count, budget_, seconds_.data())) return false;
    if (!compiled_.replicas_interact && !SimulateReplicas(first, count)) {
      return false;
    }
    for (int64_t i = 0; i < count; ++i) {
      FollowSample(i);
      sample_ends(first + i, seconds_[i]);
    }
    return true;
  }

 private:
  // Of each step the replica in which the path is where its closing begins.
  bool SimulateReplicas(int64_t first, int64_t count) {
    elements_.Resize(static_cast<size_t>(count));
    places_.clear();
    for (int64_t i = 0; i < count; ++i) {
      Place place = LastOf(i);
      // Followed for the place alone; pieces are taken in their turn.
      const TakePiece nothing = [](const PathPiece&) {};
      Walk(graph_, end_, 0, nothing).Follow(place);
      places_.push_back(place);
      elements_.replica[i] = end_.elements().replica[place.element];
      elements_.sample[i] = static_cast<uint64_t>(first + i);
    }
    record_.Clear();
    return operations_.RunOperations(elements_, false, budget_);
  }

  void FollowSample(int64_t i) {
    Place place = LastOf(i);
    const double begin =
        graph_.is_continuous() ? EndOf(place) - seconds_[i] : 0;
    Walk(graph_, end_, begin, take_).Follow(place);
    if (compiled_.replicas_interact) return;
    const int stage = end_.entries()[place.entry].stage;
    place = {record_.last(stage), place.lane, static_cast<size_t>(i)};
    if (place.entry == kAbsent) return;
    Walk(graph_, record_, 0, take_).Follow(place);
  }

  double EndOf(const Place& place) const {
    return end_.At(end_.EndRow(end_.entries()[place.entry]), place.lane,
                   place.element);
  }

  // The rank that ends the step; the first of several.
  Place LastOf(int64_t sample) const {
    const RankGrid& grid = graph_.grid;
    Place last;
    double latest = -1;
    for (int r = 0; r < grid.replicas; ++r) {
      for (int stage = 0; stage < grid.stages; ++stage) {
        for (int lane = 0; lane < grid.lanes; ++lane) {
          const Place place = {end_.last(stage), lane,
                               static_cast<size_t>(sample * grid.replicas + r)};
          const double end = EndOf(place);
          if (end <= latest) continue;
          latest = end;
          last = place;
        }
      }
    }
    return last;
  }

  const CompiledGraph& compiled_;
  const StepGraph& graph_;
  const base::Budget& budget_;
  const TakePiece& take_;
  step::SampleWorker worker_;
  step::BlockSimulator operations_;
  StepRecord end_;     // closings or, where replicas interact, everything
  StepRecord record_;  // operations of one replica of each step
  Elements elements_;
  std::vector<Place> places_;
  std::vector<double> seconds_;
};

}  // namespace

bool HasCriticalPaths(const CompiledGraph& compiled) {
  const StepGraph& graph = *compiled.graph;
  if (compiled.has_streams) return false;
  const double elements = compiled.replicas_interact
                              ? static_cast<double>(stats::RowSize(
                                    static_cast<size_t>(graph.grid.replicas)))
                              : kTogether;
  return RowsOf(compiled) * graph.grid.lanes * elements <= kMostValues;
}

bool FollowCriticalPaths(
    const CompiledGraph& compiled, uint64_t random_key, int64_t first,
    int64_t count, const base::Budget& budget, const TakePiece& take,
    const std::function<void(int64_t, double)>& sample_ends) {
  Follower follower(compiled, random_key, budget, take);
  const int64_t end = first + count;
  while (first < end) {
    const int64_t part = std::min(follower.together(), end - first);
    if (!follower.Follow(first, part, sample_ends)) return false;
    first += part;
  }
  return true;
}

}  // namespace prism::explain
