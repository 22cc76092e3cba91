#include "core/trace/chakra/chakra_reader.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "chakra/execution_trace.pb.h"
#include "core/trace/chakra/frames.h"
#include "core/trace/chakra/node_graph.h"
#include "core/trace/kineto/collective_names.h"
#include "core/trace/kineto/inflate.h"
#include "core/trace/kineto/json_elements.h"
#include "core/trace/kineto/name_table.h"
#include "core/trace/kineto/rank_reader.h"

namespace prism::chakra {
namespace {

using kineto::Activity;
using kineto::ActivityKind;
using kineto::Phase;

constexpr size_t kHeadBytes = 64;
// Times beyond these cannot be: they are damage, and could overflow sums.
constexpr uint64_t kMostStartUs = 4'000'000'000'000'000;  // 2096
constexpr uint64_t kMostDurationUs = 1'000'000'000'000;   // 11 days

// Kinds by number, as the schema's CollectiveCommType has them.
constexpr std::array<const char*, 10> kCollectives = {
    "all-reduce", "reduce",     "all-gather",     "gather",         "scatter",
    "broadcast",  "all-to-all", "reduce-scatter", "reduce-scatter", "barrier"};

int64_t IntegerOf(const Attribute& attribute) {
  switch (attribute.value_case()) {
    case Attribute::kInt32Value:
      return attribute.int32_value();
    case Attribute::kInt64Value:
      return attribute.int64_value();
    case Attribute::kUint32Value:
      return attribute.uint32_value();
    case Attribute::kUint64Value:
      return static_cast<int64_t>(attribute.uint64_value());
    case Attribute::kBoolValue:
      return attribute.bool_value() ? 1 : 0;
    default:
      return -1;
  }
}

// What is used of a node's attributes; -1: not there.
struct Attributes {
  int64_t is_cpu_op = -1, thread = -1, stream = -1;
  int64_t collective = -1, bytes = -1;
  std::string group;

  explicit Attributes(const Node& node) {
    for (const Attribute& attribute : node.attributes()) {
      const std::string& name = attribute.name();
      if (name == "is_cpu_op") is_cpu_op = IntegerOf(attribute);
      if (name == "tid") thread = IntegerOf(attribute);
      if (name == "stream") stream = IntegerOf(attribute);
      if (name == "comm_type") collective = IntegerOf(attribute);
      if (name == "comm_size") bytes = IntegerOf(attribute);
      if (name == "pg_name") group = attribute.string_value();
    }
  }
};

bool Communicates(NodeType type) {
  return type == NODE_TYPE_SEND || type == NODE_TYPE_RECEIVE ||
         type == NODE_TYPE_COLLECTIVE;
}

ActivityKind KindOf(const Node& node) {
  if (Communicates(node.type())) return ActivityKind::kCommunication;
  const bool memory = node.type() == NODE_TYPE_MEMORY_LOAD ||
                      node.type() == NODE_TYPE_MEMORY_STORE ||
                      absl::StartsWith(node.name(), "Memcpy") ||
                      absl::StartsWith(node.name(), "Memset");
  return memory ? ActivityKind::kMemory : ActivityKind::kCompute;
}

kineto::Collective CollectiveOf(const Node& node,
                                const Attributes& attributes) {
  kineto::Collective collective;
  collective.kind = kineto::CollectiveKind(node.name());
  if (node.type() != NODE_TYPE_COLLECTIVE) {
    collective.kind = "send-recv";
  } else if (attributes.collective >= 0 &&
             attributes.collective <
                 static_cast<int64_t>(kCollectives.size())) {
    collective.kind = kCollectives[static_cast<size_t>(attributes.collective)];
  }
  collective.group = attributes.group;
  collective.bytes = attributes.bytes;
  return collective;
}

}  // namespace

class ChakraReader::Impl : private kineto::JsonElements::Sink {
 public:
  explicit Impl(std::string file)
      : frames_(trace_.kernels.damage),
        json_("nodes", *this, trace_.kernels.damage) {
    trace_.kernels.file = std::move(file);
  }

  void Feed(std::string_view bytes) {
    if (lost_) return;
    LoseUnlessOk(inflater_.Feed(
        bytes, [this](std::string_view part) { TakeBytes(part); }));
  }

