// DataFolder: files with measurements, by sets.
//
// Two kinds: the copies that this program carries, and a folder on disk of the
// same layout. Thread-safe.
#ifndef PRISM_CLIENT_VALIDATE_DATA_FOLDER_H_
#define PRISM_CLIENT_VALIDATE_DATA_FOLDER_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

namespace prism::validate {

class DataFolder {
 public:
  virtual ~DataFolder() = default;

  // The text of "set/file.csv".
  //
  // Errors: NOT_FOUND where there is none; INVALID_ARGUMENT where it cannot be
  // read, with a message that reads on after the file's name.
  virtual absl::StatusOr<std::string> Read(const std::string& path) const = 0;

  // Paths of the files right under `folder`, sorted; empty where there is none.
  virtual std::vector<std::string> List(const std::string& folder) const = 0;

  // What to call `path` in messages.
  virtual std::string NameOf(const std::string& path) const = 0;
};

// What the repository holds in tests/data/measured, as of this program's build.
std::unique_ptr<DataFolder> RepositoryFolder();

// Errors: INVALID_ARGUMENT where `path` is no folder, with a message that reads
// on after it.
absl::StatusOr<std::unique_ptr<DataFolder>> OpenFolder(const std::string& path);

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_DATA_FOLDER_H_
