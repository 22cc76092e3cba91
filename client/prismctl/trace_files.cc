#include "client/prismctl/trace_files.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "client/prismctl/input_file.h"
#include "core/trace/csv/meta.h"

namespace prism::prismctl {
namespace {

namespace fs = std::filesystem;

class FileBytes final : public trace::ByteSource {
 public:
  explicit FileBytes(std::string path) : path_(std::move(path)) {}

  absl::Status ForEachBlock(
      const std::function<absl::Status(std::string_view)>& visit) override {
    errno = 0;
    std::ifstream file(path_, std::ios::binary);
    if (!file) return CannotRead();
    std::vector<char> block(size_t{1} << 20);
    while (file.read(block.data(), static_cast<std::streamsize>(block.size())),
           file.gcount() > 0) {
      const absl::Status status = visit(
          std::string_view(block.data(), static_cast<size_t>(file.gcount())));
      if (!status.ok()) return status;
    }
    return file.bad() ? CannotRead() : absl::OkStatus();
  }

 private:
  static absl::Status CannotRead() {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot be read (", std::strerror(errno), ")"));
  }

  std::string path_;
};

// Names of the files in `folder` that `wanted` takes, sorted.
std::vector<std::string> Names(
    const fs::path& folder,
    const std::function<bool(const std::string&)>& wanted) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (wanted(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsYaml(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

absl::StatusOr<fs::path> RowsOf(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return absl::InvalidArgumentError(
        "does not exist; must be a trace or a folder with one");
  }
  if (!fs::is_directory(status)) return fs::path(path);
  const std::vector<std::string> tables = Names(
      path, [](const std::string& name) { return name.ends_with(".csv"); });
  if (tables.size() == 1) return fs::path(path) / tables[0];
  return absl::InvalidArgumentError(
      tables.empty() ? "holds no CSV file; must be a trace or a folder with one"
                     : absl::StrCat("holds several traces; name one: ",
                                    absl::StrJoin(tables, ", ")));
}

// The file with the sizes of the job in `rows`.
std::optional<fs::path> MetaOf(const fs::path& rows) {
  const fs::path folder =
      rows.has_parent_path() ? rows.parent_path() : fs::path(".");
  std::string stem = rows.stem().string();
  constexpr std::string_view kTrace = "trace-";
  if (stem.starts_with(kTrace)) stem.erase(0, kTrace.size());
  for (const char* ending : {".yaml", ".yml"}) {
    const fs::path own = folder / absl::StrCat("meta-", stem, ending);
    std::error_code error;
    if (fs::exists(own, error)) return own;
  }
  const std::vector<std::string> others =
      Names(folder, [](const std::string& name) {
        return name.starts_with("meta") && IsYaml(name);
      });
  if (others.size() != 1) return std::nullopt;
  return folder / others[0];
}

std::optional<trace::Sizes> ReadSizes(const fs::path& rows,
                                      trace::DamageLog& damage) {
  const std::optional<fs::path> meta = MetaOf(rows);
  if (!meta) return std::nullopt;
  damage.SetFile(meta->filename().string());
  std::ifstream no_input;
  const absl::StatusOr<std::string> text = ReadInput(meta->string(), no_input);
  if (text.ok()) return trace::ParseMeta(*text, damage);
  damage.Add(0, "", std::string(text.status().message()));
  return std::nullopt;
}

}  // namespace

absl::StatusOr<OpenTraceFile> OpenTrace(const std::string& path,
                                        trace::DamageLog& damage) {
  const absl::StatusOr<fs::path> rows = RowsOf(path);
  if (!rows.ok()) return rows.status();
  const std::optional<trace::Sizes> sizes = ReadSizes(*rows, damage);
  damage.SetFile(rows->filename().string());
  OpenTraceFile file;
  file.path = rows->string();
  file.bytes = std::make_unique<FileBytes>(file.path);
  auto trace = trace::CsvTrace::Open(*file.bytes, sizes, damage);
  if (!trace.ok()) return trace.status();
  file.trace = *std::move(trace);
  return file;
}

void WriteDamage(const trace::DamageLog& damage, Session& session) {
  for (const trace::Damage& entry : damage.entries()) {
    session.err << "prismctl: " << trace::Describe(entry) << "\n";
  }
  if (damage.unnamed() > 0) {
    session.err << "prismctl: and " << damage.unnamed() << " more\n";
  }
}

}  // namespace prism::prismctl
