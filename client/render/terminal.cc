#include "client/render/terminal.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace prism::render {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string FirstSet(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = Environment(name); !value.empty()) return value;
  }
  return "";
}

bool NamesUtf8(const std::string& locale) {
  const std::string lower = absl::AsciiStrToLower(locale);
  return absl::StrContains(lower, "utf-8") || absl::StrContains(lower, "utf8");
}

}  // namespace

Terminal Capabilities(const TerminalSurroundings& surroundings) {
  Terminal terminal;
  if (surroundings.is_terminal && surroundings.window_columns > 0) {
    terminal.columns =
        std::clamp(surroundings.window_columns, kLeastColumns, kMostColumns);
  }
  terminal.utf8 = NamesUtf8(surroundings.locale);
  terminal.colour = surroundings.is_terminal && !surroundings.no_colour &&
                    !surroundings.term.empty() && surroundings.term != "dumb";
  return terminal;
}

TerminalSurroundings SurroundingsOf(int fd) {
  TerminalSurroundings surroundings;
  surroundings.is_terminal = isatty(fd) == 1;
  winsize window = {};
  if (ioctl(fd, TIOCGWINSZ, &window) == 0) {
    surroundings.window_columns = window.ws_col;
  }
  surroundings.locale = FirstSet({"LC_ALL", "LC_CTYPE", "LANG"});
  surroundings.no_colour = !Environment("NO_COLOR").empty();
  surroundings.term = Environment("TERM");
  return surroundings;
}

}  // namespace prism::render
