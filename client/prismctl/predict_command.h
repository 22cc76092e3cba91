// prismctl predict: how long does a step take?
#ifndef PRISM_CLIENT_PRISMCTL_PREDICT_COMMAND_H_
#define PRISM_CLIENT_PRISMCTL_PREDICT_COMMAND_H_

#include "client/prismctl/command.h"

namespace prism::prismctl {

Command PredictCommand();

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_PREDICT_COMMAND_H_
