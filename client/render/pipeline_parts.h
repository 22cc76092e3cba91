// What all pictures of a pipeline have in common.
#ifndef PRISM_CLIENT_RENDER_PIPELINE_PARTS_H_
#define PRISM_CLIENT_RENDER_PIPELINE_PARTS_H_

#include <string>
#include <vector>

#include "prism/v1/timeline.pb.h"

namespace prism::render {

// Chunk of each virtual stage: how many earlier ones its stage runs.
std::vector<int> ChunksOf(const prism::v1::RecordTimelineResponse& response);

// "forward", "backward", "input" and "weights" (its parts) or "closing".
const char* PhaseName(prism::v1::OperationPhase phase);

// "typical: 3.421 s, sample 17 of 1,000"
std::string StepTitle(const prism::v1::TimelineStep& step,
                      const prism::v1::RecordTimelineResponse& response);

// "stage 3" where every stage has one rank, else "rank 13, stage 3".
std::string RankName(const prism::v1::TimelineRank& rank,
                     const prism::v1::TimelineStep& step);

// Share of the step in which the rank runs no operation, 0 to 1.
double IdleShare(const prism::v1::TimelineRank& rank,
                 const prism::v1::TimelineStep& step);

// What the limit left out, as a sentence without its point; empty: nothing.
std::string LeftOut(const prism::v1::TimelineStep& step);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_PIPELINE_PARTS_H_
