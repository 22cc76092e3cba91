// Timelines as SVG pictures.
#ifndef PRISM_CLIENT_RENDER_PIPELINE_SVG_H_
#define PRISM_CLIENT_RENDER_PIPELINE_SVG_H_

#include <string>

#include "prism/v1/timeline.pb.h"

namespace prism::render {

// A picture that needs nothing beside it, in dark colours where its reader
// prefers them: a panel for each step, a row for each rank, all on the scale of
// the longest step. Operations are coloured by phase, paler for the later
// chunks of a stage, and carry the number of their micro-batch where there is
// room; what is left of a row is waiting. Pointing at an operation tells its
// times, unless there are more than 20,000 of them. Equal timelines give equal
// text.
std::string PipelineSvg(const prism::v1::RecordTimelineResponse& response);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_PIPELINE_SVG_H_
