// What holds for every question, sensible or not.
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/query/document.h"
#include "core/query/example_questions.h"
#include "core/query/question.h"
#include "core/query/random_message.h"

namespace prism::query {
namespace {

using Message = prism::v1::Question;

std::optional<Question> Read(const Message& message) {
  base::Violations violations;
  auto question = ReadQuestion(message, "", violations);
  EXPECT_EQ(question.has_value(), violations.empty());
  return question;
}

TEST(QuestionProperty, RandomMessagesAreRefusedWithReasons) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    Message message;
    Randomize(random, message);
    Read(message);
  }
}

TEST(QuestionProperty, BrokenBytesThatParseAreSurvived) {
  const google::protobuf::LogSilencer silencer;  // text that is not UTF-8
  std::mt19937_64 random(2);
  const std::string examples[] = {ExampleProfile().SerializeAsString(),
                                  ExampleJob().SerializeAsString()};
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = examples[i % 2];
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    Message message;
    if (!message.ParseFromString(bytes)) continue;
    ++parsed;
    if (const auto question = Read(message)) CanonicalForm(*question);
  }
  EXPECT_GT(parsed, 1000);
}

// Exchanges numbers of the text, so that many documents stay valid.
std::string WithOtherNumbers(std::mt19937_64& random, std::string text) {
  for (char& c : text) {
    if (c >= '1' && c <= '9' && random() % 6 == 0) {
      c = static_cast<char>('1' + random() % 9);
    }
  }
  return text;
}

TEST(QuestionProperty, WrittenDocumentsAskTheSame) {
  std::mt19937_64 random(3);
  const std::string examples[] = {WriteYaml(ExampleProfile()),
                                  WriteYaml(ExampleJob())};
  int valid = 0;
  for (int i = 0; i < 1000; ++i) {
    Message message, back;
    base::Violations violations;
    ReadDocument(WithOtherNumbers(random, examples[i % 2]), &message,
                 violations);
    const auto question = Read(message);
    if (!violations.empty() || !question) continue;
    ++valid;
    ReadDocument(WriteJson(message), &back, violations);
    const auto again = Read(back);
    ASSERT_TRUE(again.has_value());
    ASSERT_EQ(CanonicalForm(*question), CanonicalForm(*again));
  }
  EXPECT_GT(valid, 100);
}

}  // namespace
}  // namespace prism::query
