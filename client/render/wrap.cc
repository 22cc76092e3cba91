#include "client/render/wrap.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <vector>

#include "client/render/bars.h"

namespace prism::render {

std::string Wrap(std::string_view first, std::string_view text, int width) {
  const std::string source(text);
  const std::vector<std::string> words =
      absl::StrSplit(source, ' ', absl::SkipEmpty());
  const int indent = DisplayWidth(first);
  std::string wrapped(first);
  int column = indent;
  for (const std::string& word : words) {
    if (column > indent && column + 1 + DisplayWidth(word) > width) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += DisplayWidth(word);
  }
  std::replace(wrapped.begin(), wrapped.end(), '\t', ' ');
  return wrapped + "\n";
}

}  // namespace prism::render
