# Writes SOURCE for prism_embed(). FILES are separated by "|".
string(REPLACE "|" ";" FILES "${FILES}")
list(LENGTH FILES count)
set(text "#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace ${NAMESPACE} {

using File = std::pair<std::string_view, std::string_view>;

static constexpr std::array<File, ${count}> kFiles = {{
")
foreach(path IN LISTS FILES)
  file(READ ${FOLDER}/${path} content)
  string(APPEND text "File{\"${path}\", R\"embedded(${content})embedded\"},\n")
endforeach()
string(APPEND text "}};

std::span<const File> Files() { return kFiles; }

}  // namespace ${NAMESPACE}
")
file(WRITE ${SOURCE} "${text}")
