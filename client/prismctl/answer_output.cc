#include "client/prismctl/answer_output.h"

#include <absl/strings/str_cat.h>

#include <string>

#include "client/render/prediction_text.h"
#include "client/status_details.h"
#include "core/query/answer.h"

namespace prism::prismctl {
namespace {

using prism::v1::Prediction;

ExitCode WriteInfeasible(const Prediction& prediction, Session& session) {
  session.err << "prismctl: the job cannot run: "
              << prediction.infeasible_reason() << "\n";
  render::Terminal plain = session.out_terminal;
  plain.colour = false;
  session.err << render::MemoryText(prediction.memory(), plain);
  return kInfeasible;
}

ExitCode WriteWrongQuestion(const absl::Status& status,
                            const QuestionFiles& files, Session& session) {
  InputProblems problems(files);
  problems.AddOfQuestion(client::ViolationsOf(status));
  if (!problems.empty()) return WriteProblems(problems, session);
  session.err << "prismctl: the input is wrong: " << status.message() << "\n";
  return kWrongInput;
}

std::string Reason(const absl::Status& status) {
  return absl::StrCat(absl::StatusCodeToString(status.code()), ": ",
                      std::string(status.message()));
}

}  // namespace

ExitCode WritePrediction(const Prediction& prediction, Session& session) {
  if (session.options.format == OutputFormat::kJson) {
    session.out << query::PredictionJson(prediction) << "\n";
  } else if (prediction.feasible()) {
    session.out << render::PredictionText(prediction, session.out_terminal);
  }
  return prediction.feasible() ? kAnswered
                               : WriteInfeasible(prediction, session);
}

ExitCode WriteProblems(const InputProblems& problems, Session& session) {
  session.err << problems.Text();
  return kWrongInput;
}

ExitCode WriteFailure(const absl::Status& status, const QuestionFiles& files,
                      Session& session) {
  if (status.code() == absl::StatusCode::kInvalidArgument) {
    return WriteWrongQuestion(status, files, session);
  }
  const std::string& server = session.options.server;
  if (server.empty()) {
    session.err << "prismctl: no answer: " << Reason(status) << "\n";
    return kInternalError;
  }
  session.err << "prismctl: no answer from the server at " << server << ": "
              << Reason(status) << "\n";
  return kServerFailed;
}

}  // namespace prism::prismctl
