#include "core/trace/kineto/test_support.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <zlib.h>

#include <fstream>
#include <iterator>

#include "core/base/check.h"
#include "core/trace/kineto/inflate.h"
#include "core/trace/kineto/rank_reader.h"

namespace prism::kineto {

KernelTrace ReadBytes(std::string_view bytes, const std::string& file,
                      size_t block) {
  RankReader reader(file);
  for (size_t at = 0; at < bytes.size(); at += block)
    reader.Feed(bytes.substr(at, block));
  return reader.Finish();
}

std::string TestData(const std::string& name) {
  std::ifstream file(absl::StrCat(PRISM_SOURCE_DIR,
                                  "/tests/data/profiler-traces-kineto/", name),
                     std::ios::binary);
  PRISM_CHECK(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

KernelTrace ReadTestData(const std::string& name) {
  return ReadBytes(TestData(name), name);
}

std::string Gzip(std::string_view bytes) {
  z_stream z = {};
  PRISM_CHECK(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) ==
              Z_OK);
  std::string out(deflateBound(&z, bytes.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  PRISM_CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

std::string Gunzip(std::string_view bytes) {
  Inflater inflater;
  std::string text;
  const auto take = [&text](std::string_view part) { text.append(part); };
  PRISM_CHECK(inflater.Feed(bytes, take).ok());
  PRISM_CHECK(inflater.Finish(take).ok());
  return text;
}

TraceWriter& TraceWriter::Kernel(const std::string& name, int64_t start,
                                 int64_t duration, int64_t launch, int stream,
                                 int thread, const std::string& more_args) {
  const int correlation = next_correlation_++;
  Event(absl::StrFormat(
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", )"
      R"("pid": 1, "tid": %d, "ts": %d, "dur": 1, "args": )"
      R"({"correlation": %d}})",
      thread, launch, correlation));
  return Event(absl::StrFormat(
      R"({"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": %d, )"
      R"("ts": %d, "dur": %d, "args": {"device": 0, "stream": %d, )"
      R"("correlation": %d%s}})",
      name, stream, start, duration, stream, correlation, more_args));
}

TraceWriter& TraceWriter::Copy(int64_t start, int64_t duration) {
  return Event(absl::StrFormat(
      R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, )"
      R"("tid": 7, "ts": %d, "dur": %d, "args": {"device": 0, "stream": 7}})",
      start, duration));
}

TraceWriter& TraceWriter::Annotation(const std::string& name, int64_t start,
                                     int64_t duration, int thread) {
  return Event(absl::StrFormat(
      R"({"ph": "X", "cat": "user_annotation", "name": "%s", "pid": 1, )"
      R"("tid": %d, "ts": %d, "dur": %d, "args": {}})",
      name, thread, start, duration));
}

TraceWriter& TraceWriter::Operator(const std::string& name, int64_t start,
                                   int64_t duration, int thread) {
  return Event(absl::StrFormat(
      R"({"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": %d, )"
      R"("ts": %d, "dur": %d, "args": {}})",
      name, thread, start, duration));
}

TraceWriter& TraceWriter::Event(const std::string& json) {
  events_.push_back(json);
  return *this;
}

TraceWriter& TraceWriter::Rank(int rank, int world_size) {
  head_ = absl::StrFormat(
      R"("distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d},)",
      rank, world_size);
  return *this;
}

std::string TraceWriter::Text() const {
  return absl::StrCat("{\"schemaVersion\": 1, ", head_, "\"traceEvents\": [\n",
                      absl::StrJoin(events_, ",\n"), "\n]}\n");
}

}  // namespace prism::kineto
