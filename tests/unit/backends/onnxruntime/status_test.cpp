#include "backends/onnxruntime/status.h"

#include <gtest/gtest.h>

namespace alate::onnxruntime {
namespace {

TEST(OnnxStatus, KeepsWhatWasSaidAndLeavesOutWhere) {
  EXPECT_EQ(plain_text("Load model failed:Protobuf parsing failed."), "Load model failed:Protobuf parsing failed.");
  EXPECT_EQ(
      plain_text("/src/bridge.cc:1 Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library x.so : no\nfile \n"),
      "Failed to load library x.so : no file");
  EXPECT_EQ(plain_text("/src/context.cc:136 lambda() status == Success was false. No supported adapters"),
            "No supported adapters");
}

TEST(OnnxStatus, ReadsWhatTheNumberDoesNotTell) {
  EXPECT_EQ(code_of(1, "Fatal error: a:B(-1) is not a registered function/op"), ErrorCode::unsupported);
  EXPECT_EQ(code_of(6, "Failed to allocate memory for requested buffer of size 99"), ErrorCode::resource_exhausted);
  EXPECT_EQ(code_of(7, "Protobuf parsing failed."), ErrorCode::corrupt);
  EXPECT_EQ(code_of(1, "something"), ErrorCode::internal);
}

}  // namespace
}  // namespace alate::onnxruntime
