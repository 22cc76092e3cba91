#include "client/prismctl/cluster_command.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/prismctl/answer_output.h"
#include "client/prismctl/cluster_text.h"
#include "client/prismctl/document_file.h"
#include "client/prismctl/message_json.h"
#include "client/prismctl/server_call.h"
#include "core/query/check_cluster.h"
#include "core/query/document.h"
#include "core/query/document_names.h"
#include "prism/v1/cluster_service.pb.h"

namespace prism::prismctl {
namespace {

namespace v1 = prism::v1;

constexpr char kPut[] = "/prism.v1.ClusterService/PutCluster";
constexpr char kGet[] = "/prism.v1.ClusterService/GetCluster";
constexpr char kList[] = "/prism.v1.ClusterService/ListClusters";
constexpr char kDelete[] = "/prism.v1.ClusterService/DeleteCluster";
constexpr char kListNodes[] = "/prism.v1.ClusterService/ListNodes";
constexpr char kUpdateNodes[] = "/prism.v1.ClusterService/UpdateNodes";

// Values of the options of all subcommands.
struct ClusterOptions {
  std::string name;
  std::string file;
  std::string etag;
  std::vector<std::string> health;
};
using OptionsPtr = std::shared_ptr<ClusterOptions>;

// Writes `text`, or in JSON the whole answer.
ExitCode Write(const google::protobuf::Message& answer, const std::string& text,
               Session& session) {
  if (session.options.format == OutputFormat::kJson) {
    session.out << MessageJson(answer) << "\n";
  } else {
    session.out << text;
  }
  return kAnswered;
}

ExitCode Put(const ClusterOptions& options, Session& session) {
  const QuestionFiles files = {{"cluster", options.file}};
  InputProblems problems(files);
  v1::PutClusterRequest request;
  ReadDocumentFile("cluster", options.file, session.in,
                   request.mutable_cluster(), problems);
  if (!options.name.empty()) request.mutable_cluster()->set_name(options.name);
  problems.AddOfQuestion(query::CheckCluster(request.cluster()));
  if (!problems.empty()) return WriteProblems(problems, session);
  request.set_etag(options.etag);
  const auto stored = AskServer<v1::StoredCluster>(kPut, request, session);
  if (!stored.ok()) return WriteFailure(stored.status(), files, session);
  return Write(*stored,
               "stored " + stored->cluster().name() + ", revision " +
                   std::to_string(stored->revision()) + "\n",
               session);
}

ExitCode Get(const ClusterOptions& options, Session& session) {
  v1::GetClusterRequest request;
  request.set_name(options.name);
  const auto stored = AskServer<v1::StoredCluster>(kGet, request, session);
  if (!stored.ok()) return WriteFailure(stored.status(), {}, session);
  // The document that Put takes.
  return Write(*stored, query::WriteYaml(stored->cluster()), session);
}

// Asks for all pages of a list and gathers them in the first answer.
template <typename Response, typename Request, typename Gather>
absl::StatusOr<Response> AllPages(const char* method, Request request,
                                  const Session& session, Gather gather) {
  auto all = AskServer<Response>(method, request, session);
  while (all.ok() && !all->next_page_token().empty()) {
    request.set_page_token(all->next_page_token());
    auto page = AskServer<Response>(method, request, session);
    if (!page.ok()) return page.status();
    all->set_next_page_token(page->next_page_token());
    gather(*page, *all);
  }
  return all;
}

ExitCode List(const ClusterOptions&, Session& session) {
  const auto clusters = AllPages<v1::ListClustersResponse>(
      kList, v1::ListClustersRequest(), session,
      [](const v1::ListClustersResponse& page, v1::ListClustersResponse& all) {
        all.mutable_clusters()->MergeFrom(page.clusters());
      });
  if (!clusters.ok()) return WriteFailure(clusters.status(), {}, session);
  return Write(*clusters, ClustersText(*clusters), session);
}

ExitCode Nodes(const ClusterOptions& options, Session& session) {
  v1::ListNodesRequest request;
  request.set_name(options.name);
  for (const std::string& word : options.health) {
    request.add_health(static_cast<v1::Health>(
        query::FindEnumWord(*v1::Health_descriptor(), word)->number()));
  }
  const auto nodes = AllPages<v1::ListNodesResponse>(
      kListNodes, request, session,
      [](const v1::ListNodesResponse& page, v1::ListNodesResponse& all) {
        all.mutable_nodes()->MergeFrom(page.nodes());
        all.mutable_node_names()->MergeFrom(page.node_names());
      });
  if (!nodes.ok()) return WriteFailure(nodes.status(), {}, session);
  return Write(*nodes, NodesText(*nodes), session);
}

ExitCode Delete(const ClusterOptions& options, Session& session) {
  v1::DeleteClusterRequest request;
  request.set_name(options.name);
  request.set_etag(options.etag);
  const auto deleted =
      AskServer<v1::DeleteClusterResponse>(kDelete, request, session);
  if (!deleted.ok()) return WriteFailure(deleted.status(), {}, session);
  return Write(*deleted, "deleted " + options.name + "\n", session);
}

ExitCode Update(const ClusterOptions& options, Session& session) {
  const QuestionFiles files = {{"", options.file}};
  InputProblems problems(files);
  v1::UpdateNodesRequest request;
  ReadDocumentFile("", options.file, session.in, &request, problems);
  if (!problems.empty()) return WriteProblems(problems, session);
  request.set_name(options.name);
  if (!options.etag.empty()) request.set_etag(options.etag);
  const auto updated =
      AskServer<v1::UpdateNodesResponse>(kUpdateNodes, request, session);
  if (!updated.ok()) return WriteFailure(updated.status(), files, session);
  return Write(*updated,
               "updated " + options.name + ", revision " +
                   std::to_string(updated->revision()) + "\n",
               session);
}

using Run = ExitCode (*)(const ClusterOptions&, Session&);

Command Subcommand(std::string name, std::string summary,
                   const OptionsPtr& options, std::vector<Option> takes,
                   Run run) {
  Command command;
  command.name = std::move(name);
  command.summary = std::move(summary);
  command.options = std::move(takes);
  command.run = [options, run](Session& session) {
    if (!session.options.server.empty()) return run(*options, session);
    session.err << "prismctl: clusters are stored by a server; give --server "
                   "ADDR, or set PRISM_SERVER\n";
    return kUsageError;
  };
  return command;
}

std::vector<std::string> HealthWords() {
  return query::EnumWords(*v1::Health_descriptor());
}

}  // namespace

Command ClusterCommand() {
  auto options = std::make_shared<ClusterOptions>();
  const Option name = {.name = "NAME",
                       .help = "the cluster",
                       .target = &options->name,
                       .required = true};
  const Option file = {.name = "FILE",
                       .help = "a YAML or JSON document; -: standard input",
                       .target = &options->file,
                       .required = true};
  const Option new_name = {.name = "--name",
                           .placeholder = "NAME",
                           .help = "instead of the document's name",
                           .target = &options->name};
  const Option etag = {.name = "--etag",
                       .placeholder = "ETAG",
                       .help = "only if the cluster stored has this etag",
                       .target = &options->etag};
  const Option health = {.name = "--health",
                         .placeholder = "HEALTH",
                         .help = "only nodes in this state; may be repeated",
                         .target = &options->health,
                         .choices = HealthWords()};
  Command command;
  command.name = "cluster";
  command.summary = "Store clusters in a server, and list and change them";
  command.description =
      "Needs a server. Questions can then name a cluster instead of bringing "
      "it.";
  command.subcommands = {
      Subcommand("put", "Store a cluster, new or in place of an old one",
                 options, {file, new_name, etag}, Put),
      Subcommand("get", "Write a stored cluster as a document", options, {name},
                 Get),
      Subcommand("list", "List the clusters stored", options, {}, List),
      Subcommand("nodes", "List the nodes of a cluster", options,
                 {name, health}, Nodes),
      Subcommand("update", "Change the states of some nodes", options,
                 {name, file, etag}, Update),
      Subcommand("delete", "Delete a cluster", options, {name, etag}, Delete)};
  return command;
}

}  // namespace prism::prismctl
