// Files that commands write.
#ifndef PRISM_CLIENT_PRISMCTL_OUTPUT_FILE_H_
#define PRISM_CLIENT_PRISMCTL_OUTPUT_FILE_H_

#include <absl/status/status.h>

#include <string>
#include <string_view>

namespace prism::prismctl {

// Whether a file of this name could be written, as far as one can tell before:
// its folder is there, and no folder has its name. The message reads on after
// the name.
absl::Status CheckOutputFile(const std::string& path);

// Writes the whole file or nothing: the text goes to a file beside it that
// takes its name when it is complete. What was there before stays until then.
//
// Errors: those of CheckOutputFile, or why it could not be written.
absl::Status WriteOutputFile(const std::string& path, std::string_view text);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_OUTPUT_FILE_H_
