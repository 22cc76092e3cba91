// Colour and emphasis for text on a terminal.
#ifndef PRISM_CLIENT_RENDER_PAINT_H_
#define PRISM_CLIENT_RENDER_PAINT_H_

#include <string>
#include <string_view>

namespace prism::render {

// Wraps text in ANSI sequences, or leaves it alone where colour is off. Text
// must be padded before it is painted: the sequences take no room on screen.
class Paint {
 public:
  explicit Paint(bool colour) : colour_(colour) {}

  std::string Heading(std::string_view text) const { return In("1", text); }
  std::string Quiet(std::string_view text) const { return In("2", text); }
  std::string Bar(std::string_view text) const { return In("36", text); }
  std::string Alarm(std::string_view text) const { return In("1;31", text); }

  // By the numbers of an SGR sequence.
  std::string In(const char* code, std::string_view text) const {
    if (!colour_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }

 private:
  bool colour_;
};

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_PAINT_H_
