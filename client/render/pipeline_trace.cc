#include "client/render/pipeline_trace.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "client/render/pipeline_parts.h"

namespace prism::render {
namespace {

using prism::v1::RecordTimelineResponse;
using prism::v1::TimelineOperation;
using prism::v1::TimelineRank;
using prism::v1::TimelineStep;
using prism::v1::TimelineTask;

int64_t Nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

std::string Microseconds(int64_t nanoseconds) {
  return absl::StrFormat("%d.%03d", nanoseconds / 1000, nanoseconds % 1000);
}

// Where an event is shown.
struct Thread {
  int process = 0;
  int64_t number = 0;
};

class TraceWriter {
 public:
  explicit TraceWriter(const RecordTimelineResponse& response)
      : response_(response), chunks_(ChunksOf(response)) {}

  std::string Write() {
    for (int i = 0; i < response_.steps_size(); ++i) {
      WriteStep(response_.steps(i), i + 1);
    }
    const auto& provenance = response_.provenance();
    return absl::StrCat(
        "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"model_version\":\"",
        provenance.model_version(), "\",\"signature\":\"",
        provenance.signature(), "\",\"samples\":", response_.samples(),
        "},\"traceEvents\":[\n", text_, "\n]}\n");
  }

 private:
  void Add(absl::string_view event) {
    absl::StrAppend(&text_, text_.empty() ? "" : ",\n", event);
  }

  void AddMetadata(const char* name, const Thread& thread,
                   absl::string_view arguments) {
    Add(absl::StrCat("{\"ph\":\"M\",\"name\":\"", name,
                     "\",\"pid\":", thread.process, ",\"tid\":", thread.number,
                     ",\"args\":{", arguments, "}}"));
  }

  void AddThread(const Thread& thread, const std::string& name) {
    AddMetadata("thread_name", thread, absl::StrCat("\"name\":\"", name, "\""));
    AddMetadata("thread_sort_index", thread,
                absl::StrCat("\"sort_index\":", thread.number));
  }

  // Nothing where it takes no time at all.
  void AddSpan(const Thread& thread, absl::string_view name,
               absl::string_view category, double begin_seconds,
               double end_seconds, absl::string_view arguments) {
    const int64_t begin = Nanoseconds(begin_seconds);
    const int64_t end = Nanoseconds(end_seconds);
    if (end <= begin) return;
    Add(absl::StrCat(
        "{\"ph\":\"X\",\"name\":\"", name, "\",\"cat\":\"", category,
        "\",\"pid\":", thread.process, ",\"tid\":", thread.number,
        ",\"ts\":", Microseconds(begin), ",\"dur\":", Microseconds(end - begin),
        ",\"args\":{", arguments, "}}"));
  }

  void WriteStep(const TimelineStep& step, int process) {
    const Thread all{process, 0};
    AddMetadata("process_name", all,
                absl::StrCat("\"name\":\"", StepTitle(step, response_), "\""));
    AddMetadata("process_sort_index", all,
                absl::StrCat("\"sort_index\":", process));
    if (const std::string left_out = LeftOut(step); !left_out.empty()) {
      AddMetadata("process_labels", all,
                  absl::StrCat("\"labels\":\"", left_out, "\""));
    }
    senders_.clear();
    for (const TimelineRank& rank : step.ranks()) NoteSenders(rank, process);
    for (const TimelineRank& rank : step.ranks()) WriteRank(rank, process);
  }

  // Threads of a rank stand together, its operations first.
  Thread ThreadOf(const TimelineRank& rank, int process, int64_t place) const {
    return {process, int64_t{rank.rank()} * kPlaces + place + 1};
  }

  void NoteSenders(const TimelineRank& rank, int process) {
    for (const TimelineOperation& ran : rank.operations()) {
      if (ran.phase() == prism::v1::OPERATION_PHASE_CLOSING) continue;
      senders_[{rank.replica(), rank.lane(), ran.id()}] = {
          ThreadOf(rank, process, 0), ran.begin_seconds()};
    }
  }

  void WriteRank(const TimelineRank& rank, int process) {
    const Thread thread = ThreadOf(rank, process, 0);
    const std::string name =
        absl::StrCat("rank ", rank.rank(), ": replica ", rank.replica(),
                     ", stage ", rank.stage(), ", lane ", rank.lane());
    AddThread(thread, name);
    std::set<uint32_t> streams;
    for (const TimelineOperation& ran : rank.operations()) {
      WriteWaits(ran, thread);
      WriteOperation(ran, thread);
      WriteFlow(ran, rank, thread);
      for (const TimelineTask& task : ran.tasks()) {
        const Thread stream = ThreadOf(rank, process, task.stream() + 1);
        if (streams.insert(task.stream()).second) {
          AddThread(stream, absl::StrCat("rank ", rank.rank(), ": stream ",
                                         task.stream()));
        }
        WriteTask(task, LabelOf(ran), stream);
      }
    }
  }

