#include "client/prismctl/output_file.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace prism::prismctl {
namespace {

namespace fs = std::filesystem;

absl::Status NotWritten(const std::string& reason) {
  return absl::UnavailableError(absl::StrCat("cannot be written: ", reason));
}

// Removes a file unless it is kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    if (!kept_) fs::remove(path_, ignored);
  }

  const std::string& path() const { return path_; }
  void Keep() { kept_ = true; }

 private:
  const std::string path_;
  bool kept_ = false;
};

}  // namespace

absl::Status CheckOutputFile(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return absl::InvalidArgumentError("is a folder; must be a file");
  }
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot be written: ", folder.string(),
                     " is no folder; must be in one that is there"));
  }
  return absl::OkStatus();
}

absl::Status WriteOutputFile(const std::string& path, std::string_view text) {
  if (auto status = CheckOutputFile(path); !status.ok()) return status;
  TemporaryFile temporary(absl::StrCat(path, ".", getpid(), ".partial"));
  errno = 0;
  std::ofstream file(temporary.path(), std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return NotWritten(std::strerror(errno != 0 ? errno : EIO));
  std::error_code failed;
  fs::rename(temporary.path(), path, failed);
  if (failed) return NotWritten(failed.message());
  temporary.Keep();
  return absl::OkStatus();
}

}  // namespace prism::prismctl
