// Scripts that describe several jobs by assigning the same variables again and
// again.
#ifndef PRISM_CLIENT_IMPORT_JOB_BLOCKS_H_
#define PRISM_CLIENT_IMPORT_JOB_BLOCKS_H_

#include <vector>

#include "client/import/shell_script.h"

namespace prism::import {

// The statements of each job. Several jobs are several runs through the same
// names in the same order, at least three names, and all names that are
// assigned more than once take part; everything outside the runs belongs to
// every job. Anything else is one job. At most 256 jobs are told apart.
std::vector<std::vector<Statement>> SplitJobs(
    const std::vector<Statement>& statements);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_JOB_BLOCKS_H_