  // "forward 3", or "forward 3.1" on chunk 1 of its stage.
  std::string LabelOf(const TimelineOperation& ran) const {
    if (ran.phase() == prism::v1::OPERATION_PHASE_CLOSING) return "closing";
    const int chunk = chunks_[ran.virtual_stage()];
    return absl::StrCat(PhaseName(ran.phase()), " ", ran.microbatch(),
                        chunk > 0 ? absl::StrCat(".", chunk) : "");
  }

  void WriteWaits(const TimelineOperation& ran, const Thread& thread) {
    const double ready = ran.ready_seconds(), begin = ran.begin_seconds();
    const std::string before =
        absl::StrCat("\"before\":\"", LabelOf(ran), "\"");
    if (!ran.has_input()) {
      AddSpan(thread, "streams", "wait", ready, begin, before);
      return;
    }
    const double sent = std::clamp(ran.input().sent_seconds(), ready, begin);
    AddSpan(thread, "bubble", "wait", ready, sent, before);
    AddSpan(thread, "transfer", "wait", sent, begin, before);
  }

  void WriteOperation(const TimelineOperation& ran, const Thread& thread) {
    std::string arguments;
    if (ran.phase() != prism::v1::OPERATION_PHASE_CLOSING) {
      arguments =
          absl::StrCat("\"micro_batch\":", ran.microbatch(),
                       ",\"virtual_stage\":", ran.virtual_stage(),
                       ",\"chunk\":", chunks_[ran.virtual_stage()], ",");
    }
    absl::StrAppend(&arguments, "\"waited_us\":",
                    Microseconds(Nanoseconds(ran.begin_seconds()) -
                                 Nanoseconds(ran.ready_seconds())));
    if (ran.has_input()) {
      absl::StrAppend(&arguments, ",\"input_sent_us\":",
                      Microseconds(Nanoseconds(ran.input().sent_seconds())),
                      ",\"input_arrived_us\":",
                      Microseconds(Nanoseconds(ran.input().arrival_seconds())));
    }
    AddSpan(thread, LabelOf(ran), PhaseName(ran.phase()), ran.begin_seconds(),
            ran.end_seconds(), arguments);
  }

  // From inside the sending operation to the beginning of the receiving one.
  void WriteFlow(const TimelineOperation& ran, const TimelineRank& rank,
                 const Thread& thread) {
    if (!ran.has_input()) return;
    const auto sender =
        senders_.find({rank.replica(), rank.lane(), ran.input().id()});
    if (sender == senders_.end()) return;
    const auto& [from, begin_seconds] = sender->second;
    const int64_t sent = std::max(Nanoseconds(begin_seconds),
                                  Nanoseconds(ran.input().sent_seconds()) - 1);
    ++flows_;
    for (const auto& [phase, at, end] :
         {std::tuple{"s", from, sent},
          {"f", thread, Nanoseconds(ran.begin_seconds())}}) {
      Add(absl::StrCat("{\"ph\":\"", phase,
                       "\",\"name\":\"send\",\"cat\":\"send\",\"bp\":\"e\","
                       "\"id\":",
                       flows_, ",\"pid\":", at.process, ",\"tid\":", at.number,
                       ",\"ts\":", Microseconds(end), "}"));
    }
  }

  void WriteTask(const TimelineTask& task, const std::string& operation,
                 const Thread& thread) {
    const std::string arguments =
        absl::StrCat("\"operation\":\"", operation, "\"");
    AddSpan(thread, "members", "wait", task.ready_seconds(),
            task.begin_seconds(), arguments);
    AddSpan(thread, response_.kinds(static_cast<int>(task.kind())), "task",
            task.begin_seconds(), task.end_seconds(), arguments);
  }

  // Numbers of threads kept for a rank: more than it has streams.
  static constexpr int64_t kPlaces = 64;

  const RecordTimelineResponse& response_;
  const std::vector<int> chunks_;
  std::string text_;
  int64_t flows_ = 0;
  // (replica, lane, operation) -> where it ran and when it began.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::pair<Thread, double>>
      senders_;
};

}  // namespace

std::string PipelineTrace(const RecordTimelineResponse& response) {
  return TraceWriter(response).Write();
}

}  // namespace prism::render
