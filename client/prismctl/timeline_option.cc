#include "client/prismctl/timeline_option.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "client/connection.h"
#include "client/prismctl/local_answer.h"
#include "client/prismctl/output_file.h"
#include "client/render/pipeline_parts.h"
#include "client/render/pipeline_svg.h"
#include "client/render/pipeline_text.h"
#include "client/render/pipeline_trace.h"
#include "client/render/wrap.h"
#include "core/query/node.h"

namespace prism::prismctl {
namespace {

using prism::v1::RecordTimelineRequest;
using prism::v1::RecordTimelineResponse;

constexpr char kMethod[] = "/prism.v1.TimelineService/RecordTimeline";
constexpr size_t kMostRanks = 1024;

bool IsTerminalPicture(const TimelineOptions& options) {
  return options.file == "-";
}

bool IsSvg(const std::string& file) { return absl::EndsWith(file, ".svg"); }

absl::Status NoRange(std::string_view item) {
  return absl::InvalidArgumentError(
      absl::StrCat("has ", query::Quote(std::string(item)),
                   "; must be numbers of ranks and ranges such as 0-3, with "
                   "commas between"));
}

}  // namespace

std::vector<Option> TimelineOptionsInto(TimelineOptions& options) {
  return {{.name = "--timeline",
           .placeholder = "FILE",
           .help = "also record a nominal, a typical and a p99 step: a trace "
                   "for Perfetto in a FILE ending in .json, a picture in one "
                   "ending in .svg, - for one of characters",
           .target = &options.file},
          {.name = "--timeline-ranks",
           .placeholder = "RANKS",
           .help = "ranks to record beside one of every stage: 0-3,9",
           .target = &options.ranks},
          {.name = "--timeline-tasks",
           .help = "also record the tasks of operations, for a trace",
           .target = &options.tasks}};
}

std::string TimelineUsageProblem(const TimelineOptions& options) {
  if (!options.asked()) {
    if (!options.ranks.empty()) return "--timeline-ranks needs --timeline";
    if (options.tasks) return "--timeline-tasks needs --timeline";
    return "";
  }
  if (!IsTerminalPicture(options) && !IsSvg(options.file) &&
      !absl::EndsWith(options.file, ".json")) {
    return absl::StrCat("--timeline: is ", query::Quote(options.file),
                        "; must end in .json (a trace) or .svg (a picture), "
                        "or be - (the terminal)");
  }
  if (const auto ranks = ParseRanks(options.ranks); !ranks.ok()) {
    return absl::StrCat("--timeline-ranks: ",
                        std::string(ranks.status().message()));
  }
  return "";
}

std::string TimelineProblem(const TimelineOptions& options,
                            const Session& session) {
  if (!options.asked()) return "";
  if (IsTerminalPicture(options)) {
    return session.options.format == OutputFormat::kJson
               ? "--timeline: is -; must be a file where the format is json"
               : "";
  }
  const absl::Status status = CheckOutputFile(options.file);
  if (status.ok()) return "";
  return absl::StrCat("--timeline: ", options.file, ": ",
                      std::string(status.message()));
}

absl::StatusOr<std::vector<uint32_t>> ParseRanks(const std::string& text) {
  std::vector<uint32_t> ranks;
  for (const absl::string_view item :
       absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::vector<absl::string_view> ends =
        absl::StrSplit(absl::StripAsciiWhitespace(item), '-');
    uint32_t first = 0, last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last) || last < first) {
      return NoRange(std::string_view(item.data(), item.size()));
    }
    if (last - first >= kMostRanks - ranks.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("names too many; must be at most ", kMostRanks));
    }
    for (uint64_t rank = first; rank <= last; ++rank) {
      ranks.push_back(static_cast<uint32_t>(rank));
    }
  }
  return ranks;
}

RecordTimelineRequest TimelineRequest(const TimelineOptions& options,
                                      const prism::v1::Question& question) {
  RecordTimelineRequest request;
  if (question.has_job()) *request.mutable_job() = question.job();
  if (question.has_profile()) *request.mutable_profile() = question.profile();
  if (question.has_cluster()) *request.mutable_cluster() = question.cluster();
  if (question.has_placement()) {
    *request.mutable_placement() = question.placement();
  }
  request.set_cluster_name(question.cluster_name());
  request.set_variation(question.variation());
  request.set_samples(question.samples());
  if (const auto ranks = ParseRanks(options.ranks); ranks.ok()) {
    for (const uint32_t rank : *ranks) request.add_ranks(rank);
  }
  request.set_tasks(options.tasks);
  return request;
}

absl::StatusOr<RecordTimelineResponse> AskForTimeline(
    const RecordTimelineRequest& request,
    const std::optional<query::TimelineQuestion>& question, int threads,
    absl::Duration timeout, const Session& session) {
  if (!session.options.server.empty()) {
    return client::Connection::To(session.options.server)
        ->Call<RecordTimelineResponse>(kMethod, request, timeout);
  }
  auto response =
      ComputeHere({threads, timeout},
                  [&](const base::Budget& budget, base::Executor& executor) {
                    return query::RecordTimeline(*question, budget, executor);
                  });
  if (response.ok()) {
    response->mutable_provenance()->MergeFrom(LocalProvenance(
        query::CanonicalForm(*question), response->provenance().quality()));
  }
  return response;
}

absl::Status WriteTimelineFile(const TimelineOptions& options,
                               const RecordTimelineResponse& response) {
  if (IsTerminalPicture(options)) return absl::OkStatus();
  return WriteOutputFile(options.file, IsSvg(options.file)
                                           ? render::PipelineSvg(response)
                                           : render::PipelineTrace(response));
}

std::string TimelineText(const TimelineOptions& options,
                         const RecordTimelineResponse& response,
                         const render::Terminal& terminal) {
  if (IsTerminalPicture(options)) {
    return "\n" + render::PipelineText(response, terminal);
  }
  std::vector<std::string> parts;
  for (const auto& step : response.steps()) {
    parts.push_back(render::StepTitle(step, response));
    const std::string left_out = render::LeftOut(step);
    if (!left_out.empty()) parts.back() += " (" + left_out + ")";
  }
  return "\n" + render::Wrap("",
                             absl::StrCat("Timeline in ", options.file, ": ",
                                          absl::StrJoin(parts, "; ")),
                             terminal.columns);
}

}  // namespace prism::prismctl
