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

// Of a weight as it is gathered. Transformer Engine keeps weights of 8-bit
// products in 8 bit.
double GatheredBytes(const Training& training) {
  return training.framework == Framework::kMegatronCore &&
                 training.precision == Precision::kFp8
             ? 1
             : ActivationBytes(training);
}

std::vector<Collective> Gather(const Job& job, double parameters) {
  if (!Splits(job)) return {};
  return {OfShards(job, CollectiveKind::kAllGather,
                   parameters * GatheredBytes(job.training))};
}

// Where the work of every micro-batch shares its gradients out. Stages of a
// pipeline sum those of all micro-batches first.
bool SharesEveryBackward(const Job& job) {
  return job.parallelism.sharding >= Sharding::kZero2 &&
         job.parallelism.pipeline == 1;
}

bool GathersEveryTime(const Job& job) {
  return job.parallelism.sharding == Sharding::kZero3 && !StaysGathered(job);
}

}  // namespace

bool StaysGathered(const Job& job) {
  return job.parallelism.sharding == Sharding::kZero3 &&
         job.parallelism.pipeline > 1;
}

std::vector<Collective> ForwardTraffic(const Job& job, double parameters) {
  if (!GathersEveryTime(job)) return {};
  return Gather(job, parameters);
}

TrafficAround BackwardTraffic(const Job& job, double parameters) {
  TrafficAround traffic;
  if (GathersEveryTime(job)) traffic.before = Gather(job, parameters);
  if (SharesEveryBackward(job)) traffic.after = Reduction(job, parameters);
  return traffic;
}

TrafficAround ClosingTraffic(const Job& job, double parameters) {
  TrafficAround traffic;
  if (!SharesEveryBackward(job)) traffic.before = Reduction(job, parameters);
  if (!GathersEveryTime(job)) traffic.after = Gather(job, parameters);
  return traffic;
}

double OwnedParameters(const Job& job, double parameters) {
  return parameters / static_cast<double>(job.parallelism.shards());
}

}  // namespace prism::workload
