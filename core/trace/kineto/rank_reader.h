// RankReader: one rank's Kineto trace, bytes by bytes, into a KernelTrace.
//
// Reads plain JSON and gzip. Events that are neither device activities nor
// launches nor named stretches of host time are counted and dropped at once,
// so memory grows with the kernels and launches alone (some 100 bytes each
// while reading), not with the file. Nothing in a file is fatal: what cannot
// be read is counted and named in KernelTrace::damage.
//
//   RankReader reader("rank-0.json.gz");
//   while (..) reader.Feed(bytes);
//   const KernelTrace trace = reader.Finish();
//
// Not thread-safe.
#ifndef PRISM_CORE_TRACE_KINETO_RANK_READER_H_
#define PRISM_CORE_TRACE_KINETO_RANK_READER_H_

#include <memory>
#include <string>
#include <string_view>

#include "core/trace/kineto/kernel_trace.h"

namespace prism::kineto {

class RankReader {
 public:
  // `file` is the name by which a person knows the trace.
  explicit RankReader(std::string file);
  ~RankReader();

  void Feed(std::string_view bytes);
  // To be called once, after the last bytes.
  KernelTrace Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The rank that the name of a file gives: "trace_rank-3.json.gz", "rank_3",
// "rank3". Nothing where it gives none.
std::optional<int64_t> RankOfFileName(std::string_view file);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_RANK_READER_H_
