// MessageReader: fills a message from a document tree.
//
// Not thread-safe.
#ifndef PRISM_CORE_QUERY_MESSAGE_READER_H_
#define PRISM_CORE_QUERY_MESSAGE_READER_H_

#include <google/protobuf/message.h>

#include <string>

#include "core/base/violations.h"
#include "core/query/field_path.h"
#include "core/query/node.h"

namespace prism::query {

class MessageReader final {
 public:
  // Requires: `violations` outlives the reader.
  explicit MessageReader(base::Violations& violations)
      : violations_(violations) {}

  // Sets in `message` what `node` says. What is wrong is left unset and added
  // to the violations, with paths that begin with `path`.
  void Read(const Node& node, const FieldPath& path,
            google::protobuf::Message& message);

 private:
  using Field = google::protobuf::FieldDescriptor;
  using Message = google::protobuf::Message;

  void ReadMap(const Node::Map& map, const FieldPath& path, Message& message);
  void ReadDistribution(const Node& node, const FieldPath& path,
                        Message& message);
  const Field* FindField(const Entry& entry, const FieldPath& path,
                         Message& message);
  void ReadField(const Node& node, const FieldPath& path, const Field& field,
                 Message& message);
  void ReadRepeated(const Node& node, const FieldPath& path, const Field& field,
                    Message& message);
  void ReadNumbers(const Node::List& list, const FieldPath& path,
                   const Field& field, Message& message);
  void ReadFactors(const Node& node, const FieldPath& path, Message& message);
  // Sets the field, or adds a value where it is repeated.
  void ReadValue(const Node& node, const FieldPath& path, const Field& field,
                 Message& message);
  template <typename Integer>
  void ReadInteger(const Node& node, const FieldPath& path, const Field& field,
                   Message& message);
  void ReadDouble(const Node& node, const FieldPath& path, const Field& field,
                  Message& message);
  void ReadBool(const Node& node, const FieldPath& path, const Field& field,
                Message& message);
  void ReadText(const Node& node, const FieldPath& path, const Field& field,
                Message& message);
  void ReadEnum(const Node& node, const FieldPath& path, const Field& field,
                Message& message);

  // Adds "is NODE; must be WHAT".
  void Refuse(const Node& node, const FieldPath& path, const std::string& what);
  // The number in `node` if it is finite; otherwise refuses.
  bool FiniteNumber(const Node& node, const FieldPath& path, double& number);

  base::Violations& violations_;
};

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_MESSAGE_READER_H_
