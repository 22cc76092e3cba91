#include "core/estimate/memory_verdict.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <optional>
#include <vector>

#include "core/workload/stages.h"

namespace prism::estimate {
namespace {

using workload::ContextKind;
using workload::Job;
using workload::Parallelism;
using workload::Recompute;
using workload::Schedule;
using workload::Sharding;

struct Change {
  std::string words;
  Job job;
};

using MaybeChange = std::optional<Change>;

MaybeChange SequenceParallel(Job job) {
  Parallelism& split = job.parallelism;
  if (split.sequence_parallel || split.tensor == 1 ||
      job.training.sequence % (split.tensor * split.context) != 0) {
    return std::nullopt;
  }
  split.sequence_parallel = true;
  return Change{"set parallelism.sequence_parallel", job};
}

MaybeChange Shard(Job job, Sharding sharding, const char* words) {
  Parallelism& split = job.parallelism;
  if (split.gradient_ranks() == 1 || split.sharding >= sharding) {
    return std::nullopt;
  }
  split.sharding = sharding;
  return Change{words, job};
}

MaybeChange Recomputing(Job job, Recompute recompute, const char* words) {
  if (job.training.recompute >= recompute) return std::nullopt;
  job.training.recompute = recompute;
  return Change{words, job};
}

MaybeChange RecomputingAll(Job job) {
  if (!job.training.recompute_layers) return std::nullopt;
  job.training.recompute_layers.reset();
  return Change{"leave out training.recompute_layers", job};
}

MaybeChange SmallMicrobatch(Job job) {
  if (job.training.micro_batch == 1) return std::nullopt;
  job.training.micro_batch = 1;
  return Change{"reduce training.micro_batch to 1", job};
}

MaybeChange WithFactor(Job job, int64_t Parallelism::*group, int64_t factor,
                       const char* field) {
  Parallelism& split = job.parallelism;
  if (split.data % factor != 0) return std::nullopt;
  split.data /= factor;
  if (split.shard_group > 0 &&
      split.gradient_ranks() % split.shard_group != 0) {
    return std::nullopt;
  }
  split.*group *= factor;
  return Change{absl::StrCat("raise ", field, " to ", split.*group), job};
}

MaybeChange WiderTensor(const Job& job, int64_t factor) {
  const Parallelism& split = job.parallelism;
  const int64_t tensor = split.tensor * factor;
  const int64_t of_heads =
      split.context_kind == ContextKind::kAllToAll ? split.context : 1;
  const int64_t of_sequence = split.sequence_parallel ? tensor : 1;
  const int64_t kv = job.model.kv_heads;
  if (job.model.heads % (tensor * of_heads) != 0 ||
      job.model.ffn_hidden % tensor != 0 ||
      (kv % (tensor * of_heads) != 0 && (tensor * of_heads) % kv != 0) ||
      job.training.sequence % (of_sequence * split.context) != 0) {
    return std::nullopt;
  }
  return WithFactor(job, &Parallelism::tensor, factor, "parallelism.tensor");
}

MaybeChange LongerPipeline(const Job& job, int64_t factor) {
  const Parallelism& split = job.parallelism;
  if (!split.stage_layers.empty() || split.schedule == Schedule::kInterleaved ||
      split.schedule == Schedule::kBreadthFirst ||
      job.model.layers % (ModelStages(split) * factor) != 0) {
    return std::nullopt;
  }
  return WithFactor(job, &Parallelism::pipeline, factor,
                    "parallelism.pipeline");
}

using Changes = std::vector<MaybeChange>;

// What costs no time.
Changes FreeChanges(const Job& job) {
  return {SequenceParallel(job),
          Shard(job, Sharding::kZero1, "set parallelism.sharding to zero1")};
}

// What costs some, the mildest first.
Changes MildChanges(const Job& job) {
  return {SmallMicrobatch(job),
          Recomputing(job, Recompute::kSelective,
                      "set training.recompute to selective"),
          Recomputing(job, Recompute::kFull, "set training.recompute to full"),
          RecomputingAll(job)};
}

// Another split of the model over as many GPUs.
Changes SplitChanges(const Job& job) {
  return {WiderTensor(job, 2),
          LongerPipeline(job, 2),
          WiderTensor(job, 4),
          LongerPipeline(job, 4),
          Shard(job, Sharding::kZero3, "set parallelism.sharding to zero3"),
          WiderTensor(job, 8),
          LongerPipeline(job, 8)};
}

bool Fits(const Job& job, double capacity_bytes) {
  return FitOf(PeakMemory(job).total(), capacity_bytes) == MemoryFit::kFits;
}

std::optional<std::string> FirstThatFits(const Changes& changes,
                                         double capacity_bytes) {
  for (const MaybeChange& change : changes) {
    if (change && Fits(change->job, capacity_bytes)) return change->words;
  }
  return std::nullopt;
}

// Makes all changes that cost no time and help; adds their words.
Job AfterFreeChanges(Job job, std::vector<std::string>& words) {
  for (size_t i = 0; i < FreeChanges(job).size(); ++i) {
    const MaybeChange change = FreeChanges(job)[i];
    if (!change || PeakMemory(change->job).total() >= PeakMemory(job).total()) {
      continue;
    }
    words.push_back(change->words);
    job = change->job;
  }
  return job;
}

// Everything that helps by itself.
void AddHelpful(const Changes& changes, double need,
                std::vector<std::string>& words) {
  for (const MaybeChange& change : changes) {
    if (change && PeakMemory(change->job).total() < need) {
      words.push_back(change->words);
    }
  }
}

}  // namespace

MemoryFit FitOf(double total_bytes, double capacity_bytes) {
  if (total_bytes > capacity_bytes) return MemoryFit::kDoesNotFit;
  return total_bytes * (1 + kMemoryError) > capacity_bytes ? MemoryFit::kTight
                                                           : MemoryFit::kFits;
}

std::string MemoryAdvice(const Job& job, double capacity_bytes) {
  for (const auto& changes : {FreeChanges, MildChanges}) {
    if (const auto words = FirstThatFits(changes(job), capacity_bytes)) {
      return *words;
    }
  }
  std::vector<std::string> words;
  const Job base = AfterFreeChanges(job, words);
  if (Fits(base, capacity_bytes)) return absl::StrJoin(words, " and ");
  for (const auto& changes : {MildChanges, SplitChanges}) {
    if (const auto last = FirstThatFits(changes(base), capacity_bytes)) {
      words.push_back(*last);
      return absl::StrJoin(words, " and ");
    }
  }
  const double need = PeakMemory(base).total();
  AddHelpful(MildChanges(base), need, words);
  AddHelpful(SplitChanges(base), need, words);
  words.emplace_back("use more GPUs, in parallelism.tensor or pipeline");
  return absl::StrCat("no single change is enough; what helps: ",
                      absl::StrJoin(words, ", "));
}

}  // namespace prism::estimate
