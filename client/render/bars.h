// Bars and histograms made of characters.
//
// Every function takes `utf8`: Unicode block elements, an eighth of a
// character fine, where it is true; whole ASCII characters where it is not.
#ifndef PRISM_CLIENT_RENDER_BARS_H_
#define PRISM_CLIENT_RENDER_BARS_H_

#include <string>
#include <string_view>
#include <vector>

namespace prism::render {

// A bar of `share` (clamped to 0..1) of `width` characters, without padding.
std::string Bar(double share, int width, bool utf8);

// One bar of `width` characters in which part i takes shares[i] of it, each
// part in a character of its own (PartMark), the rest in the mark of free
// space. Shares are at least 0; what does not fit is cut off. A part of more
// than nothing has at least one character while there is room.
std::string StackedBar(const std::vector<double>& shares, int width, bool utf8);

// The character of part `index` of a StackedBar; they repeat.
std::string_view PartMark(int index, bool utf8);

// Columns of `heights` (each 0 to 1) as `rows` lines, top first. A height
// above 0 shows at least the smallest mark.
std::vector<std::string> Columns(const std::vector<double>& heights, int rows,
                                 bool utf8);

// Characters that `text` takes on a line: its UTF-8 code points.
int DisplayWidth(std::string_view text);

// `text` with spaces on the right (left) up to `width` characters.
std::string PadRight(std::string_view text, int width);
std::string PadLeft(std::string_view text, int width);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_BARS_H_
