#include "server/cluster_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "server/temporary_folder.h"

namespace prism::server {
namespace {

using testing::HasSubstr;

class ClusterFileTest : public testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/" + ClusterFile::kName; }

  std::unique_ptr<ClusterFile> Open() {
    auto file = ClusterFile::Open(folder_.path());
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? *std::move(file) : nullptr;
  }

  absl::Status OpenError() {
    return ClusterFile::Open(folder_.path()).status();
  }

  // Runs `sql` on the file as another program would.
  void Run(const std::string& sql) {
    auto database = SqliteDatabase::Open(path());
    ASSERT_TRUE(database.ok()) << database.status();
    const absl::Status status = (*database)->Execute(sql);
    ASSERT_TRUE(status.ok()) << status;
  }

  // One cluster of `states` nodes, each with a state.
  void WriteCluster(ClusterFile& file, uint32_t states) {
    ClusterRecord record;
    record.name = "a";
    record.revision = 3;
    record.update_time = absl::FromUnixNanos(1234567890123456789);
    auto base = std::make_shared<prism::v1::Cluster>();
    base->set_nodes(states);
    base->set_name("a");
    record.base = base;
    for (uint32_t node = 0; node < states; ++node) {
      prism::v1::NodeState state;
      state.set_node(node);
      state.set_reason("reason of " + std::to_string(node));
      record.node_states.Set(state);
    }
    const absl::Status status = file.Write({{&record, true, {}}});
    ASSERT_TRUE(status.ok()) << status;
  }

  TemporaryFolder folder_;
};

TEST_F(ClusterFileTest, WhatWasWrittenIsReadBack) {
  WriteCluster(*Open(), 100);
  const auto records = Open()->Load();
  ASSERT_TRUE(records.ok()) << records.status();
  ASSERT_EQ(records->size(), 1u);
  const ClusterRecord& record = records->front();
  EXPECT_EQ(record.name, "a");
  EXPECT_EQ(record.revision, 3u);
  EXPECT_EQ(absl::ToUnixNanos(record.update_time), 1234567890123456789);
  EXPECT_EQ(record.base->nodes(), 100u);
  EXPECT_EQ(record.node_states.Find(99)->reason(), "reason of 99");
}

TEST_F(ClusterFileTest, TheFileKeepsItsId) {
  const std::string id = Open()->id();
  EXPECT_EQ(id.size(), 8u);
  EXPECT_EQ(Open()->id(), id);
}

TEST_F(ClusterFileTest, OneProcessAtATime) {
  const auto file = Open();
  const absl::Status status = OpenError();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(path() + ": another process uses it"));
}

TEST_F(ClusterFileTest, AFileOfANewerSchemaIsRefused) {
  Open();
  Run("PRAGMA user_version = 7");
  const absl::Status status = OpenError();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("has schema version 7, of a newer prismd"));
}

TEST_F(ClusterFileTest, ADatabaseOfSomethingElseIsRefused) {
  Run("CREATE TABLE other (x)");
  EXPECT_EQ(OpenError().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ClusterFileTest, AFileThatIsNoDatabaseIsRefused) {
  std::ofstream(path()) << std::string(10000, 'x');
  const absl::Status status = OpenError();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path()));
}

TEST_F(ClusterFileTest, DamagedPagesAreFound) {
  WriteCluster(*Open(), 2000);
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(5 * 4096);
  file << std::string(3 * 4096, '\x5a');
  file.close();
  EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ClusterFileTest, RowsThatAreNoMessagesAreFound) {
  WriteCluster(*Open(), 3);
  for (const char* damage :
       {"UPDATE node_states SET state = x'ff' WHERE node = 1",
        "UPDATE bodies SET body = x'ff'", "DELETE FROM bodies",
        "UPDATE node_states SET cluster = 'b'"}) {
    Run(damage);
    const absl::Status status = Open()->Load().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << damage;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is damaged"));
    Run("DELETE FROM node_states; DELETE FROM bodies; DELETE FROM clusters");
    WriteCluster(*Open(), 3);
  }
}

TEST_F(ClusterFileTest, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder_.path() + "/file") << "x";
  const absl::Status status =
      ClusterFile::Open(folder_.path() + "/file/folder").status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot create the data folder"));
}

}  // namespace
}  // namespace prism::server
