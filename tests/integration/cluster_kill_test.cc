// Clusters and kill -9: what was acknowledged is there, and nothing by half.
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "prism/v1/cluster_service.grpc.pb.h"
#include "server/temporary_folder.h"
#include "tests/integration/prismd_process.h"

namespace prism::testing {
namespace {

using prism::v1::Cluster;
using prism::v1::ClusterService;

constexpr int kKills = 100;
constexpr uint32_t kUpdaters = 3;
// An update sets a node and the one this much further to the same value.
constexpr uint32_t kTwin = 100;
constexpr char kUpdated[] = "updated";
constexpr char kReplaced[] = "replaced";

Cluster ClusterOf(const std::string& name) {
  Cluster cluster;
  cluster.set_name(name);
  cluster.set_accelerator("a100-80gb-sxm");
  cluster.set_nodes(2 * kTwin);
  return cluster;
}

template <typename Nodes>
void SetTwins(uint32_t node, double value, Nodes* nodes) {
  for (uint32_t twin : {node, node + kTwin}) {
    auto& state = *nodes->Add();
    state.set_node(twin);
    state.set_slowdown(value);
  }
}

// What one client sent and what of it was acknowledged. Values only rise.
struct Progress {
  double sent = 1;
  double acknowledged = 1;
};

class ClusterKillTest : public ::testing::Test {
 protected:
  void StartPrismd() {
    prismd_ = std::make_unique<PrismdProcess>(
        std::vector<std::string>{"--data_folder=" + folder_.path()});
    prismd_->AwaitListening();
    stub_ = ClusterService::NewStub(grpc::CreateChannel(
        prismd_->grpc_address(), grpc::InsecureChannelCredentials()));
  }

  bool Put(const Cluster& cluster) {
    grpc::ClientContext context;
    prism::v1::PutClusterRequest request;
    *request.mutable_cluster() = cluster;
    prism::v1::StoredCluster stored;
    return stub_->PutCluster(&context, request, &stored).ok();
  }

  bool Update(uint32_t node, double value) {
    grpc::ClientContext context;
    prism::v1::UpdateNodesRequest request;
    request.set_name(kUpdated);
    SetTwins(node, value, request.mutable_nodes());
    prism::v1::UpdateNodesResponse response;
    return stub_->UpdateNodes(&context, request, &response).ok();
  }

  Cluster Get(const std::string& name) {
    grpc::ClientContext context;
    prism::v1::GetClusterRequest request;
    request.set_name(name);
    prism::v1::StoredCluster stored;
    const auto status = stub_->GetCluster(&context, request, &stored);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return stored.cluster();
  }

  // Client `index`: the last one replaces a whole cluster again and again.
  bool Send(uint32_t index, double value) {
    if (index < kUpdaters) return Update(index, value);
    Cluster cluster = ClusterOf(kReplaced);
    SetTwins(index, value, cluster.mutable_node_states());
    return Put(cluster);
  }

  // Sends ever larger values until prismd is gone.
  void SendUntilKilled(uint32_t index) {
    Progress& mine = progress_[index];
    while (true) {
      mine.sent += 1;
      if (!Send(index, mine.sent)) return;
      mine.acknowledged = mine.sent;
      ++acknowledged_;
    }
  }

  // What is stored of client `index` and its twin must be one value, neither
  // older than the last acknowledged nor newer than the last sent.
  void Check(uint32_t index) {
    const Cluster cluster = Get(index < kUpdaters ? kUpdated : kReplaced);
    std::array<double, 2> values = {1, 1};
    for (const auto& state : cluster.node_states()) {
      if (state.node() == index) values[0] = state.slowdown();
      if (state.node() == index + kTwin) values[1] = state.slowdown();
    }
    EXPECT_EQ(values[0], values[1]) << "half an update of client " << index;
    EXPECT_GE(values[0], progress_[index].acknowledged);
    EXPECT_LE(values[0], progress_[index].sent);
    // Where it goes on.
    progress_[index].acknowledged = values[0];
  }

  server::TemporaryFolder folder_;
  std::unique_ptr<PrismdProcess> prismd_;
  std::unique_ptr<ClusterService::Stub> stub_;
  std::array<Progress, kUpdaters + 1> progress_;
  std::atomic<int> acknowledged_ = 0;
};

TEST_F(ClusterKillTest, WhatWasAcknowledgedSurvives) {
  StartPrismd();
  ASSERT_TRUE(Put(ClusterOf(kUpdated)));
  ASSERT_TRUE(Put(ClusterOf(kReplaced)));
  int killed_while_working = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    const int before = acknowledged_;
    std::vector<std::thread> clients;
    for (uint32_t index = 0; index <= kUpdaters; ++index) {
      clients.emplace_back([this, index] { SendUntilKilled(index); });
    }
    // Kills fall everywhere between two acknowledgements.
    while (acknowledged_ < before + 4) absl::SleepFor(absl::Microseconds(100));
    absl::SleepFor(absl::Microseconds(137) * (kill % 23));
    prismd_->Signal(SIGKILL);
    EXPECT_EQ(prismd_->Wait(), -SIGKILL);
    for (std::thread& client : clients) client.join();
    killed_while_working += acknowledged_ > before;
    StartPrismd();
    for (uint32_t index = 0; index <= kUpdaters; ++index) Check(index);
    if (HasFailure()) return;
  }
  EXPECT_EQ(killed_while_working, kKills);
  RecordProperty("acknowledged", acknowledged_);
}

}  // namespace
}  // namespace prism::testing
