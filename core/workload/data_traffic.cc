#include "core/workload/data_traffic.h"

namespace prism::workload {
namespace {

bool Splits(const Job& job) { return job.parallelism.shards() > 1; }

bool HasCopies(const Job& job) {
  return job.parallelism.shards() < job.parallelism.gradient_ranks();
}

Collective OfShards(const Job& job, CollectiveKind kind, double bytes) {
  return {.kind = kind,
          .bytes = bytes,
          .group = HasCopies(job) ? Group::kShard : Group::kData};
}

// Gradients of `parameters` are summed where their owners are.
std::vector<Collective> Reduction(const Job& job, double parameters) {
  const double bytes = parameters * GradientBytes(job.training);
  std::vector<Collective> collectives;
  if (Splits(job)) {
    collectives.push_back(OfShards(job, CollectiveKind::kReduceScatter, bytes));
  }
  if (HasCopies(job)) {
    const auto shards = static_cast<double>(job.parallelism.shards());
    collectives.push_back(
        {.kind = CollectiveKind::kAllReduce,
         .bytes = bytes / shards,
         .group = Splits(job) ? Group::kShardCopies : Group::kData});
  }
  return collectives;
}

std::vector<Collective> Gather(const Job& job, double parameters) {
  if (!Splits(job)) return {};
  return {OfShards(job, CollectiveKind::kAllGather,
                   parameters * ActivationBytes(job.training))};
}

}  // namespace

std::vector<Collective> ForwardTraffic(const Job& job, double parameters) {
  if (job.parallelism.sharding != Sharding::kZero3) return {};
  return Gather(job, parameters);
}

TrafficAround BackwardTraffic(const Job& job, double parameters) {
  switch (job.parallelism.sharding) {
    case Sharding::kNone:
    case Sharding::kZero1:
      return {};
    case Sharding::kZero2:
      return {.after = Reduction(job, parameters)};
    case Sharding::kZero3:
      return {.before = Gather(job, parameters),
              .after = Reduction(job, parameters)};
  }
  return {};
}

TrafficAround ClosingTraffic(const Job& job, double parameters) {
  switch (job.parallelism.sharding) {
    case Sharding::kNone:
      return {.before = Reduction(job, parameters)};
    case Sharding::kZero1:
      return {.before = Reduction(job, parameters),
              .after = Gather(job, parameters)};
    case Sharding::kZero2:
      return {.after = Gather(job, parameters)};
    case Sharding::kZero3:
      return {};
  }
  return {};
}

double OwnedParameters(const Job& job, double parameters) {
  return parameters / static_cast<double>(job.parallelism.shards());
}

}  // namespace prism::workload
