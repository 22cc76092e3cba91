#include "core/trace/kineto/rank_reader.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "core/trace/kineto/collective_names.h"
#include "core/trace/kineto/host_stretches.h"
#include "core/trace/kineto/inflate.h"
#include "core/trace/kineto/json_elements.h"
#include "core/trace/kineto/name_table.h"
#include "core/trace/kineto/trace_event.h"

namespace prism::kineto {
namespace {

// Some 6 GB of them; no device runs as many in the minutes a profiler records.
constexpr size_t kMostActivities = size_t{1} << 26;
// Times beyond these cannot be: they are damage, and could overflow sums.
constexpr int64_t kMostStartNs = int64_t{4'000'000'000'000'000'000};  // 2096
constexpr int64_t kMostDurationNs = int64_t{1'000'000'000'000'000};   // 11 days
constexpr size_t kMostNames = 1000;  // of ignored kinds and unknown fields

// What runs on a device, by the category of its event in lower case.
std::optional<ActivityKind> KindOf(const TraceEvent& event,
                                   const std::string& category) {
  if (category == "kernel" || category == "concurrent_kernel") {
    return IsCommunicationKernel(event.name) ? ActivityKind::kCommunication
                                             : ActivityKind::kCompute;
  }
  if (category == "gpu_memcpy" || category == "gpu_memset" ||
      category == "memcpy" || category == "memset")
    return ActivityKind::kMemory;
  return std::nullopt;
}

bool IsLaunch(const std::string& category) {
  return absl::EndsWith(category, "runtime") ||
         absl::EndsWith(category, "driver");
}

bool IsAnnotation(const std::string& category) {
  return category == "user_annotation";
}

int64_t LargerBuffer(const EventArgs& args) {
  const int64_t elements =
      std::max({args.elements_in.value_or(-1), args.elements_out.value_or(-1),
                args.input_elements.value_or(-1)});
  const int64_t size = ElementBytes(
      args.element_type.empty() ? args.input_type : args.element_type);
  int64_t bytes = -1;
  if (elements < 0 || size == 0 ||
      __builtin_mul_overflow(elements, size, &bytes))
    return -1;
  return bytes;
}

// What an event says of the collective it is or launches.
Collective CollectiveOf(const TraceEvent& event) {
  Collective collective;
  collective.kind = CollectiveKind(event.args.collective);
  if (collective.kind == "unknown")
    collective.kind = CollectiveKind(event.name);
  collective.group = event.args.group_name.empty() ? event.args.group_ranks
                                                   : event.args.group_name;
  collective.group_size =
      std::max<int64_t>(0, event.args.group_size.value_or(0));
  collective.bytes = LargerBuffer(event.args);
  return collective;
}

// Whether a kernel says itself what it exchanges.
bool SaysItself(const TraceEvent& event) {
  return !event.args.collective.empty() || event.args.elements_in.has_value();
}

}  // namespace

class RankReader::Impl : private JsonElements::Sink {
 public:
  explicit Impl(std::string file)
      : elements_("traceEvents", *this, trace_.damage) {
    trace_.file = std::move(file);
  }

  void Feed(std::string_view bytes) {
    if (lost_) return;
    const auto status = inflater_.Feed(
        bytes, [this](std::string_view text) { TakeText(text); });
    if (!status.ok()) LoseRest(status);
  }

  KernelTrace Finish() {
    if (!lost_) {
      const auto status =
          inflater_.Finish([this](std::string_view text) { TakeText(text); });
      if (!status.ok()) LoseRest(status);
    }
    elements_.Finish();
    backward_.Close();
    optimizer_.Close();
    calls_.Close();
    for (size_t i = 0; i < trace_.activities.size(); ++i)
      Resolve(correlations_[i], trace_.activities[i]);
    Sort(trace_.activities);
    Sort(trace_.annotations);
    trace_.names = std::move(names_).Take();
    trace_.streams = std::move(streams_).Take();
    trace_.collectives = std::move(collectives_).Take();
    if (!trace_.rank) trace_.rank = RankOfFileName(trace_.file);
    return std::move(trace_);
  }

 private:
  struct Launch {
    int64_t at_ns;
    int32_t thread;
  };

  template <typename Timed>
  static void Sort(std::vector<Timed>& timed) {
    std::stable_sort(
        timed.begin(), timed.end(),
        [](const Timed& a, const Timed& b) { return a.start_ns < b.start_ns; });
  }

  void TakeText(std::string_view text) {
    text_bytes_ += static_cast<int64_t>(text.size());
    elements_.Feed(text);
  }

  void LoseRest(const absl::Status& status) {
    lost_ = true;
    trace_.damage.Add(text_bytes_, std::string(status.message()));
  }

  void OnField(std::string_view key, std::string_view text) override {
    if (key != "distributedInfo") return;
    const DistributedInfo info = ParseDistributedInfo(text);
    trace_.rank = info.rank;
    trace_.world_size = info.world_size;
  }

  void OnElement(std::string_view text, int64_t byte) override {
    ++trace_.events;
    if (const auto status = ParseEvent(text, &event_); !status.ok()) {
      trace_.damage.Add(byte, std::string(status.message()));
      return;
    }
    for (const std::string& field : event_.unknown_fields)
      Count(field, trace_.unknown_fields);
    Take(byte);
  }

  static void Count(const std::string& name,
                    std::map<std::string, int64_t>& counts) {
    if (counts.size() < kMostNames || counts.contains(name)) ++counts[name];
  }

