#include "core/query/canonical_form.h"

#include "core/query/canonical_placement.h"
#include "core/query/canonical_writer.h"

namespace prism::query {
namespace {

// Changes whenever the bytes of an unchanged question do.
constexpr std::string_view kSchema = "prism.question.1";

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

template <typename Enum>
int64_t Number(Enum value) {
  return static_cast<int64_t>(value);
}

void Write(CanonicalWriter& out, uint8_t tag,
           const stats::Distribution& distribution) {
  out.Integer(tag, static_cast<int64_t>(distribution.kind().index()));
  std::visit(Overloaded{
                 [&](const stats::Constant& d) { out.Number(1, d.value); },
                 [&](const stats::Normal& d) {
                   out.Number(1, d.mean);
                   out.Number(2, d.sd);
                 },
                 [&](const stats::Lognormal& d) {
                   out.Number(1, d.mean);
                   out.Number(2, d.cv);
                 },
                 [&](const stats::ShiftedExponential& d) {
                   out.Number(1, d.shift);
                   out.Number(2, d.mean_excess);
                 },
                 [&](const stats::Gamma& d) {
                   out.Number(1, d.mean);
                   out.Number(2, d.cv);
                 },
                 [&](const stats::Empirical& d) {
                   out.List(1, d.sorted_samples->size());
                   for (double x : *d.sorted_samples) out.Number(2, x);
                 },
                 [&](const stats::Mixture& d) {
                   out.List(1, d.components->size());
                   for (const auto& component : *d.components) {
                     out.Number(2, component.weight);
                     Write(out, 3, component.distribution);
                   }
                 },
             },
             distribution.kind());
}

void Write(CanonicalWriter& out, uint8_t tag,
           const std::vector<step::ProfileSegment>& segments) {
  out.List(tag, segments.size());
  for (const step::ProfileSegment& segment : segments) {
    Write(out, 1, segment.compute);
    Write(out, 2, segment.collective);
    out.Integer(3, Number(segment.sync));
    out.Integer(4, segment.count);
    if (segment.gather) Write(out, 5, *segment.gather);
    if (segment.scatter) Write(out, 6, *segment.scatter);
    if (segment.reduce) Write(out, 7, *segment.reduce);
    if (segment.overlap) out.Integer(8, 1);
  }
}

class FormWriter {
 public:
  explicit FormWriter(CanonicalParts parts)
      : all_(parts == CanonicalParts::kAll) {}

  std::string Write(const workload::Job& job) {
    WriteJob(job);
    return out_.Take();
  }

  std::string Write(const hardware::Cluster& cluster, ClusterParts parts) {
    WriteAlikeParts(cluster);
    WriteStates(cluster);
    if (parts == ClusterParts::kWithReliability) WriteReliability(cluster);
    return out_.Take();
  }

  std::string Write(const Question& question) {
    out_.Text(0, kSchema);
    out_.Integer(1, static_cast<int64_t>(question.subject.index()));
    std::visit([this](const auto& subject) { WriteSubject(subject); },
               question.subject);
    if (all_) WriteOptions(question);
    return out_.Take();
  }

  // What Write says of the cluster.
  std::string WriteClusterOf(const Question& question) {
    if (const auto* job = std::get_if<JobSubject>(&question.subject)) {
      WriteAlikeParts(job->cluster);
      WritePlacement(CanonicalPlacementOf(*job));
    }
    return out_.Take();
  }

 private:
  void WriteOptions(const Question& question) {
    out_.Integer(2, Number(question.method));
    out_.Integer(3, question.samples.value_or(0));
    if (!question.variation) out_.Integer(4, 0);
  }

  void WriteSubject(const step::StepProfile& profile) {
    out_.Integer(1, profile.data);
    out_.Integer(2, profile.pipeline);
    out_.Integer(3, profile.tensor);
    out_.Integer(4, profile.virtual_stages);
    out_.Integer(5, profile.microbatches);
    out_.Integer(6, Number(profile.schedule));
    query::Write(out_, 7, profile.forward);
    query::Write(out_, 8, profile.backward);
    out_.List(9, profile.stage_scale.size());
    for (double factor : profile.stage_scale) out_.Number(1, factor);
    query::Write(out_, 10, profile.transfer);
    query::Write(out_, 11, profile.gradient_sync);
    query::Write(out_, 12, profile.optimizer);
    query::Write(out_, 13, profile.compute_regime);
    query::Write(out_, 14, profile.network_regime);
    query::Write(out_, 15, profile.microbatch_load);
    WriteOrder(profile);
    WriteStreams(profile);
    if (!all_) return;
    out_.List(16, profile.slowdown.size());
    for (const auto& [rank, factor] : profile.slowdown) {
      out_.Integer(1, rank);
      out_.Number(2, factor);
    }
  }

