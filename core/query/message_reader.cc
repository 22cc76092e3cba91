#include "core/query/message_reader.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <google/protobuf/reflection.h>

#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/query/document_names.h"
#include "prism/v1/distribution.pb.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::query {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::OneofDescriptor;
using google::protobuf::Reflection;

bool IsDistribution(const Descriptor& type) {
  return &type == prism::v1::Distribution::descriptor();
}

// In documents a mixture is its list of components.
bool IsMixture(const Descriptor& type) {
  return &type == prism::v1::Mixture::descriptor();
}

// The number in `node` as an integer, where it is one that fits.
template <typename Integer>
std::optional<Integer> ToInteger(const Node& node) {
  using Limits = std::numeric_limits<Integer>;
  if (const auto* value = node.As<int64_t>()) {
    if (std::in_range<Integer>(*value)) return static_cast<Integer>(*value);
  } else if (const auto* large = node.As<uint64_t>()) {
    if (std::in_range<Integer>(*large)) return static_cast<Integer>(*large);
  } else if (const auto* number = node.As<double>()) {
    // max() + 1 is a power of two, which a double holds exactly.
    const double end = std::ldexp(1.0, Limits::digits);
    if (std::trunc(*number) == *number && *number < end &&
        *number >= static_cast<double>(Limits::min())) {
      return static_cast<Integer>(*number);
    }
  }
  return std::nullopt;
}

std::string OneofKeys(const OneofDescriptor& oneof) {
  std::vector<std::string> keys;
  for (int i = 0; i < oneof.field_count(); ++i) {
    keys.push_back(oneof.field(i)->name());
  }
  return absl::StrJoin(keys, ", ");
}

template <typename Integer>
std::string IntegerRange() {
  return absl::StrCat("an integer from ", std::numeric_limits<Integer>::min(),
                      " to ", std::numeric_limits<Integer>::max());
}

void Store(const Reflection& r, Message& m, const FieldDescriptor& f,
           int32_t value) {
  f.is_repeated() ? r.AddInt32(&m, &f, value) : r.SetInt32(&m, &f, value);
}
void Store(const Reflection& r, Message& m, const FieldDescriptor& f,
           int64_t value) {
  f.is_repeated() ? r.AddInt64(&m, &f, value) : r.SetInt64(&m, &f, value);
}
void Store(const Reflection& r, Message& m, const FieldDescriptor& f,
           uint32_t value) {
  f.is_repeated() ? r.AddUInt32(&m, &f, value) : r.SetUInt32(&m, &f, value);
}
void Store(const Reflection& r, Message& m, const FieldDescriptor& f,
           uint64_t value) {
  f.is_repeated() ? r.AddUInt64(&m, &f, value) : r.SetUInt64(&m, &f, value);
}
void Store(const Reflection& r, Message& m, const FieldDescriptor& f,
           double value) {
  f.is_repeated() ? r.AddDouble(&m, &f, value) : r.SetDouble(&m, &f, value);
}
void Store(const Reflection& r, Message& m, const FieldDescriptor& f,
           bool value) {
  f.is_repeated() ? r.AddBool(&m, &f, value) : r.SetBool(&m, &f, value);
}

}  // namespace

void MessageReader::Read(const Node& node, const FieldPath& path,
                         Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  if (IsDistribution(type)) return ReadDistribution(node, path, message);
  if (IsMixture(type)) {
    return ReadRepeated(node, path, *type.FindFieldByName("components"),
                        message);
  }
  const auto* map = node.As<Node::Map>();
  if (map == nullptr) {
    return Refuse(
        node, path,
        absl::StrCat("a map with keys of ", absl::StrJoin(Keys(type), ", ")));
  }
  ReadMap(*map, path, message);
}

void MessageReader::ReadDistribution(const Node& node, const FieldPath& path,
                                     Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  if (const auto* map = node.As<Node::Map>()) {
    return ReadMap(*map, path, message);
  }
  if (node.As<double>() || node.As<int64_t>() || node.As<uint64_t>()) {
    return ReadDouble(node, path, *type.FindFieldByName("constant"), message);
  }
  Refuse(node, path,
         absl::StrCat("a number, or a map with one key of ",
                      absl::StrJoin(Keys(type), ", ")));
}

