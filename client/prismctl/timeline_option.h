// What --timeline asks for beside a prediction: a picture of three steps.
#ifndef PRISM_CLIENT_PRISMCTL_TIMELINE_OPTION_H_
#define PRISM_CLIENT_PRISMCTL_TIMELINE_OPTION_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/prismctl/command.h"
#include "client/prismctl/session.h"
#include "core/base/violations.h"
#include "core/query/record_timeline.h"
#include "prism/v1/prediction_service.pb.h"
#include "prism/v1/timeline.pb.h"

namespace prism::prismctl {

// Values of the options.
struct TimelineOptions {
  std::string file;  // "-": on the terminal; empty: no timeline
  std::string ranks;
  bool tasks = false;

  bool asked() const { return !file.empty(); }
};

// --timeline, --timeline-ranks, --timeline-tasks.
std::vector<Option> TimelineOptionsInto(TimelineOptions& options);

// What is wrong with them together; empty: nothing.
std::string TimelineUsageProblem(const TimelineOptions& options);

// What is wrong with them in this session, before anything is computed: a file
// that cannot be written, a picture of characters among JSON.
std::string TimelineProblem(const TimelineOptions& options,
                            const Session& session);

// Numbers and ranges of them with commas between: "0-3,9". Errors:
// INVALID_ARGUMENT with a message that reads on after the option's name.
absl::StatusOr<std::vector<uint32_t>> ParseRanks(const std::string& text);

// The request for the subject of `question`.
//
// Requires: TimelineUsageProblem(options) is empty.
prism::v1::RecordTimelineRequest TimelineRequest(
    const TimelineOptions& options, const prism::v1::Question& question);

// The answer to `request`, of the session's server or, computed on `threads`
// threads, of this process; complete as a server's, within `timeout`.
// `question` is what the request says; needed where there is no server.
absl::StatusOr<prism::v1::RecordTimelineResponse> AskForTimeline(
    const prism::v1::RecordTimelineRequest& request,
    const std::optional<query::TimelineQuestion>& question, int threads,
    absl::Duration timeout, const Session& session);

// Writes the file that the options name. Errors: those of WriteOutputFile.
absl::Status WriteTimelineFile(
    const TimelineOptions& options,
    const prism::v1::RecordTimelineResponse& response);

// What follows a prediction in text: the picture itself, or what the file
// holds.
std::string TimelineText(const TimelineOptions& options,
                         const prism::v1::RecordTimelineResponse& response,
                         const render::Terminal& terminal);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_TIMELINE_OPTION_H_
