// What commands share that ask something about a job on a cluster: options,
// documents, and the way of a question to its answer, here or at a server.
#ifndef PRISM_CLIENT_PRISMCTL_JOB_QUESTION_H_
#define PRISM_CLIENT_PRISMCTL_JOB_QUESTION_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/prismctl/answer_output.h"
#include "client/prismctl/command.h"
#include "client/prismctl/document_file.h"
#include "client/prismctl/input_problems.h"
#include "client/prismctl/local_answer.h"
#include "client/prismctl/progress.h"
#include "client/prismctl/question_documents.h"
#include "client/prismctl/server_call.h"
#include "core/base/violations.h"

namespace prism::prismctl {

// Values of the options.
struct JobOptions {
  std::string job;
  std::string cluster;
  // A document with the rest of the request.
  std::string request;
  std::optional<int64_t> threads;
};

// --job, --cluster, --request (with this help) and --threads.
std::vector<Option> JobOptionsInto(JobOptions& options,
                                   const std::string& request_help);

// What is wrong with the options together, and with `more`, values of others
// that may name a file; empty: nothing. Says nothing of what is missing.
std::string JobUsageProblem(const JobOptions& options,
                            const std::vector<std::string>& more);

// How the core reads, names and answers one kind of question, and which method
// of a server does.
template <typename Message, typename Question, typename Response>
struct JobQuestionKind {
  const char* method;    // "/prism.v1.PlacementService/RankNodes"
  const char* progress;  // what a waiting person sees
  std::optional<Question> (*read)(const Message&, const std::string& path,
                                  base::Violations&);
  std::string (*canonical_form)(const Question&);
  absl::StatusOr<Response> (*answer)(const Question&, const base::Budget&,
                                     base::Executor&);
};

// A request in the making, with the files it comes from.
template <typename Message>
struct JobRequest {
  Message message;
  // What holds each field: a file or an option.
  QuestionFiles files;
  bool stored_cluster = false;  // only the server can tell what it is
};

// What a question about a job on a cluster lacks; empty: nothing.
std::string MissingJobProblem(const JobOptions& options);

// The files that `options` name: those of fields by their names, that of the
// rest as "".
QuestionFiles FilesOf(const JobOptions& options, bool stored_cluster);

int ThreadsOf(const JobOptions& options);

// Reads the documents that `options` name, and `documents`, files by field.
// `others` says what holds fields that the caller sets. What stands for a field
// of its own goes above the rest of the request.
template <typename Message>
JobRequest<Message> ReadJobRequest(const JobOptions& options,
                                   const QuestionFiles& documents,
                                   const QuestionFiles& others,
                                   Session& session, InputProblems& problems) {
  JobRequest<Message> request;
  request.stored_cluster = NamesStoredCluster(options.cluster, session);
  QuestionFiles fields = FilesOf(options, request.stored_cluster);
  fields.insert(documents.begin(), documents.end());
  request.files = fields;
  request.files.insert(others.begin(), others.end());
  problems = InputProblems(request.files);
  const auto whole = fields.find("");
  if (whole != fields.end()) {
    ReadDocumentFile("", whole->second, session.in, &request.message, problems);
    fields.erase(whole);
  }
  ReadDocuments(fields, session.in, &request.message, problems);
  if (request.stored_cluster) {
    request.message.clear_cluster();
    request.message.set_cluster_name(options.cluster);
  } else if (!options.cluster.empty()) {
    request.message.clear_cluster_name();
  }
  request.stored_cluster = !session.options.server.empty() &&
                           !request.message.cluster_name().empty();
  return request;
}

// The answer to `request`, complete as a server's. Problems with the question
// are added to `problems`; there is no answer then.
template <typename Message, typename Question, typename Response>
std::optional<absl::StatusOr<Response>> AnswerOf(
    const JobQuestionKind<Message, Question, Response>& kind,
    const JobRequest<Message>& request, const JobOptions& options,
    Session& session, InputProblems& problems) {
  std::optional<Question> question;
  if (!request.stored_cluster) {
    base::Violations violations;
    question = kind.read(request.message, "", violations);
    problems.AddOfQuestion(violations);
  }
  if (!problems.empty()) return std::nullopt;
  const Progress progress(session.err, session.err_is_terminal, kind.progress);
  if (!session.options.server.empty()) {
    return AskServer<Response>(kind.method, request.message, session);
  }
  auto response =
      ComputeHere({ThreadsOf(options), session.options.timeout},
                  [&](const base::Budget& budget, base::Executor& executor) {
                    return kind.answer(*question, budget, executor);
                  });
  if (response.ok()) {
    response->mutable_provenance()->MergeFrom(LocalProvenance(
        kind.canonical_form(*question), response->provenance().quality()));
  }
  return response;
}

// How a command ends that answered `response`, which says whether the job can
// run.
template <typename Response>
ExitCode EndWith(const Response& response, Session& session) {
  if (response.feasible()) return kAnswered;
  session.err << "prismctl: the job cannot run: "
              << response.infeasible_reason() << "\n";
  return kInfeasible;
}

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_JOB_QUESTION_H_
