// What `prismctl replay` answers with, as JSON and as text.
#ifndef PRISM_CLIENT_PRISMCTL_REPLAY_ANSWER_H_
#define PRISM_CLIENT_PRISMCTL_REPLAY_ANSWER_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/render/terminal.h"
#include "core/trace/damage.h"
#include "core/trace/replay/replay.h"
#include "prism/v1/prediction.pb.h"

namespace prism::prismctl {

struct ReplayAnswer {
  std::string path;
  const trace::ReplayReport& report;
  const trace::DamageLog& damage;
  std::vector<trace::Change> changes;
  // Steps that were not recorded, as they would be measured and without the
  // delays; nothing where none were predicted.
  std::optional<prism::v1::StepTime> predicted;
  std::optional<prism::v1::StepTime> predicted_simulated = std::nullopt;
};

// The distribution of recorded steps. Requires: not empty.
prism::v1::StepTime StepTimeOf(std::vector<double> seconds);

std::string ReplayJson(const ReplayAnswer& answer);

std::string ReplayText(const ReplayAnswer& answer,
                       const render::Terminal& terminal);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_REPLAY_ANSWER_H_
