#include "core/trace/chakra/frames.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace prism::chakra {
namespace {

constexpr int kMostShift = 35;  // five bytes of seven bits

}  // namespace

void Frames::Feed(std::string_view bytes, Sink sink) {
  while (!bytes.empty() && !lost_) {
    if (!in_message_) {
      TakeLengthByte(static_cast<unsigned char>(bytes[0]));
      bytes.remove_prefix(1);
      ++taken_;
      continue;
    }
    const size_t part =
        std::min<uint64_t>(bytes.size(), length_ - message_.size());
    message_.append(bytes.substr(0, part));
    bytes.remove_prefix(part);
    taken_ += static_cast<int64_t>(part);
    if (message_.size() < length_) continue;
    sink(message_, taken_ - static_cast<int64_t>(length_));
    message_.clear();
    in_message_ = false;
    length_ = 0;
    shift_ = 0;
  }
}

void Frames::TakeLengthByte(unsigned char byte) {
  length_ |= static_cast<uint64_t>(byte & 0x7F) << shift_;
  shift_ += 7;
  if ((byte & 0x80) != 0) {
    if (shift_ >= kMostShift) Lose("a length is no varint of 32 bit");
    return;
  }
  if (length_ == 0 || length_ > kMostFrameBytes) {
    Lose(absl::StrCat("a message has ", length_, " bytes; must be 1 to ",
                      kMostFrameBytes));
  }
  in_message_ = true;
}

void Frames::Lose(const std::string& what) {
  lost_ = true;
  damage_.Add(taken_, what + "; what follows cannot be read");
}

void Frames::Finish() {
  if (lost_) return;
  if (taken_ == 0) {
    damage_.Add(0, "is empty");
  } else if (in_message_ || shift_ > 0) {
    damage_.Add(taken_, "the file ends in a message");
  }
}

}  // namespace prism::chakra