  // Fields that came later take no bytes where they say nothing.
  void WriteOrder(const step::StepProfile& profile) {
    if (!profile.backward_input.empty()) {
      query::Write(out_, 17, profile.backward_input);
      query::Write(out_, 18, profile.backward_weight);
    }
    for (const auto& operations : profile.order) {
      out_.List(19, operations.size());
      for (const step::Operation& op : operations) {
        out_.Integer(1, Number(op.phase));
        out_.Integer(2, op.virtual_stage);
        out_.Integer(3, op.microbatch);
      }
    }
    if (!profile.stage_of.empty()) {
      out_.List(20, profile.stage_of.size());
      for (const int stage : profile.stage_of) out_.Integer(1, stage);
    }
    WriteIfSet(21, profile.activation_limit);
    if (profile.uploads_weights())
      query::Write(out_, 30, profile.weight_upload);
  }

  // Without streams these take no bytes.
  void WriteStreams(const step::StepProfile& profile) {
    WriteUnless(0, 90, profile.shard);
    WriteUnless(0, 91, profile.prefetch);
    WriteUnless(0, 92, profile.gather_once);
    WriteUnless(0, 93, profile.scatter_once);
    if (profile.overlap_slowdown != 1) {
      out_.Number(94, profile.overlap_slowdown);
    }
  }

  void WriteSubject(const JobSubject& subject) {
    WriteJob(subject.job);
    WriteAlikeParts(subject.cluster);
    if (all_) WritePlacement(CanonicalPlacementOf(subject));
  }

  void WriteJob(const workload::Job& job) {
    WriteModel(job.model);
    WriteParallelism(job.parallelism, job.training.framework);
    WriteTraining(job.training);
  }

  void WriteModel(const workload::Model& model) {
    out_.Integer(1, model.layers);
    out_.Integer(2, model.hidden);
    out_.Integer(3, model.heads);
    out_.Integer(4, model.kv_heads);
    out_.Integer(5, model.head_size);
    out_.Integer(6, model.ffn_hidden);
    out_.Integer(7, model.gated_ffn);
    out_.Integer(8, model.vocabulary);
    out_.Integer(9, model.position_embeddings);
    out_.Integer(10, model.tied_embeddings);
    out_.Integer(11, model.linear_bias);
  }

  void WriteParallelism(const workload::Parallelism& split,
                        workload::Framework framework) {
    out_.Integer(20, split.tensor);
    out_.Integer(21, split.sequence_parallel);
    out_.Integer(22, split.pipeline);
    out_.Integer(23, split.virtual_stages);
    out_.Integer(24, split.data);
    out_.Integer(25, Number(split.schedule));
    out_.Integer(26, Number(split.sharding));
    out_.Integer(27, Number(split.rank_order));
    WriteNewerParallelism(split, framework);
  }

  // Fields that came later take no bytes where they are as they always were.
  void WriteNewerParallelism(const workload::Parallelism& split,
                             workload::Framework framework) {
    WriteUnless(1, 70, split.context);
    WriteUnless(0, 71, Number(split.context_kind));
    WriteUnless(0, 72, split.shard_group);
    if (!split.stage_layers.empty()) {
      out_.List(73, split.stage_layers.size());
      for (int64_t layers : split.stage_layers) out_.Integer(1, layers);
    }
    WriteUnless(0, 74, split.overlap.gradients);
    WriteUnless(0, 75, split.overlap.parameters);
    WriteUnless(
        framework == workload::Framework::kMegatronLm && split.tensor > 1, 76,
        split.overlap.tensor);
    WriteUnless(0, 77, split.overlap.pipeline);
    WriteUnless(0, 78, split.activation_limit);
  }

  void WriteTraining(const workload::Training& training) {
    out_.Integer(30, training.sequence);
    out_.Integer(31, training.global_batch);
    out_.Integer(32, training.micro_batch);
    out_.Integer(33, Number(training.precision));
    out_.Integer(34, Number(training.recompute));
    out_.Integer(35, Number(training.attention));
    out_.Integer(36, training.fp32_gradients);
    WriteUnless(0, 80, training.recompute_layers.value_or(0));
    WriteUnless(0, 81, Number(training.framework));
    WriteUnless(0, 82, training.compiled);
    WriteUnless(1, 83, training.dropout);
    WriteUnless(0, 84, training.fused_cross_entropy);
    WriteUnless(0, 85, training.offload_optimizer);
    WriteUnless(0, 86, training.keep_microbatches);
    if (training.offload_activations > 0) {
      out_.Number(87, training.offload_activations);
    }
  }

