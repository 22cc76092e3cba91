#include "client/prismctl/input_file.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

namespace prism::prismctl {
namespace {

absl::Status SystemError(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::InvalidArgumentError("does not exist; must be a file");
    case EACCES:
      return absl::InvalidArgumentError(
          "cannot be read (permission denied); must be a readable file");
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "cannot be read (", std::strerror(error), "); must be a file"));
  }
}

absl::StatusOr<std::string> ReadStream(std::istream& in) {
  std::string text;
  std::vector<char> block(1 << 16);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())),
         in.gcount() > 0) {
    text.append(block.data(), static_cast<size_t>(in.gcount()));
    if (static_cast<int64_t>(text.size()) > kMostInputBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("is larger than ", kMostInputBytes >> 20,
                       " MiB; must be a document of at most that"));
    }
  }
  if (in.bad()) return SystemError(EIO);
  if (absl::StripAsciiWhitespace(text).empty()) {
    return absl::InvalidArgumentError("is empty; must hold a document");
  }
  return text;
}

absl::StatusOr<std::ifstream> Open(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return SystemError(errno);
  if (S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError("is a directory; must be a file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return SystemError(errno);
  return file;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  auto file = Open(path);
  if (!file.ok()) return file.status();
  return ReadStream(*file);
}

absl::Status TakeBlocks(std::istream& in,
                        absl::FunctionRef<void(std::string_view)> take) {
  std::vector<char> block(1 << 16);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())),
         in.gcount() > 0)
    take({block.data(), static_cast<size_t>(in.gcount())});
  return in.bad() ? SystemError(EIO) : absl::OkStatus();
}

}  // namespace

std::string InputName(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

absl::StatusOr<std::string> ReadInput(const std::string& path,
                                      std::istream& in) {
  return path == "-" ? ReadStream(in) : ReadFile(path);
}

absl::Status StreamInput(const std::string& path, std::istream& in,
                         absl::FunctionRef<void(std::string_view)> take) {
  if (path == "-") return TakeBlocks(in, take);
  auto file = Open(path);
  return file.ok() ? TakeBlocks(*file, take) : file.status();
}

}  // namespace prism::prismctl
