// Breaking prose into lines.
#ifndef PRISM_CLIENT_RENDER_WRAP_H_
#define PRISM_CLIENT_RENDER_WRAP_H_

#include <string>
#include <string_view>

namespace prism::render {

// `text` in lines of at most `width` characters, the first after `first`
// (which counts), the others after as many spaces. Words are never broken.
// A tab is a space at which no line breaks. Ends with a newline.
std::string Wrap(std::string_view first, std::string_view text, int width);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_WRAP_H_
