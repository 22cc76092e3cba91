// FitRecord: which measurements the model's constants were fitted on.
//
// A fit writes what it used to tests/data/measured/fitted.csv, by source and
// family. Rows that are not in the repository were never used. Immutable.
#ifndef PRISM_CLIENT_VALIDATE_FIT_RECORD_H_
#define PRISM_CLIENT_VALIDATE_FIT_RECORD_H_

#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "client/validate/data_folder.h"
#include "client/validate/measured.h"

namespace prism::validate {

class FitRecord {
 public:
  // `record` has the columns source and family; a family that is blank means
  // all of the source. Lines that are damaged are left out.
  FitRecord(const std::string& record, const Measurements& repository);

  // Of this program.
  static FitRecord OfRepository();

  bool Used(const std::string& source, const Measured& row) const;

 private:
  bool Names(const std::string& source, const std::string& family) const;

  std::set<std::pair<std::string, std::string>> families_;
  std::set<std::tuple<std::string, std::string, double>> rows_;
};

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_FIT_RECORD_H_
