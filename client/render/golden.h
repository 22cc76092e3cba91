// Messages and texts in testdata/, for tests.
#ifndef PRISM_CLIENT_RENDER_GOLDEN_H_
#define PRISM_CLIENT_RENDER_GOLDEN_H_

#include <google/protobuf/message.h>

#include <string>

namespace prism::render {

// Reads the message in the text file `name` into `message`.
void ReadTestMessage(const std::string& name,
                     google::protobuf::Message* message);

template <typename Message>
Message ReadTestMessage(const std::string& name) {
  Message message;
  ReadTestMessage(name, &message);
  return message;
}

// Compares with the golden file `name`, or writes it where PRISM_UPDATE_GOLDEN
// is set in the environment.
void ExpectGolden(const std::string& text, const std::string& name);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_GOLDEN_H_
