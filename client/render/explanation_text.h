// Why a step takes as long as it does, as text that a person reads.
#ifndef PRISM_CLIENT_RENDER_EXPLANATION_TEXT_H_
#define PRISM_CLIENT_RENDER_EXPLANATION_TEXT_H_

#include <string>

#include "client/render/terminal.h"
#include "prism/v1/explanation.pb.h"

namespace prism::render {

// The step, the sentences, the sources in numbers (the first few of each sort),
// their tornado, and what changes would do. Ends with a newline.
std::string ExplanationText(const prism::v1::Explanation& explanation,
                            const Terminal& terminal);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_EXPLANATION_TEXT_H_
