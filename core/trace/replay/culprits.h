// Culprits: who makes the steps of a trace long, in a person's words.
#ifndef PRISM_CORE_TRACE_REPLAY_CULPRITS_H_
#define PRISM_CORE_TRACE_REPLAY_CULPRITS_H_

#include <string>
#include <vector>

#include "core/trace/replay/replay.h"

namespace prism::trace {

// One sentence for each cause without which a fifth or more of the excess
// goes, the worst first. The narrowest is named: a stage or data rank only if
// fixing it removes a tenth of the excess more than its worst worker does.
// Micro-batches of uneven length are among them and stand for who is not slow
// on average. The worst kind of operation comes last. Requires: all accounts
// of `report`.
std::vector<std::string> NameCulprits(const ReplayReport& report);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_CULPRITS_H_
