// How fields and enum values are spelled in documents and in messages to
// people.
#ifndef PRISM_CORE_QUERY_DOCUMENT_NAMES_H_
#define PRISM_CORE_QUERY_DOCUMENT_NAMES_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>
#include <vector>

namespace prism::query {

// The document_name of `value`; empty where it has none.
std::string EnumWord(const google::protobuf::EnumValueDescriptor& value);

// The value that `word` stands for, or nullptr.
const google::protobuf::EnumValueDescriptor* FindEnumWord(
    const google::protobuf::EnumDescriptor& type, std::string_view word);

// All words of `type`, in the order of the numbers.
std::vector<std::string> EnumWords(
    const google::protobuf::EnumDescriptor& type);

// All keys of a message of `type`, in the order of the tags.
std::vector<std::string> Keys(const google::protobuf::Descriptor& type);

// The candidate that `word` is most likely a misspelling of; empty where none
// is close.
std::string ClosestWord(std::string_view word,
                        const std::vector<std::string>& candidates);

// "; did you mean "layout"?", or nothing.
std::string Suggestion(std::string_view word,
                       const std::vector<std::string>& candidates);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_DOCUMENT_NAMES_H_