  ChakraTrace Finish() {
    if (!lost_) {
      LoseUnlessOk(
          inflater_.Finish([this](std::string_view part) { TakeBytes(part); }));
    }
    if (form_ == Form::kUnknown) Begin();
    if (form_ == Form::kJson) {
      json_.Finish();
    } else {
      frames_.Finish();
      PlaceNodes();
    }
    kineto::KernelTrace& kernels = trace_.kernels;
    kernels.names = std::move(names_).Take();
    kernels.streams = std::move(streams_).Take();
    kernels.collectives = std::move(collectives_).Take();
    kernels.rank = kineto::RankOfFileName(kernels.file);
    return std::move(trace_);
  }

 private:
  enum class Form { kUnknown, kProtobuf, kJson };

  // A device activity before its start is known.
  struct Placed {
    size_t node;
    Activity activity;
  };

  void LoseUnlessOk(const absl::Status& status) {
    if (status.ok()) return;
    lost_ = true;
    trace_.kernels.damage.Add(taken_, std::string(status.message()));
  }

  void TakeBytes(std::string_view bytes) {
    taken_ += static_cast<int64_t>(bytes.size());
    if (form_ != Form::kUnknown) return Pass(bytes);
    head_.append(bytes);
    if (head_.size() >= kHeadBytes) Begin();
  }

  // A message may begin with bytes that are white space or a brace, but then a
  // field follows, and no field begins like a key.
  void Begin() {
    const std::string head = std::exchange(head_, {});
    const absl::string_view text = absl::StripLeadingAsciiWhitespace(head);
    const absl::string_view inside =
        absl::StripLeadingAsciiWhitespace(text.substr(text.empty() ? 0 : 1));
    const bool json =
        absl::StartsWith(text, "{") &&
        (absl::StartsWith(inside, "\"") || absl::StartsWith(inside, "}"));
    form_ = json ? Form::kJson : Form::kProtobuf;
    if (json) trace_.host.emplace();
    Pass(head);
  }

  void Pass(std::string_view bytes) {
    if (form_ == Form::kJson) {
      json_.Feed(bytes);
    } else {
      frames_.Feed(bytes, [this](std::string_view message, int64_t byte) {
        TakeMessage(message, byte);
      });
    }
  }

  void OnElement(std::string_view text, int64_t byte) override {
    ++trace_.kernels.events;
    const absl::Status status = AddNode(text, *trace_.host);
    if (!status.ok())
      trace_.kernels.damage.Add(byte, std::string(status.message()));
  }

  void OnField(std::string_view key, std::string_view text) override {
    if (key == "schema" && text.size() > 2)
      trace_.host->schema = text.substr(1, text.size() - 2);
  }

  // The first message is the metadata, all others are nodes.
  void TakeMessage(std::string_view message, int64_t byte) {
    const int size = static_cast<int>(message.size());
    if (!seen_metadata_) {
      seen_metadata_ = true;
      if (!metadata_.ParseFromArray(message.data(), size))
        trace_.kernels.damage.Add(byte, "the metadata cannot be read");
      return;
    }
    ++trace_.kernels.events;
    if (!node_.ParseFromArray(message.data(), size))
      return trace_.kernels.damage.Add(byte, "a node cannot be read");
    if (node_.duration_microseconds() > kMostDurationUs ||
        node_.start_microseconds() > kMostStartUs) {
      return trace_.kernels.damage.Add(
          byte, absl::StrCat("node ", node_.id(), " has no possible time"));
    }
    TakeNode();
  }

  void TakeNode() {
    const Attributes attributes(node_);
    const bool device = IsOnDevice(attributes);
    TimedNode timed;
    timed.id = node_.id();
    timed.start_ns = static_cast<int64_t>(node_.start_microseconds()) * 1000;
    timed.duration_ns =
        static_cast<int64_t>(node_.duration_microseconds()) * 1000;
    const int64_t stream = StreamOf(attributes);
    timed.lane = lanes_.Number({device, device ? stream : attributes.thread});
    const auto& data = node_.data_dependencies();
    const auto& control = node_.control_dependencies();
    timed.waits_for.assign(data.begin(), data.end());
    control_.emplace_back(control.begin(), control.end());
    has_data_ = has_data_ || !data.empty();
    if (device) {
      TakeActivity(attributes, stream);
    } else {
      ++trace_.kernels.ignored["host operators"];
    }
    nodes_.push_back(std::move(timed));
  }

