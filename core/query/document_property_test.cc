// What holds for every message and every text.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/query/document.h"
#include "core/query/random_message.h"
#include "prism/v1/prediction_service.pb.h"

namespace prism::query {
namespace {

using google::protobuf::util::MessageDifferencer;
using prism::v1::Question;

std::string Problems(const base::Violations& violations) {
  std::string text;
  for (const auto& v : violations.list()) {
    text += v.field + ": " + v.description + "\n";
  }
  return text;
}

template <typename Message>
void ExpectRoundTrip(const Message& message, const std::string& text) {
  Message back;
  base::Violations violations;
  ReadDocument(text, &back, violations);
  ASSERT_TRUE(violations.empty()) << Problems(violations) << text;
  ASSERT_TRUE(MessageDifferencer::Equals(message, back)) << text;
}

TEST(DocumentProperty, RandomQuestionsComeBackFromYaml) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 400; ++i) {
    Question question;
    Randomize(random, question);
    ASSERT_NO_FATAL_FAILURE(ExpectRoundTrip(question, WriteYaml(question)));
  }
}

TEST(DocumentProperty, RandomQuestionsComeBackFromJson) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    Question question;
    Randomize(random, question);
    ASSERT_NO_FATAL_FAILURE(ExpectRoundTrip(question, WriteJson(question)));
  }
}

TEST(DocumentProperty, RandomPredictionsComeBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    prism::v1::Prediction prediction;
    Randomize(random, prediction);
    ASSERT_NO_FATAL_FAILURE(ExpectRoundTrip(prediction, WriteYaml(prediction)));
  }
}

// What was read can always be sent: serialising needs valid UTF-8.
void ReadAndSerialize(const std::string& text) {
  Question question;
  base::Violations violations;
  ReadDocument(text, &question, violations);
  std::string bytes;
  ASSERT_TRUE(question.SerializeToString(&bytes));
  ASSERT_TRUE(Question().ParseFromString(bytes)) << text;
}

TEST(DocumentProperty, RandomBytesAreSurvived) {
  std::mt19937_64 random(4);
  constexpr char kAlphabet[] = "{}[]\"':,-?&*!|>%@`#\n \t~ae1.0\\\xff\xed\x00";
  const std::string alphabet(kAlphabet, sizeof(kAlphabet) - 1);
  for (int i = 0; i < 20000; ++i) {
    std::string text(random() % 40, ' ');
    for (char& c : text) {
      c = random() % 4 == 0 ? static_cast<char>(random())
                            : alphabet[random() % alphabet.size()];
    }
    ASSERT_NO_FATAL_FAILURE(ReadAndSerialize(text));
  }
}

void Mutate(std::mt19937_64& random, std::string& text) {
  for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
    if (text.empty()) return;
    const size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 8);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 20));
        break;
      default:
        text.insert(at, 1, "{}[]:,-\"\n &*"[random() % 12]);
    }
  }
}

TEST(DocumentProperty, MutatedDocumentsAreSurvived) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 4000; ++i) {
    Question question;
    Randomize(random, question, /*depth=*/5);
    std::string text = i % 2 ? WriteYaml(question) : WriteJson(question);
    Mutate(random, text);
    ASSERT_NO_FATAL_FAILURE(ReadAndSerialize(text));
  }
}

}  // namespace
}  // namespace prism::query