  void Take(int64_t byte) {
    if (event_.phase.empty())
      return trace_.damage.Add(byte, "an event without ph");
    if (event_.phase != "X") {
      const std::string& category = event_.category;
      const std::string kind = category.empty() ? event_.name : category;
      return Count(absl::StrCat(kind, " (ph ", event_.phase, ")"),
                   trace_.ignored);
    }
    if (const std::string problem = TimeProblem(); !problem.empty())
      return trace_.damage.Add(byte, problem);
    const std::string category = absl::AsciiStrToLower(event_.category);
    if (const auto kind = KindOf(event_, category)) return TakeActivity(*kind);
    if (IsLaunch(category)) return TakeLaunch();
    if (IsAnnotation(category)) return TakeAnnotation();
    TakeOther();
  }

  std::string TimeProblem() const {
    const std::string name = event_.name.substr(0, 60);
    if (!event_.start_ns) return absl::StrCat(name, " has no ts");
    if (!event_.duration_ns) return absl::StrCat(name, " has no dur");
    if (*event_.duration_ns < 0)
      return absl::StrCat(name, " has a dur below 0");
    if (*event_.duration_ns > kMostDurationNs ||
        std::abs(*event_.start_ns) > kMostStartNs)
      return absl::StrCat(name, " has no possible time");
    return "";
  }

  int64_t End() const { return *event_.start_ns + *event_.duration_ns; }

  int32_t Thread() {
    return threads_.Number(absl::StrCat(event_.process, "/", event_.thread));
  }

  void TakeActivity(ActivityKind kind) {
    if (trace_.activities.size() == kMostActivities)
      return Count("device activities beyond the most that are kept",
                   trace_.ignored);
    Activity activity;
    activity.start_ns = activity.launch_ns = *event_.start_ns;
    activity.end_ns = End();
    activity.name = names_.Number(event_.name);
    activity.stream = streams_.Number(
        {event_.args.device.value_or(0), event_.args.stream.value_or(-1)});
    activity.kind = kind;
    if (kind == ActivityKind::kCommunication && SaysItself(event_))
      activity.collective = collectives_.Number(CollectiveOf(event_));
    trace_.activities.push_back(activity);
    correlations_.push_back(event_.args.correlation.value_or(0));
  }

  void TakeLaunch() {
    const int64_t correlation = event_.args.correlation.value_or(0);
    if (correlation != 0) launches_[correlation] = {*event_.start_ns, Thread()};
  }

  void TakeAnnotation() {
    const std::string& name = event_.name;
    if (absl::StartsWith(name, "nccl:")) return TakeCall();
    trace_.annotations.push_back(
        {*event_.start_ns, End(), names_.Number(name)});
    if (absl::StartsWith(name, "Optimizer.step"))
      optimizer_.Add(Thread(), *event_.start_ns, End(), 0);
  }

  void TakeCall() {
    calls_.Add(Thread(), *event_.start_ns, End(),
               collectives_.Number(CollectiveOf(event_)));
  }

  // Operators say where the backward pass is and what a collective exchanges;
  // otherwise they are host work within what the device shows as idle.
  void TakeOther() {
    if (absl::StartsWith(event_.name, "autograd::engine::evaluate_function"))
      backward_.Add(Thread(), *event_.start_ns, End(), 0);
    if (!event_.args.collective.empty()) TakeCall();
    Count(event_.category.empty() ? "no category" : event_.category,
          trace_.ignored);
  }

  // Finds who launched the activity.
  void Resolve(int64_t correlation, Activity& activity) {
    const auto found = launches_.find(correlation);
    if (found == launches_.end()) {
      ++trace_.unlaunched;
    } else {
      ResolveLaunch(found->second, activity);
    }
    if (activity.kind == ActivityKind::kCommunication &&
        activity.collective < 0)
      activity.collective = CollectiveOfName(activity.name);
  }

  void ResolveLaunch(const Launch& launch, Activity& activity) {
    activity.launch_ns = launch.at_ns;
    if (optimizer_.Find(launch.thread, launch.at_ns) >= 0) {
      activity.phase = Phase::kOptimizer;
    } else if (backward_.Find(launch.thread, launch.at_ns) >= 0) {
      activity.phase = Phase::kBackward;
    }
    if (activity.kind == ActivityKind::kCommunication &&
        activity.collective < 0)
      activity.collective = calls_.Find(launch.thread, launch.at_ns);
  }

  int32_t CollectiveOfName(int32_t name) {
    Collective collective;
    collective.kind = CollectiveKind(names_.At(name));
    return collectives_.Number(collective);
  }

  KernelTrace trace_;
  Inflater inflater_;
  JsonElements elements_;
  bool lost_ = false;  // the compressed data broke
  int64_t text_bytes_ = 0;
  TraceEvent event_;  // the one being taken
  NameTable<std::string> names_, threads_;
  NameTable<Stream> streams_;
  NameTable<Collective> collectives_;
  std::vector<int64_t> correlations_;  // by activity; 0: none
  std::unordered_map<int64_t, Launch> launches_;
  HostStretches backward_, optimizer_, calls_;
};

RankReader::RankReader(std::string file)
    : impl_(std::make_unique<Impl>(std::move(file))) {}

RankReader::~RankReader() = default;

void RankReader::Feed(std::string_view bytes) { impl_->Feed(bytes); }

KernelTrace RankReader::Finish() { return impl_->Finish(); }

std::optional<int64_t> RankOfFileName(std::string_view file) {
  const size_t slash = file.find_last_of('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  const size_t word = file.rfind("rank");
  if (word == std::string_view::npos) return std::nullopt;
  file.remove_prefix(word + 4);
  if (file.starts_with('-') || file.starts_with('_')) file.remove_prefix(1);
  const size_t end =
      std::min(file.find_first_not_of("0123456789"), file.size());
  int64_t rank = 0;
  if (!absl::SimpleAtoi(absl::string_view(file.data(), end), &rank))
    return std::nullopt;
  return rank;
}

}  // namespace prism::kineto
