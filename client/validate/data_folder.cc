#include "client/validate/data_folder.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "client/prismctl/input_file.h"

namespace prism::validate {

namespace repository {
std::span<const std::pair<std::string_view, std::string_view>> Files();
}  // namespace repository

namespace {

class EmbeddedFolder final : public DataFolder {
 public:
  EmbeddedFolder()
      : files_(repository::Files().begin(), repository::Files().end()) {}

  absl::StatusOr<std::string> Read(const std::string& path) const override {
    const auto file = files_.find(path);
    if (file == files_.end()) return absl::NotFoundError("does not exist");
    return std::string(file->second);
  }

  std::vector<std::string> List(const std::string& folder) const override {
    const std::string prefix = folder + "/";
    std::vector<std::string> paths;
    for (const auto& [path, text] : files_) {
      if (path.substr(0, prefix.size()) != prefix) continue;
      if (path.find('/', prefix.size()) != path.npos) continue;
      paths.emplace_back(path);
    }
    return paths;
  }

  std::string NameOf(const std::string& path) const override { return path; }

 private:
  std::map<std::string_view, std::string_view> files_;
};

class DiskFolder final : public DataFolder {
 public:
  explicit DiskFolder(std::filesystem::path path) : path_(std::move(path)) {}

  absl::StatusOr<std::string> Read(const std::string& path) const override {
    std::error_code error;
    if (!std::filesystem::exists(path_ / path, error)) {
      return absl::NotFoundError("does not exist");
    }
    std::istringstream nothing;
    return prismctl::ReadInput(path_ / path, nothing);
  }

  std::vector<std::string> List(const std::string& folder) const override {
    std::vector<std::string> paths;
    std::error_code error;
    std::filesystem::directory_iterator entry(path_ / folder, error);
    for (; !error && entry != end(entry); entry.increment(error)) {
      if (entry->is_directory(error)) continue;
      paths.push_back(folder + "/" + entry->path().filename().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  std::string NameOf(const std::string& path) const override {
    return path_ / path;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::unique_ptr<DataFolder> RepositoryFolder() {
  return std::make_unique<EmbeddedFolder>();
}

absl::StatusOr<std::unique_ptr<DataFolder>> OpenFolder(
    const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return absl::InvalidArgumentError("does not exist");
  }
  if (!std::filesystem::is_directory(status)) {
    return absl::InvalidArgumentError("is a file; must be a folder");
  }
  return std::make_unique<DiskFolder>(path);
}

}  // namespace prism::validate
