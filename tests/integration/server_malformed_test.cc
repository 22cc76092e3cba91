// What is no request at all must hurt nobody.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <memory>
#include <random>
#include <string>

#include "tests/integration/server_fixture.h"

namespace prism::testing {
namespace {

constexpr char kPredict[] = "/prism.v1.PredictionService/Predict";

class MalformedTest : public ServerTest {
 protected:
  MalformedTest() { StartServer(); }

  // Sends `bytes` as the one message of a call.
  grpc::Status Send(const std::string& method, const std::string& bytes) {
    grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    auto call = generic_->PrepareUnaryCall(&context, method, request, &queue);
    call->StartCall();
    grpc::Status status;
    call->Finish(&response, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return status;
  }

  void SetUp() override {
    generic_ = std::make_unique<grpc::GenericStub>(channel_);
  }

  // The server still answers.
  void ExpectServes() {
    prism::v1::Prediction prediction;
    EXPECT_TRUE(Ask(ProfileQuestion(), &prediction).ok());
  }

  std::unique_ptr<grpc::GenericStub> generic_;
  std::mt19937 random_{7};
};

TEST_F(MalformedTest, RandomBytesAreInvalidArguments) {
  for (int i = 0; i < 500; ++i) {
    // Field number 0 does not exist: never a message by chance.
    std::string bytes(1, '\0');
    const int size = static_cast<int>(random_() % 2000);
    for (int j = 0; j < size; ++j) bytes += static_cast<char>(random_());
    ASSERT_EQ(Send(kPredict, bytes).error_code(), grpc::INVALID_ARGUMENT);
  }
  ExpectServes();
}

TEST_F(MalformedTest, TruncatedMessagesAreInvalidArguments) {
  const std::string whole = RequestOf(ProfileQuestion()).SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_EQ(Send(kPredict, whole.substr(0, size)).error_code(),
              grpc::INVALID_ARGUMENT)
        << size;
  }
  ExpectServes();
}

TEST_F(MalformedTest, FlippedBitsEndNothing) {
  const std::string whole = RequestOf(ProfileQuestion()).SerializeAsString();
  for (int i = 0; i < 500; ++i) {
    std::string bytes = whole;
    bytes[random_() % bytes.size()] ^= static_cast<char>(1 << random_() % 8);
    const auto code = Send(kPredict, bytes).error_code();
    ASSERT_TRUE(code == grpc::OK || code == grpc::INVALID_ARGUMENT) << code;
  }
  ExpectServes();
}

TEST_F(MalformedTest, AbsurdSizesAreInvalidArguments) {
  for (const char* field : {"data", "pipeline", "tensor", "microbatches"}) {
    auto question = ProfileQuestion();
    auto& layout = *question.mutable_profile()->mutable_layout();
    layout.GetReflection()->SetUInt32(
        &layout, layout.GetDescriptor()->FindFieldByName(field), 0xffffffff);
    prism::v1::Prediction prediction;
    EXPECT_EQ(Ask(question, &prediction).error_code(), grpc::INVALID_ARGUMENT)
        << field;
  }
  ExpectServes();
}

TEST_F(MalformedTest, DeepNestingIsAnInvalidArgument) {
  std::string bytes;
  for (int depth = 0; depth < 10000; ++depth) {
    bytes += '\x0b';  // start of a group in an unknown field
  }
  EXPECT_EQ(Send(kPredict, bytes).error_code(), grpc::INVALID_ARGUMENT);
  ExpectServes();
}

TEST_F(MalformedTest, UnknownMethodIsUnimplemented) {
  EXPECT_EQ(Send("/prism.v1.PredictionService/Guess", "").error_code(),
            grpc::UNIMPLEMENTED);
}

TEST_F(MalformedTest, StreamGoesOnAfterAMalformedMessage) {
  const std::string good = RequestOf(ProfileQuestion()).SerializeAsString();
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  auto call = generic_->PrepareCall(
      &context, "/prism.v1.PredictionService/PredictStream", &queue);
  call->StartCall(this);
  queue.Next(&tag, &ok);
  bool has_prediction = false;
  for (const std::string& bytes : {std::string("\0x", 2), good}) {
    grpc::Slice slice(bytes);
    call->Write(grpc::ByteBuffer(&slice, 1), this);
    queue.Next(&tag, &ok);
    grpc::ByteBuffer answer;
    call->Read(&answer, this);
    queue.Next(&tag, &ok);
    ASSERT_TRUE(ok);
    grpc::Slice whole;
    ASSERT_TRUE(answer.DumpToSingleSlice(&whole).ok());
    prism::v1::PredictStreamResponse response;
    ASSERT_TRUE(
        response.ParseFromArray(whole.begin(), static_cast<int>(whole.size())));
    has_prediction = response.has_prediction();
  }
  EXPECT_TRUE(has_prediction);
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, this);
  queue.Next(&tag, &ok);
}

}  // namespace
}  // namespace prism::testing