  bool IsOnDevice(const Attributes& attributes) const {
    if (node_.type() == NODE_TYPE_INVALID || node_.type() == NODE_TYPE_METADATA)
      return false;
    return attributes.is_cpu_op <= 0;
  }

  // Traces of PyTorch give the stream as thread; where there is neither,
  // communication runs beside computation.
  int64_t StreamOf(const Attributes& attributes) const {
    if (attributes.stream >= 0) return attributes.stream;
    if (attributes.thread >= 0) return attributes.thread;
    return Communicates(node_.type()) ? 1 : 0;
  }

  void TakeActivity(const Attributes& attributes, int64_t stream) {
    Activity activity;
    activity.name = names_.Number(node_.name());
    activity.stream = streams_.Number({0, stream});
    activity.kind = KindOf(node_);
    if (activity.kind == ActivityKind::kCommunication)
      activity.collective =
          collectives_.Number(CollectiveOf(node_, attributes));
    placed_.push_back({nodes_.size(), activity});
    unstarted_ += node_.start_microseconds() == 0;
  }

  void PlaceNodes() {
    trace_.has_starts = !placed_.empty() && unstarted_ == 0;
    if (!trace_.has_starts) FindStarts();
    std::vector<Activity>& activities = trace_.kernels.activities;
    for (Placed& placed : placed_) {
      const TimedNode& node = nodes_[placed.node];
      Activity& activity = placed.activity;
      activity.start_ns = activity.launch_ns = node.start_ns;
      activity.end_ns = node.start_ns + node.duration_ns;
      activities.push_back(activity);
    }
    std::stable_sort(activities.begin(), activities.end(),
                     [](const Activity& a, const Activity& b) {
                       return a.start_ns < b.start_ns;
                     });
  }

  // Converters write the order of execution as data dependencies, and in
  // control dependencies who called whom, by numbers of another trace.
  void FindStarts() {
    for (size_t i = 0; i < nodes_.size() && !has_data_; ++i)
      nodes_[i].waits_for = std::move(control_[i]);
    const ScheduleProblems problems = Schedule(nodes_);
    kineto::Damage& damage = trace_.kernels.damage;
    if (problems.unknown > 0) {
      damage.Add(taken_, absl::StrCat(problems.unknown,
                                      " dependencies are on nodes that are "
                                      "not in the file"));
    }
    if (problems.circular > 0) {
      damage.Add(taken_,
                 absl::StrCat(problems.circular, " nodes wait for each other"));
    }
  }

  ChakraTrace trace_;
  kineto::Inflater inflater_;
  Frames frames_;
  kineto::JsonElements json_;
  Form form_ = Form::kUnknown;
  std::string head_;  // until form_ is known
  bool lost_ = false;
  int64_t taken_ = 0;  // bytes, uncompressed
  bool seen_metadata_ = false;
  Metadata metadata_;
  Node node_;  // the one being taken
  std::vector<TimedNode> nodes_;
  std::vector<std::vector<uint64_t>> control_;  // by node
  bool has_data_ = false;  // whether any node has data dependencies
  std::vector<Placed> placed_;
  int64_t unstarted_ = 0;  // of placed_, without a recorded start
  kineto::NameTable<std::string> names_;
  kineto::NameTable<kineto::Stream> streams_;
  kineto::NameTable<kineto::Collective> collectives_;
  kineto::NameTable<std::pair<bool, int64_t>> lanes_;  // device?, number
};

ChakraReader::ChakraReader(std::string file)
    : impl_(std::make_unique<Impl>(std::move(file))) {}

ChakraReader::~ChakraReader() = default;

void ChakraReader::Feed(std::string_view bytes) { impl_->Feed(bytes); }

ChakraTrace ChakraReader::Finish() { return impl_->Finish(); }

}  // namespace prism::chakra
