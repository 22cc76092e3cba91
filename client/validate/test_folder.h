// A data folder made of texts, for tests.
#ifndef PRISM_CLIENT_VALIDATE_TEST_FOLDER_H_
#define PRISM_CLIENT_VALIDATE_TEST_FOLDER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/validate/data_folder.h"

namespace prism::validate {

class TestFolder final : public DataFolder {
 public:
  explicit TestFolder(std::map<std::string, std::string> files)
      : files_(std::move(files)) {}

  absl::StatusOr<std::string> Read(const std::string& path) const override {
    const auto file = files_.find(path);
    if (file == files_.end()) return absl::NotFoundError("does not exist");
    return file->second;
  }

  std::vector<std::string> List(const std::string& folder) const override {
    std::vector<std::string> paths;
    for (const auto& [path, text] : files_) {
      if (path.substr(0, path.rfind('/')) == folder) paths.push_back(path);
    }
    return paths;
  }

  std::string NameOf(const std::string& path) const override {
    return path.substr(path.rfind('/') + 1);
  }

 private:
  std::map<std::string, std::string> files_;
};

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_TEST_FOLDER_H_
