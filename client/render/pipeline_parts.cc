#include "client/render/pipeline_parts.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <set>

#include "client/render/provenance_text.h"
#include "client/render/units.h"

namespace prism::render {
namespace {

std::string Count(uint64_t count, const char* noun) {
  return absl::StrCat(Grouped(static_cast<int64_t>(count)), " ", noun,
                      count == 1 ? "" : "s");
}

}  // namespace

using prism::v1::RecordTimelineResponse;
using prism::v1::TimelineRank;
using prism::v1::TimelineStep;

std::vector<int> ChunksOf(const RecordTimelineResponse& response) {
  std::map<uint32_t, int> next;
  std::vector<int> chunks;
  for (const uint32_t stage : response.stage_of()) {
    chunks.push_back(next[stage]++);
  }
  return chunks;
}

const char* PhaseName(prism::v1::OperationPhase phase) {
  switch (phase) {
    case prism::v1::OPERATION_PHASE_FORWARD:
      return "forward";
    case prism::v1::OPERATION_PHASE_BACKWARD:
      return "backward";
    case prism::v1::OPERATION_PHASE_BACKWARD_INPUT:
      return "input";
    case prism::v1::OPERATION_PHASE_BACKWARD_WEIGHT:
      return "weights";
    default:
      return "closing";
  }
}

std::string StepTitle(const TimelineStep& step,
                      const RecordTimelineResponse& response) {
  std::string title = absl::StrCat(DocumentName(step.kind()), ": ",
                                   Duration(step.step_seconds()));
  if (step.kind() != prism::v1::TIMELINE_STEP_KIND_NOMINAL) {
    absl::StrAppend(&title, ", sample ",
                    Grouped(static_cast<int64_t>(step.sample())), " of ",
                    Grouped(static_cast<int64_t>(response.samples())));
  }
  return title;
}

std::string RankName(const TimelineRank& rank, const TimelineStep& step) {
  std::set<uint32_t> stages;
  for (const TimelineRank& other : step.ranks()) stages.insert(other.stage());
  if (static_cast<int>(stages.size()) == step.ranks_size()) {
    return absl::StrCat("stage ", rank.stage());
  }
  return absl::StrCat("rank ", rank.rank(), ", stage ", rank.stage());
}

double IdleShare(const TimelineRank& rank, const TimelineStep& step) {
  double busy = 0;
  for (const auto& ran : rank.operations()) {
    busy += ran.end_seconds() - ran.begin_seconds();
  }
  if (!(step.step_seconds() > 0)) return 0;
  return std::clamp(1 - busy / step.step_seconds(), 0.0, 1.0);
}

std::string LeftOut(const TimelineStep& step) {
  std::vector<std::string> parts;
  if (step.operations_left_out() > 0) {
    parts.push_back(
        absl::StrCat(Grouped(static_cast<int64_t>(step.operations_left_out())),
                     " operations"));
  }
  if (step.ranks_left_out() > 0) {
    parts.push_back(Count(step.ranks_left_out(), "rank"));
  }
  if (step.ranks_without_tasks() > 0) {
    parts.push_back("the tasks of " +
                    Count(step.ranks_without_tasks(), "rank"));
  }
  if (parts.empty()) return "";
  return absl::StrCat("too many to record: ", absl::StrJoin(parts, ", "));
}

}  // namespace prism::render
