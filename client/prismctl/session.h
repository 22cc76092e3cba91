// Session: everything a prismctl command touches outside itself.
//
// Commands read, write and ask only through a Session, so a test runs one with
// strings for files and a made-up terminal. Not thread-safe.
#ifndef PRISM_CLIENT_PRISMCTL_SESSION_H_
#define PRISM_CLIENT_PRISMCTL_SESSION_H_

#include <absl/time/time.h>

#include <istream>
#include <ostream>
#include <string>

#include "client/render/terminal.h"

namespace prism::prismctl {

// Exit codes, a contract with scripts (docs/command-line.md).
enum ExitCode {
  kAnswered = 0,
  kWrongInput = 1,    // a document is wrong or cannot be read
  kUsageError = 2,    // the command line is wrong
  kServerFailed = 3,  // the server cannot be reached or refused
  kInfeasible = 4,    // answered: it cannot run
  kInternalError = 5  // in process: our fault, or no time left for an answer
};

enum class OutputFormat { kText, kJson };

// Options that stand before or after any command.
struct GlobalOptions {
  // "host:port" or a gRPC target; empty: answer in process.
  std::string server;
  OutputFormat format = OutputFormat::kText;
  // Time for the whole answer, retries included. Above 0.
  absl::Duration timeout = absl::Seconds(300);
};

struct Session {
  std::istream& in;
  std::ostream& out;  // answers only, and only when there is one
  std::ostream& err;  // everything else
  GlobalOptions options;
  render::Terminal out_terminal;
  bool err_is_terminal = false;  // progress is shown only if it is
};

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_SESSION_H_
