#include "core/query/random_message.h"

#include <google/protobuf/descriptor.h>

#include <bit>
#include <cmath>
#include <string>

#include "prism/v1/step_profile.pb.h"

namespace prism::query {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kDeepest = 8;

int Below(std::mt19937_64& random, int end) {
  return static_cast<int>(random() % static_cast<uint64_t>(end));
}

// Any finite double, by its bits.
double AnyNumber(std::mt19937_64& random) {
  double value = 0;
  do {
    value = std::bit_cast<double>(random());
  } while (!std::isfinite(value));
  return value;
}

std::string AnyText(std::mt19937_64& random) {
  static constexpr const char* kPieces[] = {
      "a",    "Z", "1",  " ",  ":",    "-", "\n",
      "\"",   "'", "#",  "{",  "\x01", "é", "\xf0\x9f\x98\x80",
      "null", "~", "\\", "\t", ",",    "]", "*",
      "&",    "!"};
  std::string text;
  const int pieces = Below(random, 8);
  for (int i = 0; i < pieces; ++i) {
    text += kPieces[Below(random, std::size(kPieces))];
  }
  return text;
}

// A value that has a word: all but the first do.
int AnyEnum(std::mt19937_64& random, const FieldDescriptor& field) {
  return 1 + Below(random, field.enum_type()->value_count() - 1);
}

void SetValue(std::mt19937_64& random, Message& message,
              const FieldDescriptor* f, int depth) {
  const auto& r = *message.GetReflection();
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r.SetInt32(&message, f, static_cast<int32_t>(random()));
    case FieldDescriptor::CPPTYPE_INT64:
      return r.SetInt64(&message, f, static_cast<int64_t>(random()));
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.SetUInt32(&message, f, static_cast<uint32_t>(random()));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r.SetUInt64(&message, f, random());
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r.SetDouble(&message, f, AnyNumber(random));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.SetBool(&message, f, Below(random, 2) == 1);
    case FieldDescriptor::CPPTYPE_STRING:
      return r.SetString(&message, f, AnyText(random));
    case FieldDescriptor::CPPTYPE_ENUM:
      return r.SetEnumValue(&message, f, AnyEnum(random, *f));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Randomize(random, *r.MutableMessage(&message, f), depth + 1);
    default:
      return;
  }
}

void AddValue(std::mt19937_64& random, Message& message,
              const FieldDescriptor* f, int depth) {
  const auto& r = *message.GetReflection();
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.AddUInt32(&message, f, static_cast<uint32_t>(random()));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r.AddDouble(&message, f, AnyNumber(random));
    case FieldDescriptor::CPPTYPE_STRING:
      return r.AddString(&message, f, AnyText(random));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Randomize(random, *r.AddMessage(&message, f), depth + 1);
    default:
      return;
  }
}

void AddFactors(std::mt19937_64& random, Message& message) {
  auto& profile = dynamic_cast<prism::v1::StepProfile&>(message);
  for (int i = Below(random, 4); i > 0; --i) {
    (*profile.mutable_slowdown())[static_cast<uint32_t>(random())] =
        AnyNumber(random);
  }
}

}  // namespace

void Randomize(std::mt19937_64& random, Message& message, int depth) {
  const auto& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    const bool nests = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (Below(random, 3) == 0 || (nests && depth >= kDeepest)) continue;
    if (field->is_map()) {
      AddFactors(random, message);
    } else if (field->is_repeated()) {
      for (int n = Below(random, 4); n > 0; --n) {
        AddValue(random, message, field, depth);
      }
    } else {
      SetValue(random, message, field, depth);
    }
  }
}

}  // namespace prism::query
