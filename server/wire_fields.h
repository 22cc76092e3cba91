// Fields in the Protobuf wire format, for messages whose parts are serialised
// already.
#ifndef PRISM_SERVER_WIRE_FIELDS_H_
#define PRISM_SERVER_WIRE_FIELDS_H_

#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace prism::server {

// Bytes of the head of a message, text or bytes in field 1: the tag, and a
// length of `size` as a varint.
inline size_t Field1HeadSize(size_t size) {
  return 1 + google::protobuf::io::CodedOutputStream::VarintSize32(
                 static_cast<uint32_t>(size));
}

// Writes that head to `to`; returns where it ends.
inline uint8_t* WriteField1Head(size_t size, uint8_t* to) {
  constexpr uint8_t kTag = 1 << 3 | 2;
  *to++ = kTag;
  return google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(
      static_cast<uint32_t>(size), to);
}

// Appends a message, text or bytes as field 1 of the message in `bytes`.
inline void AppendField1(std::string_view value, std::string& bytes) {
  uint8_t head[8];
  bytes.append(head, WriteField1Head(value.size(), head));
  bytes.append(value);
}

}  // namespace prism::server

#endif  // PRISM_SERVER_WIRE_FIELDS_H_
