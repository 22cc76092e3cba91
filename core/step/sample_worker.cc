#include "core/step/sample_worker.h"

#include <algorithm>
#include <vector>

namespace prism::step {

SampleWorker::SampleWorker(const CompiledGraph& compiled, uint64_t random_key,
                           DrawMode mode)
    : compiled_(compiled),
      block_size_(BlockSimulator::PreferredElements(compiled)),
      operations_(compiled, random_key, mode),
      closing_(compiled, random_key, mode) {}

void SampleWorker::Observe(StepObserver* observer) {
  operations_.Observe(observer);
  closing_.Observe(observer);
}

bool SampleWorker::Run(int64_t first, int64_t count, const base::Budget& budget,
                       double* step_seconds) {
  FillElements(first, count);
  if (compiled_.replicas_interact) {
    if (!operations_.RunOperations(all_, true, budget)) return false;
    operations_.RunClosing();
    TakeSeconds(count, step_seconds);
    return true;
  }
  closing_.ResetClocks(all_, true);
  for (size_t begin = 0; begin < all_.count; begin += block_size_) {
    const size_t size = std::min(block_size_, all_.count - begin);
    part_.Resize(size);
    std::copy_n(&all_.replica[begin], size, part_.replica.begin());
    std::copy_n(&all_.sample[begin], size, part_.sample.begin());
    if (!operations_.RunOperations(part_, false, budget)) return false;
    CopyClocks(begin, size);
  }
  closing_.RunClosing();
  TakeSeconds(count, step_seconds);
  return true;
}

int64_t SampleWorker::LastRank() {
  const RankGrid& grid = compiled_.graph->grid;
  int64_t last = 0;
  double latest = -1;
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    const int64_t lane = rank % grid.lanes;
    const int64_t stage = rank / grid.lanes % grid.stages;
    const int64_t replica = rank / grid.lanes / grid.stages;
    const double end =
        ended().clock(static_cast<int>(stage))[lane * all_.stride() + replica];
    if (end > latest) {
      latest = end;
      last = rank;
    }
  }
  return last;
}

void SampleWorker::FillElements(int64_t first, int64_t count) {
  const int replicas = compiled_.graph->grid.replicas;
  all_.Resize(count * replicas);
  for (size_t e = 0; e < all_.count; ++e) {
    all_.replica[e] = e % replicas;
    all_.sample[e] = first + e / replicas;
  }
}

void SampleWorker::CopyClocks(size_t begin, size_t size) {
  const RankGrid& grid = compiled_.graph->grid;
  for (int stage = 0; stage < grid.stages; ++stage) {
    for (int lane = 0; lane < grid.lanes; ++lane) {
      std::copy_n(operations_.clock(stage) + lane * part_.stride(), size,
                  closing_.clock(stage) + lane * all_.stride() + begin);
    }
  }
}

void SampleWorker::TakeSeconds(int64_t count, double* step_seconds) {
  std::fill(step_seconds, step_seconds + count, 0.0);
  TakeLatest([this](int stage) { return ended().clock(stage); }, step_seconds);
  if (!compiled_.graph->is_continuous()) return;
  std::vector<double> begin(count, 0.0);
  TakeLatest([this](int stage) { return ended().begin(stage); }, begin.data());
  for (int64_t i = 0; i < count; ++i) step_seconds[i] -= begin[i];
}

template <typename Rows>
void SampleWorker::TakeLatest(const Rows& rows, double* seconds) const {
  const RankGrid& grid = compiled_.graph->grid;
  for (int stage = 0; stage < grid.stages; ++stage) {
    for (int lane = 0; lane < grid.lanes; ++lane) {
      const double* row = rows(stage) + lane * all_.stride();
      for (size_t e = 0; e < all_.count; ++e) {
        double& latest = seconds[e / grid.replicas];
        latest = std::max(latest, row[e]);
      }
    }
  }
}

}  // namespace prism::step
