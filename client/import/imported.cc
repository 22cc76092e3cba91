#include "client/import/imported.h"

#include <array>

namespace prism::import {
namespace {

bool DropEnding(std::string& name, const std::string& ending) {
  if (name.size() <= ending.size() || !name.ends_with(ending)) return false;
  name.resize(name.size() - ending.size());
  return true;
}

}  // namespace

std::string NameFromFile(std::string file) {
  file = file.substr(file.find_last_of('/') + 1);
  static constexpr std::array<const char*, 9> kEndings = {
      ".txt",  ".sh",     ".bash", ".slurm", ".sbatch",
      ".json", ".config", ".gz",   ".csv"};
  bool dropped = true;
  while (dropped) {
    dropped = false;
    for (const char* ending : kEndings)
      dropped = DropEnding(file, ending) || dropped;
  }
  return file;
}

}  // namespace prism::import
