// Inflater: gzip taken off, bytes by bytes.
//
// Bytes that do not begin as gzip does pass as they are. Memory is bounded
// whatever is fed. Not thread-safe.
#ifndef PRISM_CORE_TRACE_KINETO_INFLATE_H_
#define PRISM_CORE_TRACE_KINETO_INFLATE_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include <memory>
#include <string>
#include <string_view>

namespace prism::kineto {

class Inflater {
 public:
  // Takes the bytes that come out, in order.
  using Sink = absl::FunctionRef<void(std::string_view)>;

  Inflater();
  ~Inflater();

  // Takes the next bytes of the file; any sizes.
  //
  // Errors: DATA_LOSS where the compressed data is damaged. What came before
  // has been given to `sink`; nothing comes after.
  absl::Status Feed(std::string_view bytes, Sink sink);

  // To be called once, after the last bytes.
  //
  // Errors: DATA_LOSS where the compressed data ends early.
  absl::Status Finish(Sink sink);

 private:
  struct Stream;
  enum class State { kUnknown, kPlain, kInside, kBetween, kBroken };

  absl::Status Begin(Sink sink);
  absl::Status Inflate(std::string_view bytes, Sink sink);
  absl::Status InflateMember(std::string_view& bytes, Sink sink);

  State state_ = State::kUnknown;
  std::string head_;  // the first bytes, until there are two
  std::unique_ptr<Stream> stream_;
};

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_INFLATE_H_
