// Timelines as pictures of characters.
#ifndef PRISM_CLIENT_RENDER_PIPELINE_TEXT_H_
#define PRISM_CLIENT_RENDER_PIPELINE_TEXT_H_

#include <string>

#include "client/render/terminal.h"
#include "prism/v1/timeline.pb.h"

namespace prism::render {

// A section for each step, a line for each rank: operations by phase over time,
// all steps on the scale of the longest, with the number of the micro-batch
// where there is room for it, and the share of the step in which the rank
// waits. Ends with a legend and a newline.
std::string PipelineText(const prism::v1::RecordTimelineResponse& response,
                         const Terminal& terminal);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_PIPELINE_TEXT_H_
