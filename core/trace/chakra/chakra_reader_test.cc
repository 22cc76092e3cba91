#include "core/trace/chakra/chakra_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "chakra/execution_trace.pb.h"
#include "core/trace/kineto/joined_trace.h"
#include "core/trace/kineto/test_support.h"

namespace prism::chakra {
namespace {

using kineto::ActivityKind;
using ::testing::HasSubstr;
using ::testing::SizeIs;

ChakraTrace Read(std::string_view bytes, size_t block = 4096) {
  ChakraReader reader("trace_rank-2.et");
  for (size_t at = 0; at < bytes.size(); at += block)
    reader.Feed(bytes.substr(at, block));
  return reader.Finish();
}

std::string Framed(const google::protobuf::MessageLite& message) {
  const std::string text = message.SerializeAsString();
  std::string framed;
  size_t length = text.size();
  for (; length > 127; length >>= 7)
    framed += static_cast<char>((length & 127) | 128);
  framed += static_cast<char>(length);
  return framed + text;
}

Node MakeNode(uint64_t id, NodeType type, uint64_t microseconds,
              std::vector<uint64_t> waits_for = {}) {
  Node node;
  node.set_id(id);
  node.set_name("node");
  node.set_type(type);
  node.set_duration_microseconds(microseconds);
  for (const uint64_t other : waits_for) node.add_data_dependencies(other);
  return node;
}

Node OnHost(Node node) {
  Attribute* attribute = node.add_attributes();
  attribute->set_name("is_cpu_op");
  attribute->set_bool_value(true);
  return node;
}

std::string File(const std::vector<Node>& nodes) {
  Metadata metadata;
  metadata.set_version("0.0.4");
  std::string file = Framed(metadata);
  for (const Node& node : nodes) file += Framed(node);
  return file;
}

TEST(ChakraReaderTest, StartsDeviceNodesAsDependenciesAllow) {
  const ChakraTrace trace =
      Read(File({OnHost(MakeNode(1, NODE_TYPE_COMPUTE, 10)),
                 MakeNode(2, NODE_TYPE_COMPUTE, 100, {1}),
                 MakeNode(3, NODE_TYPE_COLLECTIVE, 50, {1}),
                 MakeNode(4, NODE_TYPE_COMPUTE, 20, {3})}));
  const kineto::KernelTrace& kernels = trace.kernels;
  EXPECT_FALSE(trace.has_starts);
  ASSERT_THAT(kernels.activities, SizeIs(3));
  EXPECT_EQ(kernels.activities[0].start_ns, 10'000);
  EXPECT_EQ(kernels.activities[1].start_ns, 10'000);
  EXPECT_EQ(kernels.activities[1].kind, ActivityKind::kCommunication);
  // The collective runs beside the kernel, which the last node waits for.
  EXPECT_EQ(kernels.activities[2].start_ns, 110'000);
  EXPECT_EQ(kernels.rank, 2);
  EXPECT_EQ(kernels.damage.count(), 0);
}

TEST(ChakraReaderTest, TakesControlDependenciesWhereThereAreNoOthers) {
  Node second = MakeNode(2, NODE_TYPE_COLLECTIVE, 20);
  second.add_control_dependencies(1);
  const Node first = MakeNode(1, NODE_TYPE_COMPUTE, 10);
  EXPECT_EQ(Read(File({first, second})).kernels.activities[1].start_ns, 10'000);
  const ChakraTrace trace =
      Read(File({first, second, MakeNode(3, NODE_TYPE_COMPUTE, 5, {1})}));
  EXPECT_EQ(trace.kernels.activities[1].start_ns, 0);
}

TEST(ChakraReaderTest, TakesStartsThatWereRecorded) {
  Node first = MakeNode(1, NODE_TYPE_COMPUTE, 10);
  first.set_start_microseconds(1000);
  Node second = MakeNode(2, NODE_TYPE_COMPUTE, 10, {1});
  second.set_start_microseconds(1500);
  const ChakraTrace trace = Read(File({first, second}));
  EXPECT_TRUE(trace.has_starts);
  EXPECT_EQ(trace.kernels.activities[1].start_ns, 1'500'000);
}

TEST(ChakraReaderTest, ReadsWhatACollectiveExchanges) {
  Node node = MakeNode(1, NODE_TYPE_COLLECTIVE, 10);
  const auto set = [&node](const char* name, int64_t value) {
    Attribute* attribute = node.add_attributes();
    attribute->set_name(name);
    attribute->set_int64_value(value);
  };
  set("comm_type", 7);
  set("comm_size", 4096);
  set("stream", 40);
  Attribute* group = node.add_attributes();
  group->set_name("pg_name");
  group->set_string_value("dp");
  const ChakraTrace trace = Read(File({node}));
  const kineto::Activity& activity = trace.kernels.activities[0];
  EXPECT_EQ(trace.kernels.collectives[activity.collective],
            (kineto::Collective{"reduce-scatter", "dp", 0, 4096}));
  EXPECT_EQ(trace.kernels.streams[activity.stream].number, 40);
}

TEST(ChakraReaderTest, NamesDamageAndGoesOn) {
  std::string file = File({MakeNode(1, NODE_TYPE_COMPUTE, 10)});
  file += "\x03\xff\xff\xff";  // no message
  file += Framed(MakeNode(2, NODE_TYPE_COMPUTE, uint64_t{1} << 60));
  file += Framed(MakeNode(3, NODE_TYPE_COMPUTE, 5, {77}));
  const ChakraTrace trace = Read(file);
  EXPECT_THAT(trace.kernels.activities, SizeIs(2));
  ASSERT_EQ(trace.kernels.damage.count(), 3);
  const auto& named = trace.kernels.damage.named();
  EXPECT_EQ(named[0].what, "a node cannot be read");
  EXPECT_EQ(named[1].what, "node 2 has no possible time");
  EXPECT_THAT(named[2].what, HasSubstr("1 dependencies are on nodes"));
}

// The converter's test data: 3664 nodes, 1216 of them on the device, durations
// without starts.
TEST(ChakraReaderTest, ReadsARealTrace) {
  const std::string bytes = kineto::TestData("resnet.chakra.et.gz");
  ChakraTrace trace = Read(bytes);
  EXPECT_EQ(trace.kernels.damage.count(), 0);
  EXPECT_EQ(trace.kernels.events, 3664);
  EXPECT_THAT(trace.kernels.activities, SizeIs(1216));
  EXPECT_FALSE(trace.has_starts);
  const auto joined = kineto::Join({std::move(trace.kernels)}, {});
  ASSERT_TRUE(joined.ok());
  ASSERT_THAT(joined->collectives.uses, SizeIs(2));
  EXPECT_EQ(joined->collectives.uses[0].kind, "all-reduce");
  EXPECT_EQ(joined->collectives.uses[0].calls, 5);
  // One step of ResNet-50's parameters in 32 bit.
  EXPECT_EQ(joined->collectives.uses[0].bytes, int64_t{4} * 25'557'032);
}

TEST(ChakraReaderTest, ReadsARealTraceOfTheHost) {
  const ChakraTrace trace = Read(kineto::TestData("resnet_2gpu_et.json.gz"));
  ASSERT_TRUE(trace.host.has_value());
  EXPECT_EQ(trace.kernels.damage.count(), 0);
  EXPECT_EQ(trace.host->schema, "1.1.0-chakra.0.0.4");
  EXPECT_EQ(trace.host->nodes, 14392);
  EXPECT_THAT(trace.host->steps, SizeIs(3));
  EXPECT_EQ(trace.host->collectives.at("all-reduce").calls, 15);
  EXPECT_EQ(trace.host->collectives.at("all-reduce").bytes, 306'684'384);
  EXPECT_EQ(trace.host->collectives.at("broadcast").calls, 6);
}

TEST(ChakraReaderTest, NamesEveryTruncation) {
  const std::string bytes =
      kineto::Gunzip(kineto::TestData("resnet.chakra.et.gz"));
  std::mt19937_64 random(1);
  for (int i = 0; i < 60; ++i) {
    const ChakraTrace trace = Read(bytes.substr(0, random() % bytes.size()));
    // A file may end between two nodes; then it lacks what others wait for or
    // nothing at all.
    EXPECT_TRUE(trace.kernels.damage.count() > 0 || trace.kernels.events > 0);
  }
}

TEST(ChakraReaderTest, TakesAnyDamage) {
  const std::string bytes =
      kineto::Gunzip(kineto::TestData("resnet.chakra.et.gz")).substr(0, 30000);
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = bytes;
    for (uint64_t n = 1 + random() % 20; n > 0; --n)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    Read(damaged, 1 + random() % 5000);
  }
}

}  // namespace
}  // namespace prism::chakra