  // What all nodes have in common.
  void WriteAlikeParts(const hardware::Cluster& cluster) {
    out_.Text(40, cluster.accelerator);
    out_.Integer(41, cluster.nodes);
    out_.Integer(42, cluster.gpus_per_node);
    out_.List(43, cluster.fabric.size());
    for (const hardware::FabricLevel& level : cluster.fabric) {
      out_.Integer(1, level.gpus);
      out_.Number(2, level.bytes_per_second);
      out_.Number(3, level.latency_seconds);
      out_.Number(4, level.oversubscription);
    }
  }

  // What is not said takes no bytes.
  void WritePlacement(const CanonicalPlacement& placement) {
    out_.List(45, 0);  // once held slowdowns that the prior multiplied
    out_.List(44, placement.nodes.size());
    for (int64_t node : placement.nodes) out_.Integer(1, node);
    for (const auto& units : placement.units) {
      out_.List(46, units.size());
      for (int64_t unit : units) out_.Integer(1, unit);
    }
    // A prediction takes the mean of a measured factor, and says so.
    for (const hardware::NodeState& state : placement.node_states) {
      if (!state.slowdown) continue;
      out_.Integer(47, state.node);
      out_.Number(1, *state.slowdown);
      out_.Integer(2, state.measured_slowdown.has_value());
    }
    for (const hardware::PathState& state : placement.path_states) {
      out_.Integer(48, state.from);
      out_.Integer(1, state.to);
      out_.Number(2, state.slowdown);
      out_.Integer(3, state.measured_slowdown.has_value());
    }
  }

  void WriteStates(const hardware::Cluster& cluster) {
    for (const hardware::FabricLevel& level : cluster.fabric) {
      if (level.unit_of_node.empty()) continue;
      out_.List(50, level.unit_of_node.size());
      for (int32_t unit : level.unit_of_node) out_.Integer(1, unit);
    }
    for (const hardware::NodeState& state : cluster.node_states) {
      WriteState(state);
    }
    for (const hardware::PathState& state : cluster.path_states) {
      out_.Integer(52, state.from);
      out_.Integer(1, state.to);
      out_.Number(2, state.slowdown);
      WriteIfSet(3, state.measured_slowdown);
    }
  }

  void WriteState(const hardware::NodeState& state) {
    if (!state.slowdown && state.health == hardware::Health::kHealthy) return;
    out_.Integer(51, state.node);
    WriteIfSet(1, state.slowdown);
    WriteIfSet(2, state.measured_slowdown);
    out_.Integer(3, Number(state.health));
  }

  void WriteReliability(const hardware::Cluster& cluster) {
    const hardware::Reliability& reliability = cluster.reliability;
    WriteIfSet(60, reliability.failures_per_node_day);
    WriteIfSet(61, reliability.rate_cv);
    WriteIfSet(62, reliability.repair_seconds);
    WriteIfSet(63, reliability.node_loss_share);
    for (const hardware::NodeState& state : cluster.node_states) {
      if (!state.failures_per_day) continue;
      out_.Integer(64, state.node);
      out_.Number(1, *state.failures_per_day);
    }
  }

  void WriteUnless(int64_t usual, uint8_t tag, int64_t value) {
    if (value != usual) out_.Integer(tag, value);
  }
  void WriteIfSet(uint8_t tag, const std::optional<double>& value) {
    if (value) out_.Number(tag, *value);
  }
  void WriteIfSet(uint8_t tag,
                  const std::optional<stats::Distribution>& value) {
    if (value) query::Write(out_, tag, *value);
  }

  bool all_;
  CanonicalWriter out_;
};

}  // namespace

void WriteDistribution(CanonicalWriter& out, uint8_t tag,
                       const stats::Distribution& distribution) {
  Write(out, tag, distribution);
}

std::string CanonicalForm(const Question& question, CanonicalParts parts) {
  if (parts == CanonicalParts::kCluster) {
    return FormWriter(CanonicalParts::kAll).WriteClusterOf(question);
  }
  return FormWriter(parts).Write(question);
}

std::string JobForm(const workload::Job& job) {
  return FormWriter(CanonicalParts::kAll).Write(job);
}

std::string ClusterForm(const hardware::Cluster& cluster, ClusterParts parts) {
  return FormWriter(CanonicalParts::kAll).Write(cluster, parts);
}

std::string CanonicalForm(const Question& question) {
  return CanonicalForm(question, CanonicalParts::kAll);
}

}  // namespace prism::query