void MessageReader::ReadMap(const Node::Map& map, const FieldPath& path,
                            Message& message) {
  std::set<const Field*> seen;
  std::set<const OneofDescriptor*> chosen;
  for (const Entry& entry : map) {
    const FieldPath field_path = path.Field(entry.key);
    const Field* field = FindField(entry, path, message);
    if (field == nullptr) continue;
    if (!seen.insert(field).second) {
      violations_.Add(field_path.ToString(), "is given twice; give it once");
      continue;
    }
    const OneofDescriptor* oneof = field->real_containing_oneof();
    if (oneof != nullptr && !chosen.insert(oneof).second) {
      violations_.Add(field_path.ToString(),
                      absl::StrCat("is one too many; give only one of ",
                                   OneofKeys(*oneof)));
      continue;
    }
    ReadField(entry.node, field_path, *field, message);
  }
}

const MessageReader::Field* MessageReader::FindField(const Entry& entry,
                                                     const FieldPath& path,
                                                     Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  const Field* field = type.FindFieldByName(entry.key);
  if (field != nullptr) return field;
  const std::vector<std::string> keys = Keys(type);
  const std::string word = ShownKey(entry.key);
  violations_.Add(path.Field(word).ToString(),
                  absl::StrCat("is not a key here", Suggestion(entry.key, keys),
                               "; accepted keys: ", absl::StrJoin(keys, ", ")));
  return nullptr;
}

void MessageReader::ReadField(const Node& node, const FieldPath& path,
                              const Field& field, Message& message) {
  if (field.is_map()) return ReadFactors(node, path, message);
  if (field.is_repeated()) return ReadRepeated(node, path, field, message);
  ReadValue(node, path, field, message);
}

void MessageReader::ReadRepeated(const Node& node, const FieldPath& path,
                                 const Field& field, Message& message) {
  const auto* list = node.As<Node::List>();
  if (list == nullptr) return Refuse(node, path, "a list");
  if (field.cpp_type() == Field::CPPTYPE_DOUBLE) {
    return ReadNumbers(*list, path, field, message);
  }
  int64_t index = 0;
  for (const Node& item : *list) {
    ReadValue(item, path.Item(index++), field, message);
  }
}

// A list may hold a million samples: the field is looked up once.
void MessageReader::ReadNumbers(const Node::List& list, const FieldPath& path,
                                const Field& field, Message& message) {
  const auto numbers =
      message.GetReflection()->GetMutableRepeatedFieldRef<double>(&message,
                                                                  &field);
  int64_t index = 0;
  for (const Node& item : list) {
    double number = 0;
    if (FiniteNumber(item, path.Item(index++), number)) numbers.Add(number);
  }
}

// The one map of the vocabulary, rank -> factor, has an entry for every rank
// of a large job: no reflection per entry.
void MessageReader::ReadFactors(const Node& node, const FieldPath& path,
                                Message& message) {
  auto* profile =
      google::protobuf::DynamicCastToGenerated<prism::v1::StepProfile>(
          &message);
  const auto* map = node.As<Node::Map>();
  if (map == nullptr || profile == nullptr) {
    return Refuse(node, path, "a map of ranks to factors");
  }
  auto& factors = *profile->mutable_slowdown();
  for (const Entry& entry : *map) {
    uint32_t rank = 0;
    if (!absl::SimpleAtoi(entry.key, &rank)) {
      violations_.Add(
          absl::StrCat(path.ToString(), "[", ShownKey(entry.key), "]"),
          absl::StrCat("is not a rank; must be ", IntegerRange<uint32_t>()));
      continue;
    }
    double factor = 0;
    if (!FiniteNumber(entry.node, path.Item(rank), factor)) continue;
    if (!factors.insert({rank, factor}).second) {
      violations_.Add(path.Item(rank).ToString(),
                      "is given twice; give it once");
    }
  }
}

