// Between gRPC's buffers and bytes.
#ifndef PRISM_SERVER_WIRE_H_
#define PRISM_SERVER_WIRE_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <string_view>

namespace prism::server {

// The bytes of `buffer` in one piece, for as long as the slice lives.
inline grpc::Slice OnePiece(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.TrySingleSlice(&slice).ok()) {
    buffer.DumpToSingleSlice(&slice).IgnoreError();
  }
  return slice;
}

inline std::string_view Bytes(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// For whoever fills a slice that nobody else has seen.
inline uint8_t* MutableBytes(grpc::Slice& slice) {
  return const_cast<uint8_t*>(slice.begin());
}

inline grpc::ByteBuffer Serialized(
    const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(MutableBytes(slice));
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace prism::server

#endif  // PRISM_SERVER_WIRE_H_
