// Tornado pictures: what each source of a step's time makes of it, the largest
// first.
#ifndef PRISM_CLIENT_RENDER_TORNADO_H_
#define PRISM_CLIENT_RENDER_TORNADO_H_

#include <string>

#include "client/render/terminal.h"
#include "prism/v1/explanation.pb.h"

namespace prism::render {

// Lines of characters: by how much the p95 and the median step would be shorter
// without each source, and a bar for the p95. Sources that would change both by
// less than a thousandth are left out, and all beyond the first `most`; empty
// where none is left.
std::string TornadoText(const prism::v1::Explanation& explanation,
                        const Terminal& terminal, int most = 12);

// A picture that needs nothing beside it, in dark colours where its reader
// prefers them: around the step as it is, a bar for the p95 and one for the
// median without each source, with their standard errors; up to 24 sources.
// Equal explanations give equal text.
std::string TornadoSvg(const prism::v1::Explanation& explanation);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_TORNADO_H_
