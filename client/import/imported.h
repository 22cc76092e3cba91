// What import reads and gives.
#ifndef PRISM_CLIENT_IMPORT_IMPORTED_H_
#define PRISM_CLIENT_IMPORT_IMPORTED_H_

#include <string>
#include <vector>

#include "prism/v1/job.pb.h"

namespace prism::import {

// A file that a person names.
struct SourceFile {
  std::string name;
  std::string text;
};

struct Imported {
  std::vector<prism::v1::Job> jobs;
  // What a person should know though the jobs are whole, each thing once.
  std::vector<std::string> warnings;
};

// A job's name from the name of its file: no directories, no endings that say
// what kind of file it is.
std::string NameFromFile(std::string file);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_IMPORTED_H_
