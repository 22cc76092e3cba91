// Random messages for property tests.
#ifndef PRISM_CORE_QUERY_RANDOM_MESSAGE_H_
#define PRISM_CORE_QUERY_RANDOM_MESSAGE_H_

#include <google/protobuf/message.h>

#include <random>

namespace prism::query {

// Sets random fields of `message` to random values, without regard to what
// makes sense. Numbers are finite, text is UTF-8, enum values have words.
void Randomize(std::mt19937_64& random, google::protobuf::Message& message,
               int depth = 0);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_RANDOM_MESSAGE_H_
