#include "core/query/canonical_form.h"

#include <absl/strings/escaping.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/query/example_questions.h"
#include "core/query/sha256.h"

namespace prism::query {
namespace {

using Message = prism::v1::Question;

Question Read(const Message& message) {
  base::Violations violations;
  auto question = ReadQuestion(message, "", violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return question.value_or(Question());
}

std::string Form(const Message& message) {
  return CanonicalForm(Read(message));
}

std::string Hex(const Digest& digest) {
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(digest.data()), digest.size()));
}

struct Edit {
  const char* name;
  std::function<void(Message&)> apply;
};

std::ostream& operator<<(std::ostream& out, const Edit& edit) {
  return out << edit.name;
}

// Applies the edit to the example that it is meant for.
std::pair<Message, Message> BeforeAndAfter(Message before, const Edit& edit) {
  Message after = before;
  edit.apply(after);
  return {before, after};
}

class SameProfile : public testing::TestWithParam<Edit> {};

TEST_P(SameProfile, HasTheSameForm) {
  const auto [before, after] = BeforeAndAfter(ExampleProfile(), GetParam());
  EXPECT_EQ(Form(before), Form(after));
}

INSTANTIATE_TEST_SUITE_P(
    Edits, SameProfile,
    testing::Values(
        Edit{"Renamed",
             [](Message& m) { m.mutable_profile()->set_name("other"); }},
        Edit{"SegmentRenamed",
             [](Message& m) {
               m.mutable_profile()->mutable_forward(0)->set_name("x");
             }},
        Edit{"AutoSaid",
             [](Message& m) { m.set_method(prism::v1::METHOD_AUTO); }},
        Edit{"ScheduleLeftOut",
             [](Message& m) { m.mutable_profile()->clear_schedule(); }},
        Edit{"VirtualSaid",
             [](Message& m) {
               m.mutable_profile()->mutable_layout()->set_virtual_(1);
             }},
        Edit{"SlowdownOfOne",
             [](Message& m) {
               (*m.mutable_profile()->mutable_slowdown())[3] = 1;
             }},
        Edit{"StageScaleOfOnes",
             [](Message& m) {
               m.mutable_profile()->add_stage_scale(1);
               m.mutable_profile()->add_stage_scale(1);
             }},
        Edit{"RegimeOfOne",
             [](Message& m) {
               m.mutable_profile()->mutable_compute_regime()->set_constant(1);
             }},
        Edit{"CollectiveOfZero",
             [](Message& m) {
               m.mutable_profile()
                   ->mutable_backward(0)
                   ->mutable_collective()
                   ->set_constant(-0.0);
             }},
        Edit{"CountOfOne",
             [](Message& m) {
               m.mutable_profile()->mutable_backward(0)->set_count(1);
             }},
        Edit{"SamplesOfADistributionPermuted", [](Message& m) {
               m.mutable_profile()
                   ->mutable_backward(0)
                   ->mutable_compute()
                   ->mutable_mixture()
                   ->mutable_components(1)
                   ->mutable_distribution()
                   ->mutable_empirical()
                   ->mutable_samples()
                   ->SwapElements(0, 1);
             }}));

// A profile of two stages and one micro-batch with an order of its own.
Message CustomProfile(const std::string& chunk) {
  Message message = ExampleProfile();
  auto& profile = *message.mutable_profile();
  profile.mutable_layout()->set_microbatches(1);
  profile.set_schedule(prism::v1::SCHEDULE_CUSTOM);
  for (int stage = 0; stage < 2; ++stage) {
    auto& order = *profile.add_order();
    order.add_operations("F0" + chunk);
    order.add_operations("B0");
  }
  return message;
}

TEST(CustomForm, LeavesOutWhatIsTheDefault) {
  Message placed = CustomProfile("");
  placed.mutable_profile()->add_stage_of(0);
  placed.mutable_profile()->add_stage_of(1);
  EXPECT_EQ(Form(CustomProfile("")), Form(CustomProfile(".0")));
  EXPECT_EQ(Form(CustomProfile("")), Form(placed));
  placed.mutable_profile()->mutable_stage_of()->SwapElements(0, 1);
  EXPECT_NE(Form(CustomProfile("")), Form(placed));
}

TEST(PartsForm, OfAnUnsplitScheduleIsThatOfTheWhole) {
  Message whole = ExampleProfile();
  auto& last = *whole.mutable_profile()->add_backward();
  last.mutable_compute()->set_constant(1);
  Message parts = whole;
  auto& profile = *parts.mutable_profile();
  *profile.add_backward_weight() = last;
  profile.mutable_backward()->RemoveLast();
  profile.mutable_backward_input()->Swap(profile.mutable_backward());
  EXPECT_EQ(Form(parts), Form(whole));
  std::swap(*profile.mutable_backward_input(),
            *profile.mutable_backward_weight());
  EXPECT_NE(Form(parts), Form(whole));
}

TEST(AutomaticForm, HoldsTheLimitUnlessItIsThatOfPlain) {
  Message message = ExampleProfile();
  auto& profile = *message.mutable_profile();
  profile.set_schedule(prism::v1::SCHEDULE_ZERO_BUBBLE_AUTOMATIC);
  profile.mutable_backward_input()->CopyFrom(profile.backward());
  profile.mutable_backward_weight()->Swap(profile.mutable_backward());
  const std::string unset = Form(message);
  profile.set_activation_limit(2);
  EXPECT_EQ(Form(message), unset);
  profile.set_activation_limit(3);
  EXPECT_NE(Form(message), unset);
}

class OtherProfile : public testing::TestWithParam<Edit> {};

TEST_P(OtherProfile, HasAnotherForm) {
  const auto [before, after] = BeforeAndAfter(ExampleProfile(), GetParam());
  EXPECT_NE(Form(before), Form(after));
}

INSTANTIATE_TEST_SUITE_P(
    Edits, OtherProfile,
    testing::Values(
        Edit{"Samples", [](Message& m) { m.set_samples(1001); }},
        Edit{"NoSamples", [](Message& m) { m.clear_samples(); }},
        Edit{"Schedule",
             [](Message& m) {
               m.mutable_profile()->set_schedule(prism::v1::SCHEDULE_GPIPE);
             }},
        Edit{"LastBit",
             [](Message& m) {
               m.mutable_profile()->mutable_optimizer()->set_constant(
                   std::nextafter(1.0, 2.0));
             }},
        Edit{"OtherLayout",
             [](Message& m) {
               m.mutable_profile()->mutable_layout()->set_data(1);
               m.mutable_profile()->mutable_layout()->set_tensor(4);
             }},
        Edit{"OtherLaw",
             [](Message& m) {
               auto* d = m.mutable_profile()->mutable_forward(0);
               d->mutable_compute()->mutable_gamma()->set_mean(1);
               d->mutable_compute()->mutable_gamma()->set_cv(0.05);
             }},
        Edit{"TransferBecomesGradientSync",
             [](Message& m) {
               auto* p = m.mutable_profile();
               p->mutable_transfer()->Swap(p->mutable_gradient_sync());
             }},
        Edit{"Slowdown",
             [](Message& m) {
               (*m.mutable_profile()->mutable_slowdown())[3] = 1.01;
             }},
        Edit{"StageScale",
             [](Message& m) {
               m.mutable_profile()->add_stage_scale(1);
               m.mutable_profile()->add_stage_scale(2);
             }},
        Edit{"Sync",
             [](Message& m) {
               m.mutable_profile()->mutable_forward(0)->clear_sync();
             }},
        Edit{"Count",
             [](Message& m) {
               m.mutable_profile()->mutable_forward(0)->set_count(3);
             }},
        Edit{"Weight", [](Message& m) {
               m.mutable_profile()
                   ->mutable_backward(0)
                   ->mutable_compute()
                   ->mutable_mixture()
                   ->mutable_components(0)
                   ->set_weight(4);
             }}));

class SameJob : public testing::TestWithParam<Edit> {};

TEST_P(SameJob, HasTheSameForm) {
  const auto [before, after] = BeforeAndAfter(ExampleJob(), GetParam());
  EXPECT_EQ(Form(before), Form(after));
}

INSTANTIATE_TEST_SUITE_P(
    Edits, SameJob,
    testing::Values(Edit{"Renamed",
                         [](Message& m) {
                           m.mutable_job()->set_name("x");
                           m.mutable_cluster()->set_name("y");
                           m.mutable_placement()->set_name("z");
                         }},
                    Edit{"DefaultsSaid",
                         [](Message& m) {
                           auto* job = m.mutable_job();
                           job->mutable_model()->set_kv_heads(16);
                           job->mutable_model()->set_head_size(64);
                           job->mutable_model()->set_ffn_hidden(4096);
                           job->mutable_model()->set_linear_bias(true);
                           job->mutable_training()->set_fp32_gradients(true);
                           job->mutable_training()->set_precision(
                               prism::v1::PRECISION_BF16);
                           job->mutable_parallelism()->set_context(1);
                           m.mutable_cluster()->set_gpus_per_node(8);
                         }},
                    Edit{"NodesLieAlike",
                         [](Message& m) {
                           m.mutable_placement()->add_nodes(1);
                           m.mutable_placement()->add_nodes(0);
                         }},
                    Edit{"NamesAndReasons",
                         [](Message& m) {
                           m.mutable_cluster()->add_node_names("a");
                           m.mutable_cluster()->add_node_names("b");
                           m.mutable_cluster()->add_node_states()->set_reason(
                               "fan");
                         }},
                    Edit{"Reliability",
                         [](Message& m) {
                           auto* cluster = m.mutable_cluster();
                           cluster->mutable_reliability()->set_rate_cv(1);
                           cluster->add_node_states()->set_failures_per_day(2);
                         }},
                    Edit{"Degraded",
                         [](Message& m) {
                           m.mutable_cluster()->add_node_states()->set_health(
                               prism::v1::HEALTH_DEGRADED);
                         }},
                    Edit{"FirstNodesSaid",
                         [](Message& m) {
                           m.mutable_placement()->add_nodes(0);
                           m.mutable_placement()->add_nodes(1);
                         }},
                    Edit{"NodeLikeTheOthers", [](Message& m) {
                           m.mutable_cluster()->add_node_states();
                         }}));

class OtherJob : public testing::TestWithParam<Edit> {};

TEST_P(OtherJob, HasAnotherForm) {
  const auto [before, after] = BeforeAndAfter(ExampleJob(), GetParam());
  EXPECT_NE(Form(before), Form(after));
}

INSTANTIATE_TEST_SUITE_P(
    Edits, OtherJob,
    testing::Values(
        Edit{"Vocabulary",
             [](Message& m) {
               m.mutable_job()->mutable_model()->set_vocabulary(51201);
             }},
        Edit{"Precision",
             [](Message& m) {
               auto* training = m.mutable_job()->mutable_training();
               training->set_precision(prism::v1::PRECISION_FP16);
               training->set_fp32_gradients(true);
             }},
        Edit{"Dropout",
             [](Message& m) {
               m.mutable_job()->mutable_training()->set_dropout(false);
             }},
        Edit{"Accelerator",
             [](Message& m) {
               m.mutable_cluster()->set_accelerator("h100-80gb-sxm");
             }},
        Edit{"SlowPath",
             [](Message& m) {
               auto* path = m.mutable_cluster()->add_path_states();
               path->set_to(1);
               path->set_slowdown(2);
             }},
        Edit{"NodeState",
             [](Message& m) {
               m.mutable_cluster()->add_node_states()->set_slowdown(1.1);
             }},
        Edit{"NodeMeasuredToBeAverage",
             [](Message& m) {
               m.mutable_cluster()->add_node_states()->set_slowdown(1);
             }},
        Edit{"Fabric", [](Message& m) {
               m.mutable_cluster()->add_fabric()->set_gigabytes_per_second(50);
             }}));

TEST(CanonicalForm, NodeStatesMayComeInAnyOrder) {
  Message a = ExampleJob(), b = ExampleJob();
  for (const uint32_t node : {0u, 1u}) {
    auto* state = a.mutable_cluster()->add_node_states();
    state->set_node(node);
    state->set_slowdown(1.1 + node);
    state = b.mutable_cluster()->add_node_states();
    state->set_node(1 - node);
    state->set_slowdown(2.1 - node);
  }
  EXPECT_EQ(Form(a), Form(b));
}

TEST(CanonicalForm, NodesOfOthersDoNotMatter) {
  Message a = ExampleJob();
  a.mutable_cluster()->set_nodes(4);
  Message b = a;
  b.mutable_cluster()->add_node_states()->set_slowdown(1.1);
  b.mutable_cluster()->mutable_node_states(0)->set_node(3);
  EXPECT_EQ(Form(a), Form(b));
  b.mutable_cluster()->mutable_node_states(0)->set_node(1);
  EXPECT_NE(Form(a), Form(b));
}

TEST(CanonicalForm, ADrainedNodeMovesTheJob) {
  Message a = ExampleJob();
  a.mutable_cluster()->set_nodes(3);
  a.mutable_cluster()->add_node_states()->set_slowdown(1.1);
  Message b = a;
  b.mutable_cluster()->mutable_node_states(0)->set_health(
      prism::v1::HEALTH_DRAINED);
  EXPECT_NE(Form(a), Form(b));
  // Nodes 1 and 2 lie like the first two of a cluster without states.
  a.mutable_cluster()->clear_node_states();
  EXPECT_EQ(Form(a), Form(b));
}

// A prediction takes the mean of a measurement and says so.
TEST(CanonicalForm, OfAMeasuredFactorOnlyTheMeanCounts) {
  Message a = ExampleJob();
  auto* normal = a.mutable_cluster()
                     ->add_node_states()
                     ->mutable_measured_slowdown()
                     ->mutable_empirical();
  normal->add_samples(1);
  normal->add_samples(3);
  Message b = a;
  b.mutable_cluster()
      ->mutable_node_states(0)
      ->mutable_measured_slowdown()
      ->set_constant(2);
  EXPECT_EQ(Form(a), Form(b));
  b.mutable_cluster()->mutable_node_states(0)->set_slowdown(2);
  b.mutable_cluster()->mutable_node_states(0)->clear_measured_slowdown();
  EXPECT_NE(Form(a), Form(b));
}

std::string FormOfCluster(const Message& message, ClusterParts parts) {
  return ClusterForm(std::get<JobSubject>(Read(message).subject).cluster,
                     parts);
}

TEST(ClusterForm, HoldsHealthAndMeasurements) {
  Message plain = ExampleJob();
  plain.mutable_cluster()->set_nodes(3);
  Message drained = plain, one = plain, other = plain;
  drained.mutable_cluster()->add_node_states()->set_health(
      prism::v1::HEALTH_DRAINED);
  const auto measure = [](Message& m, double sd) {
    auto* normal = m.mutable_cluster()
                       ->add_node_states()
                       ->mutable_measured_slowdown()
                       ->mutable_normal();
    normal->set_mean(1);
    normal->set_sd(sd);
  };
  measure(one, 0.01);
  measure(other, 0.02);
  const auto form = [](const Message& m) {
    return FormOfCluster(m, ClusterParts::kSpeeds);
  };
  EXPECT_NE(form(plain), form(drained));
  EXPECT_NE(form(plain), form(one));
  EXPECT_NE(form(one), form(other));
}

TEST(ClusterForm, HoldsReliabilityWhereAsked) {
  const Message plain = ExampleJob();
  Message rate = plain, node = plain;
  rate.mutable_cluster()->mutable_reliability()->set_rate_cv(1);
  node.mutable_cluster()->add_node_states()->set_failures_per_day(1);
  const auto form = FormOfCluster;
  EXPECT_EQ(form(plain, ClusterParts::kSpeeds),
            form(rate, ClusterParts::kSpeeds));
  EXPECT_EQ(form(plain, ClusterParts::kSpeeds),
            form(node, ClusterParts::kSpeeds));
  EXPECT_NE(form(plain, ClusterParts::kWithReliability),
            form(rate, ClusterParts::kWithReliability));
  EXPECT_NE(form(plain, ClusterParts::kWithReliability),
            form(node, ClusterParts::kWithReliability));
}

// What the random draws must not depend on, so that candidates for one job are
// compared under common random numbers.
TEST(RandomKey, IsSharedByPlacementsAndSpeedsOfNodes) {
  Message message = ExampleJob();
  const uint64_t key = RandomKey(Read(message));
  message.mutable_placement()->add_nodes(1);
  message.mutable_placement()->add_nodes(0);
  message.mutable_cluster()->add_node_states()->set_slowdown(1.1);
  message.set_samples(5000);
  message.set_method(prism::v1::METHOD_MONTECARLO);
  EXPECT_EQ(RandomKey(Read(message)), key);
}

TEST(RandomKey, IsSharedBySlowdownsOfAProfile) {
  Message message = ExampleProfile();
  const uint64_t key = RandomKey(Read(message));
  (*message.mutable_profile()->mutable_slowdown())[0] = 2;
  EXPECT_EQ(RandomKey(Read(message)), key);
}

TEST(RandomKey, DiffersBetweenJobs) {
  Message message = ExampleJob();
  const uint64_t key = RandomKey(Read(message));
  message.mutable_job()->mutable_model()->set_vocabulary(51201);
  EXPECT_NE(RandomKey(Read(message)), key);
}

// Each change of a job has a form of its own.
TEST(JobFormTest, EveryFieldOfHowAJobIsRunCounts) {
  using workload::Job;
  const std::vector<std::function<void(Job&)>> changes = {
      [](Job&) {},
      [](Job& j) { j.parallelism.context = 2; },
      [](Job& j) {
        j.parallelism.context_kind = workload::ContextKind::kAllGather;
      },
      [](Job& j) { j.parallelism.shard_group = 2; },
      [](Job& j) {
        j.parallelism.stage_layers = {1, 2};
      },
      [](Job& j) {
        j.parallelism.stage_layers = {2, 1};
      },
      [](Job& j) { j.parallelism.sharding = workload::Sharding::kZero2; },
      [](Job& j) { j.parallelism.overlap.gradients = true; },
      [](Job& j) { j.parallelism.overlap.parameters = true; },
      [](Job& j) { j.parallelism.overlap.tensor = true; },
      [](Job& j) { j.parallelism.overlap.pipeline = true; },
      [](Job& j) { j.training.precision = workload::Precision::kFp4; },
      [](Job& j) { j.training.recompute_layers = 1; },
      [](Job& j) { j.training.framework = workload::Framework::kTorchtitan; },
      [](Job& j) { j.training.compiled = true; },
      [](Job& j) { j.training.dropout = false; },
      [](Job& j) { j.training.fused_cross_entropy = true; },
      [](Job& j) { j.training.offload_optimizer = true; },
      [](Job& j) { j.training.offload_activations = 0.5; },
      [](Job& j) { j.training.keep_microbatches = 1; },
      [](Job& j) { j.parallelism.activation_limit = 3; },
      [](Job& j) {
        j.parallelism.schedule = workload::Schedule::kZeroBubbleH1;
      },
      [](Job& j) {
        j.parallelism.schedule = workload::Schedule::kZeroBubbleAuto;
      },
  };
  std::set<std::string> forms;
  for (const auto& change : changes) {
    Job job;
    change(job);
    forms.insert(JobForm(job));
  }
  EXPECT_EQ(forms.size(), changes.size());
}

TEST(CanonicalForm, VariationCounts) {
  Question question = Read(ExampleJob());
  const std::string with = CanonicalForm(question);
  question.variation = false;
  EXPECT_NE(CanonicalForm(question), with);
}

// Signatures outlive builds: caches and reports hold them. These change only
// together with the schema or model version.
TEST(CanonicalForm, GoldenDigests) {
  EXPECT_EQ(Hex(Sha256({Form(ExampleProfile())})),
            "e14cb4e6ad57330349e6605477b9232f759f779107d03fcf9f52297a5834fb9d");
  EXPECT_EQ(Hex(Sha256({Form(ExampleJob())})),
            "d3f014d43363759f5d83c8622e5e472838d5acd715a90a27fbed9233f54f484c");
}

TEST(RandomKey, GoldenValues) {
  EXPECT_EQ(RandomKey(Read(ExampleProfile())), 10285277150322256021u);
  EXPECT_EQ(RandomKey(Read(ExampleJob())), 4864714864205034002u);
}

TEST(Signature, IsOfModelVersionAndForm) {
  const std::string form = Form(ExampleJob());
  EXPECT_EQ(Signature(form), Hex(Sha256({ModelVersion() + "\n" + form})));
  EXPECT_EQ(Signature(form).size(), 64u);
}

// FIPS 180-4, example of one block.
TEST(Sha256, KnownAnswer) {
  EXPECT_EQ(Hex(Sha256({"a", "bc"})),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace prism::query
