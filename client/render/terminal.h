// Terminal: what the place that text goes to can show.
#ifndef PRISM_CLIENT_RENDER_TERMINAL_H_
#define PRISM_CLIENT_RENDER_TERMINAL_H_

#include <string>

namespace prism::render {

struct Terminal {
  // Characters in a line, at least kLeastColumns.
  int columns = 80;
  // Block characters may be used; otherwise plain ASCII.
  bool utf8 = false;
  // ANSI colours may be used.
  bool colour = false;
};

inline constexpr int kLeastColumns = 40;
inline constexpr int kMostColumns = 120;

// What the environment says about a terminal.
struct TerminalSurroundings {
  bool is_terminal = false;
  int window_columns = 0;  // 0: not known
  std::string locale;      // LC_ALL, LC_CTYPE or LANG: the first that is set
  bool no_colour = false;  // NO_COLOR is set and not empty
  std::string term;        // TERM
};

// What may be used there: colour only on a terminal that is not "dumb" and
// without NO_COLOR, block characters where the locale is UTF-8, the window's
// width on a terminal and 80 columns elsewhere, within the limits above.
Terminal Capabilities(const TerminalSurroundings& surroundings);

// The surroundings of file descriptor `fd` in this process.
TerminalSurroundings SurroundingsOf(int fd);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_TERMINAL_H_