void MessageReader::ReadValue(const Node& node, const FieldPath& path,
                              const Field& field, Message& message) {
  switch (field.cpp_type()) {
    case Field::CPPTYPE_INT32:
      return ReadInteger<int32_t>(node, path, field, message);
    case Field::CPPTYPE_INT64:
      return ReadInteger<int64_t>(node, path, field, message);
    case Field::CPPTYPE_UINT32:
      return ReadInteger<uint32_t>(node, path, field, message);
    case Field::CPPTYPE_UINT64:
      return ReadInteger<uint64_t>(node, path, field, message);
    case Field::CPPTYPE_FLOAT:
    case Field::CPPTYPE_DOUBLE:
      return ReadDouble(node, path, field, message);
    case Field::CPPTYPE_BOOL:
      return ReadBool(node, path, field, message);
    case Field::CPPTYPE_STRING:
      return ReadText(node, path, field, message);
    case Field::CPPTYPE_ENUM:
      return ReadEnum(node, path, field, message);
    case Field::CPPTYPE_MESSAGE: {
      const Reflection& reflection = *message.GetReflection();
      Message& child = field.is_repeated()
                           ? *reflection.AddMessage(&message, &field)
                           : *reflection.MutableMessage(&message, &field);
      return Read(node, path, child);
    }
  }
}

template <typename Integer>
void MessageReader::ReadInteger(const Node& node, const FieldPath& path,
                                const Field& field, Message& message) {
  const std::optional<Integer> value = ToInteger<Integer>(node);
  if (!value) return Refuse(node, path, IntegerRange<Integer>());
  Store(*message.GetReflection(), message, field, *value);
}

bool MessageReader::FiniteNumber(const Node& node, const FieldPath& path,
                                 double& number) {
  if (const auto* value = node.As<double>()) {
    number = *value;
  } else if (const auto* integer = node.As<int64_t>()) {
    number = static_cast<double>(*integer);
  } else if (const auto* large = node.As<uint64_t>()) {
    number = static_cast<double>(*large);
  } else {
    Refuse(node, path, "a number");
    return false;
  }
  if (std::isfinite(number)) return true;
  Refuse(node, path, "a finite number");
  return false;
}

void MessageReader::ReadDouble(const Node& node, const FieldPath& path,
                               const Field& field, Message& message) {
  double number = 0;
  if (!FiniteNumber(node, path, number)) return;
  Store(*message.GetReflection(), message, field, number);
}

void MessageReader::ReadBool(const Node& node, const FieldPath& path,
                             const Field& field, Message& message) {
  const auto* value = node.As<bool>();
  if (value == nullptr) return Refuse(node, path, "true or false");
  Store(*message.GetReflection(), message, field, *value);
}

void MessageReader::ReadText(const Node& node, const FieldPath& path,
                             const Field& field, Message& message) {
  const auto* text = node.As<std::string>();
  if (text == nullptr) return Refuse(node, path, "text (put it in quotes)");
  if (!IsUtf8(*text)) return Refuse(node, path, "UTF-8");
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) {
    reflection.AddString(&message, &field, *text);
  } else {
    reflection.SetString(&message, &field, *text);
  }
}

void MessageReader::ReadEnum(const Node& node, const FieldPath& path,
                             const Field& field, Message& message) {
  const auto* word = node.As<std::string>();
  const auto* value =
      word == nullptr ? nullptr : FindEnumWord(*field.enum_type(), *word);
  if (value == nullptr) {
    const auto words = EnumWords(*field.enum_type());
    return Refuse(node, path,
                  absl::StrCat("one of ", absl::StrJoin(words, ", "),
                               word ? Suggestion(*word, words) : ""));
  }
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) {
    reflection.AddEnum(&message, &field, value);
  } else {
    reflection.SetEnum(&message, &field, value);
  }
}

void MessageReader::Refuse(const Node& node, const FieldPath& path,
                           const std::string& what) {
  violations_.Add(path.ToString(),
                  absl::StrCat("is ", Describe(node), "; must be ", what));
}

}  // namespace prism::query
