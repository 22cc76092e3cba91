#include "server/cluster_store.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "server/temporary_folder.h"

namespace prism::server {
namespace {

using prism::v1::Cluster;
using prism::v1::NodeState;
using testing::ElementsAre;
using testing::HasSubstr;

using Result = absl::StatusOr<ClusterSnapshotPtr>;

constexpr uint32_t kNodes = 200;

Cluster ClusterOf(const std::string& accelerator = "a100") {
  Cluster cluster;
  cluster.set_accelerator(accelerator);
  cluster.set_nodes(kNodes);
  return cluster;
}

NodeState Slow(uint32_t node, double slowdown) {
  NodeState state;
  state.set_node(node);
  state.set_slowdown(slowdown);
  return state;
}

ClusterChange::UpdateNodes UpdateOf(const std::vector<NodeState>& nodes) {
  return {{nodes.begin(), nodes.end()}};
}

class ClusterStoreTest : public testing::Test {
 protected:
  ClusterStoreTest() { Open(); }

  void Open() {
    store_.reset();
    auto store = ClusterStore::Open(
        folder_.path(), [] { return absl::Now(); }, metrics_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  Result Apply(ClusterChange change) {
    std::promise<Result> promise;
    store_->Apply(std::move(change), [&promise](Result result) {
      promise.set_value(std::move(result));
    });
    return promise.get_future().get();
  }
  Result Put(const std::string& name, const Cluster& cluster = ClusterOf(),
             const std::string& etag = "") {
    return Apply({name, etag, ClusterChange::Put{cluster}});
  }
  Result Delete(const std::string& name, const std::string& etag = "") {
    return Apply({name, etag, ClusterChange::Delete{}});
  }
  Result Update(const std::string& name, const std::vector<NodeState>& nodes,
                const std::string& etag = "") {
    return Apply({name, etag, UpdateOf(nodes)});
  }

  std::vector<std::string> Names(const std::string& after, size_t count) {
    std::vector<std::string> names;
    for (const auto& snapshot : store_->List(after, count)) {
      names.push_back(snapshot->record().name);
    }
    return names;
  }

  TemporaryFolder folder_;
  Metrics metrics_{"test"};
  std::unique_ptr<ClusterStore> store_;
};

TEST_F(ClusterStoreTest, WhatWasPutIsFound) {
  Cluster cluster = ClusterOf();
  *cluster.add_node_states() = Slow(7, 2);
  const Result put = Put("a", cluster);
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_EQ((*put)->record().revision, 1u);
  EXPECT_EQ(store_->Find("a"), *put);
  EXPECT_EQ(store_->Find("a")->cluster().SerializeAsString(),
            cluster.SerializeAsString());
  EXPECT_EQ(store_->Find("b"), nullptr);
}

TEST_F(ClusterStoreTest, EverythingIsThereAfterReopening) {
  Cluster cluster = ClusterOf();
  *cluster.add_node_states() = Slow(7, 2);
  ASSERT_TRUE(Put("a", cluster).ok());
  ASSERT_TRUE(Update("a", {Slow(7, 3), Slow(150, 1.5)}).ok());
  ASSERT_TRUE(Put("gone").ok());
  ASSERT_TRUE(Delete("gone").ok());
  const auto before = store_->Find("a")->Stored();
  Open();
  EXPECT_EQ(store_->Find("a")->Stored().SerializeAsString(),
            before.SerializeAsString());
  EXPECT_EQ(before.revision(), 2u);
  EXPECT_EQ(store_->Find("gone"), nullptr);
  EXPECT_EQ(metrics_.clusters.Value(), 1);
}

TEST_F(ClusterStoreTest, PuttingAgainReplacesTheNodes) {
  Cluster cluster = ClusterOf();
  *cluster.add_node_states() = Slow(7, 2);
  ASSERT_TRUE(Put("a", cluster).ok());
  ASSERT_TRUE(Put("a", ClusterOf("h100")).ok());
  Open();
  EXPECT_EQ(store_->Find("a")->cluster().node_states_size(), 0);
  EXPECT_EQ(store_->Find("a")->cluster().accelerator(), "h100");
}

TEST_F(ClusterStoreTest, RevisionsGoOnAfterDeleting) {
  ASSERT_TRUE(Put("a").ok());
  ASSERT_TRUE(Delete("a").ok());
  EXPECT_EQ(store_->Find("a"), nullptr);
  Open();
  const Result again = Put("a");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->record().revision, 3u);
}

TEST_F(ClusterStoreTest, UpdatesChangeTheNodesNamedAndNoOthers) {
  Cluster cluster = ClusterOf();
  *cluster.add_node_states() = Slow(7, 2);
  *cluster.add_node_states() = Slow(8, 2);
  ASSERT_TRUE(Put("a", cluster).ok());
  ASSERT_TRUE(Update("a", {Slow(8, 4)}).ok());
  const auto& states = store_->Find("a")->record().node_states;
  EXPECT_EQ(states.Find(7)->slowdown(), 2);
  EXPECT_EQ(states.Find(8)->slowdown(), 4);
  EXPECT_EQ(metrics_.node_updates.Value(), 1);
}

TEST_F(ClusterStoreTest, AWrongNodeChangesNothing) {
  ASSERT_TRUE(Put("a").ok());
  const Result result = Update("a", {Slow(1, 2), Slow(kNodes, 2)});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("nodes[1]"));
  EXPECT_EQ(store_->Find("a")->record().node_states.Find(1), nullptr);
  EXPECT_EQ(store_->Find("a")->record().revision, 1u);
}

TEST_F(ClusterStoreTest, WhatIsNotThereCannotBeChanged) {
  EXPECT_EQ(Delete("a").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Update("a", {Slow(1, 2)}).status().code(),
            absl::StatusCode::kNotFound);
  ASSERT_TRUE(Put("a").ok());
  ASSERT_TRUE(Delete("a").ok());
  EXPECT_EQ(Delete("a").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ClusterStoreTest, OnlyTheEtagStoredFits) {
  const auto aborted = [](const Result& result) {
    return result.status().code() == absl::StatusCode::kAborted;
  };
  EXPECT_TRUE(aborted(Put("a", ClusterOf(), "other")));
  ASSERT_TRUE(Put("a", ClusterOf(), "-").ok());
  EXPECT_TRUE(aborted(Put("a", ClusterOf(), "-")));

  const std::string first = store_->Find("a")->record().etag;
  ASSERT_TRUE(Update("a", {Slow(1, 2)}, first).ok());
  EXPECT_NE(store_->Find("a")->record().etag, first);
  EXPECT_TRUE(aborted(Put("a", ClusterOf(), first)));
  EXPECT_TRUE(aborted(Update("a", {Slow(1, 3)}, first)));
  EXPECT_TRUE(aborted(Delete("a", first)));
  EXPECT_TRUE(Delete("a", store_->Find("a")->record().etag).ok());
  EXPECT_TRUE(Put("a", ClusterOf(), "-").ok());
}

TEST_F(ClusterStoreTest, AnotherFileHasOtherEtags) {
  const std::string here = (*Put("a"))->record().etag;
  TemporaryFolder folder;
  Metrics metrics("test");
  auto other = ClusterStore::Open(
      folder.path(), [] { return absl::Now(); }, metrics);
  ASSERT_TRUE(other.ok());
  store_ = *std::move(other);
  EXPECT_NE((*Put("a"))->record().etag, here);
  store_.reset();
}

TEST_F(ClusterStoreTest, APreviewChangesNothing) {
  const ClusterChange change{"a", "", ClusterChange::Put{ClusterOf()}};
  const auto preview = store_->Preview(change);
  ASSERT_TRUE(preview.ok());
  EXPECT_EQ((*preview)->record().revision, 1u);
  EXPECT_EQ(store_->Find("a"), nullptr);
}

TEST_F(ClusterStoreTest, ListsByNameFromAnywhere) {
  for (const char* name : {"c", "a", "d", "b"}) ASSERT_TRUE(Put(name).ok());
  ASSERT_TRUE(Delete("b").ok());
  EXPECT_THAT(Names("", 10), ElementsAre("a", "c", "d"));
  EXPECT_THAT(Names("", 2), ElementsAre("a", "c"));
  EXPECT_THAT(Names("b", 10), ElementsAre("c", "d"));
  EXPECT_THAT(Names("d", 10), ElementsAre());
}

TEST_F(ClusterStoreTest, SnapshotsDoNotChange) {
  ASSERT_TRUE(Put("a").ok());
  const ClusterSnapshotPtr before = store_->Find("a");
  ASSERT_TRUE(Update("a", {Slow(3, 2)}).ok());
  EXPECT_EQ(before->cluster().node_states_size(), 0);
  EXPECT_EQ(store_->Find("a")->cluster().node_states_size(), 1);
}

// Every update of each writer raises the same nodes together; a reader that
// saw half of one would find them unequal.
TEST_F(ClusterStoreTest, ReadersSeeWholeUpdatesWhileWritersGoOn) {
  constexpr int kWriters = 4;
  constexpr int kUpdates = 100;
  ASSERT_TRUE(Put("a").ok());
  std::atomic<int> acknowledged = 0;
  for (int writer = 0; writer < kWriters; ++writer) {
    const uint32_t first = static_cast<uint32_t>(writer);
    for (int i = 1; i <= kUpdates; ++i) {
      store_->Apply({"a", "", UpdateOf({Slow(first, i), Slow(first + 100, i)})},
                    [&](const Result& result) {
                      EXPECT_TRUE(result.ok()) << result.status();
                      ++acknowledged;
                    });
    }
  }
  uint64_t revision = 0;
  while (acknowledged < kWriters * kUpdates) {
    const auto snapshot = store_->Find("a");
    EXPECT_GE(snapshot->record().revision, revision);
    revision = snapshot->record().revision;
    for (uint32_t node = 0; node < kWriters; ++node) {
      const auto& states = snapshot->record().node_states;
      const NodeState* one = states.Find(node);
      const NodeState* other = states.Find(node + 100);
      ASSERT_EQ(one == nullptr, other == nullptr);
      if (one == nullptr) continue;
      EXPECT_EQ(one->slowdown(), other->slowdown());
    }
  }
  EXPECT_EQ(store_->Find("a")->record().revision, 1u + kWriters * kUpdates);
  Open();
  for (uint32_t node = 0; node < kWriters; ++node) {
    EXPECT_EQ(store_->Find("a")->record().node_states.Find(node)->slowdown(),
              kUpdates);
  }
}

TEST_F(ClusterStoreTest, WhatIsQueuedIsWrittenBeforeTheEnd) {
  ASSERT_TRUE(Put("a").ok());
  for (int i = 1; i <= 50; ++i) {
    store_->Apply({"a", "", UpdateOf({Slow(3, i)})}, [](const Result&) {});
  }
  Open();
  EXPECT_EQ(store_->Find("a")->record().node_states.Find(3)->slowdown(), 50);
}

// Changes of one batch build on each other.
TEST_F(ClusterStoreTest, ChangesAreMadeInTheirOrder) {
  std::promise<Result> last;
  store_->Apply({"a", "-", ClusterChange::Put{ClusterOf()}},
                [](const Result& result) { EXPECT_TRUE(result.ok()); });
  store_->Apply({"a", "", UpdateOf({Slow(3, 2)})},
                [](const Result& result) { EXPECT_TRUE(result.ok()); });
  store_->Apply({"a", "", ClusterChange::Delete{}},
                [](const Result& result) { EXPECT_TRUE(result.ok()); });
  store_->Apply({"a", "-", ClusterChange::Put{ClusterOf("h100")}},
                [&](Result result) { last.set_value(std::move(result)); });
  const Result result = last.get_future().get();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)->record().revision, 4u);
  Open();
  EXPECT_EQ(store_->Find("a")->cluster().accelerator(), "h100");
  EXPECT_EQ(store_->Find("a")->cluster().node_states_size(), 0);
}

}  // namespace
}  // namespace prism::server
