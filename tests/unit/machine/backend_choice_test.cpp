// The texts of backend_choice.h and their values.
#include "alate/backend_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace alate {
namespace {

TEST(BackendPlace, IsSplitAtTheFirstColon) {
  struct Row {
    std::string text, backend, device, shown;
  };
  for (const Row& row : std::vector<Row>{{"cpu", "cpu", "", "cpu"},
                                         {"onnx:cuda", "onnx", "cuda", "onnx:cuda"},
                                         {"xla:0", "xla", "0", "xla:0"},
                                         {"cuda:1:2", "cuda", "1:2", "cuda:1:2"},
                                         {"cpu:", "cpu", "", "cpu"},
                                         {":cuda", "", "cuda", ":cuda"},
                                         {"", "", "", ""}}) {
    const BackendPlace place = BackendPlace::parse(row.text);
    EXPECT_EQ(place.backend(), row.backend) << row.text;
    EXPECT_EQ(place.device(), row.device) << row.text;
    EXPECT_EQ(to_string(place), row.shown) << row.text;
    EXPECT_EQ(BackendPlace::parse(to_string(place)), place) << row.text;
  }
}

TEST(BackendPlace, NamesTheBackendsOfThisProject) {
  const std::vector<BackendPlace> places = {BackendPlace::automatic(), BackendPlace::cpu(),
                                            BackendPlace::onnx(),      BackendPlace::onnx("cuda"),
                                            BackendPlace::xla("0"),    BackendPlace::reference()};
  EXPECT_EQ(to_string(places), "auto, cpu, onnx, onnx:cuda, xla:0, reference");
  const std::vector<std::string> texts = {"auto", "cpu", "onnx", "onnx:cuda", "xla:0", "reference"};
  EXPECT_EQ(BackendPlace::parse_all(texts), places);
  EXPECT_TRUE(places[0].is_automatic());
  EXPECT_FALSE(places[1].is_automatic());
}

TEST(BackendPolicy, IsReadFromItsNames) {
  for (const BackendPolicy policy : {BackendPolicy::strict, BackendPolicy::warn, BackendPolicy::allow})
    EXPECT_EQ(parse_backend_policy(to_string(policy)), policy);
  EXPECT_EQ(std::vector<std::string_view>(backend_policy_names().begin(), backend_policy_names().end()),
            (std::vector<std::string_view>{"strict", "warn", "allow"}));
  for (const char* wrong : {"", "Strict", "no"}) EXPECT_EQ(parse_backend_policy(wrong), std::nullopt) << wrong;
}

TEST(AcceleratorKind, IsReadFromItsNames) {
  for (const AcceleratorKind kind : {AcceleratorKind::automatic, AcceleratorKind::cuda, AcceleratorKind::coreml,
                                     AcceleratorKind::tpu, AcceleratorKind::off})
    EXPECT_EQ(parse_accelerator_kind(to_string(kind)), kind);
  EXPECT_EQ(std::vector<std::string_view>(accelerator_kind_names().begin(), accelerator_kind_names().end()),
            (std::vector<std::string_view>{"auto", "cuda", "coreml", "tpu", "off"}));
  for (const char* wrong : {"", "automatic", "gpu", "CUDA"}) EXPECT_EQ(parse_accelerator_kind(wrong), std::nullopt);
}

TEST(ComputeType, IsReadFromItsLongAndShortNames) {
  for (const ComputeType type : {ComputeType::as_stored, ComputeType::automatic, ComputeType::float32,
                                 ComputeType::bfloat16, ComputeType::float16, ComputeType::int8})
    EXPECT_EQ(parse_compute_type(to_string(type)), type);
  EXPECT_EQ(to_string(ComputeType::as_stored), "");
  EXPECT_EQ(parse_compute_type("f32"), ComputeType::float32);
  EXPECT_EQ(parse_compute_type("bf16"), ComputeType::bfloat16);
  EXPECT_EQ(parse_compute_type("f16"), ComputeType::float16);
  EXPECT_EQ(parse_compute_type("i8"), ComputeType::int8);
  for (const char* wrong : {"int4", "fp8", "Float32", "as_stored"}) EXPECT_EQ(parse_compute_type(wrong), std::nullopt);
}

}  // namespace
}  // namespace alate
