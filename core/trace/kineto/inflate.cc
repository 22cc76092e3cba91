#include "core/trace/kineto/inflate.h"

#include <absl/strings/str_cat.h>
#include <zlib.h>

#include <array>

namespace prism::kineto {
namespace {

constexpr std::string_view kMagic = "\x1f\x8b";
constexpr int kGzipWindow = 15 + 16;  // largest window, gzip's frame
constexpr size_t kChunkBytes = size_t{1} << 16;

}  // namespace

struct Inflater::Stream {
  Stream() { ready = inflateInit2(&z, kGzipWindow) == Z_OK; }
  ~Stream() {
    if (ready) inflateEnd(&z);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  z_stream z = {};
  bool ready = false;
  std::array<char, kChunkBytes> out;
};

Inflater::Inflater() = default;
Inflater::~Inflater() = default;

absl::Status Inflater::Feed(std::string_view bytes, Sink sink) {
  if (state_ == State::kUnknown) {
    head_.append(bytes);
    return head_.size() < kMagic.size() ? absl::OkStatus() : Begin(sink);
  }
  if (state_ == State::kPlain) {
    sink(bytes);
    return absl::OkStatus();
  }
  return Inflate(bytes, sink);
}

absl::Status Inflater::Begin(Sink sink) {
  const std::string head = std::move(head_);
  head_.clear();
  if (!head.starts_with(kMagic)) {
    state_ = State::kPlain;
    sink(head);
    return absl::OkStatus();
  }
  stream_ = std::make_unique<Stream>();
  if (!stream_->ready) return absl::InternalError("zlib could not start");
  state_ = State::kInside;
  return Inflate(head, sink);
}

absl::Status Inflater::Inflate(std::string_view bytes, Sink sink) {
  while (!bytes.empty() && state_ != State::kBroken) {
    // A file may hold several gzip streams in a row.
    if (state_ == State::kBetween) {
      inflateReset(&stream_->z);
      state_ = State::kInside;
    }
    if (absl::Status status = InflateMember(bytes, sink); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status Inflater::InflateMember(std::string_view& bytes, Sink sink) {
  z_stream& z = stream_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  int code = Z_OK;
  do {
    z.next_out = reinterpret_cast<Bytef*>(stream_->out.data());
    z.avail_out = kChunkBytes;
    code = inflate(&z, Z_NO_FLUSH);
    sink({stream_->out.data(), kChunkBytes - z.avail_out});
  } while (code == Z_OK && z.avail_out == 0);
  bytes.remove_prefix(bytes.size() - z.avail_in);
  if (code == Z_STREAM_END) state_ = State::kBetween;
  if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR)
    return absl::OkStatus();
  state_ = State::kBroken;
  return absl::DataLossError(
      absl::StrCat("the compressed data is damaged (",
                   z.msg == nullptr ? "unknown reason" : z.msg,
                   "); what follows cannot be read"));
}

absl::Status Inflater::Finish(Sink sink) {
  if (state_ == State::kUnknown && !head_.empty()) sink(head_);
  if (state_ != State::kInside) return absl::OkStatus();
  return absl::DataLossError("the compressed data ends early");
}

}  // namespace prism::kineto
