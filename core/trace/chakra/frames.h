// Frames: a file of messages, each behind its length as a varint, cut into
// messages.
//
// Bytes are fed as they come; memory is bounded by the largest message. A
// length that cannot be one ends the reading, for nothing behind it can be
// found. Not thread-safe.
#ifndef PRISM_CORE_TRACE_CHAKRA_FRAMES_H_
#define PRISM_CORE_TRACE_CHAKRA_FRAMES_H_

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/trace/kineto/damage.h"

namespace prism::chakra {

class Frames {
 public:
  static constexpr uint64_t kMostFrameBytes = uint64_t{64} << 20;

  // Takes a message and where it begins in the file.
  using Sink = absl::FunctionRef<void(std::string_view message, int64_t byte)>;

  // `damage` is not owned.
  explicit Frames(kineto::Damage& damage) : damage_(damage) {}

  void Feed(std::string_view bytes, Sink sink);
  // To be called once, after the last bytes.
  void Finish();

 private:
  void TakeLengthByte(unsigned char byte);
  void Lose(const std::string& what);

  kineto::Damage& damage_;
  bool lost_ = false;
  bool in_message_ = false;
  uint64_t length_ = 0;
  int shift_ = 0;  // bits of length_ so far
  std::string message_;
  int64_t taken_ = 0;  // bytes
};

}  // namespace prism::chakra

#endif  // PRISM_CORE_TRACE_CHAKRA_FRAMES_H_
