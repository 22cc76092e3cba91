// Reading the files that commands name.
#ifndef PRISM_CLIENT_PRISMCTL_INPUT_FILE_H_
#define PRISM_CLIENT_PRISMCTL_INPUT_FILE_H_

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

namespace prism::prismctl {

// No document of a person is larger.
inline constexpr int64_t kMostInputBytes = int64_t{64} << 20;

// The name of `path` in messages: "-" is "standard input".
std::string InputName(const std::string& path);

// The text of `path`, or of `in` where it is "-". Never reads more than
// kMostInputBytes.
//
// Errors, all INVALID_ARGUMENT with a message that reads on after the file's
// name ("does not exist", "is a directory; must be a file"): missing,
// unreadable, a directory, too large, empty or nothing but white space.
absl::StatusOr<std::string> ReadInput(const std::string& path,
                                      std::istream& in);

// Gives the bytes of `path`, or of `in` where it is "-", to `take` block by
// block, however many they are; traces can be larger than memory.
//
// Errors: as of ReadInput, but nothing is too large and nothing too empty.
absl::Status StreamInput(const std::string& path, std::istream& in,
                         absl::FunctionRef<void(std::string_view)> take);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_INPUT_FILE_H_
