// The choice of a device for arrays, on made-up machines and on this one.
#include "machine/array_choice.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>

#include "alate/error.h"
#include "alate/version.h"

namespace alate::machine {
namespace {

using backends::Device;
using backends::DeviceKind;

BackendState with_devices(const std::string& name, const std::vector<std::pair<std::string, DeviceKind>>& devices) {
  BackendState state;
  state.name = name;
  for (const auto& [device_name, kind] : devices) {
    Device device;
    device.backend = name;
    device.name = device_name;
    device.index = static_cast<int>(state.devices.size());
    device.kind = kind;
    device.description = "a " + device_name + " of " + name;
    device.version = name == "onnx" ? "ONNX Runtime 1.31.1" : "";
    device.total_bytes = 1000;
    state.devices.push_back(device);
  }
  if (devices.empty()) state.reason = "its library was not found";
  return state;
}

const BackendState kCpu = with_devices("cpu", {{"cpu", DeviceKind::processor}});
const BackendState kOnnx = with_devices("onnx", {{"cpu", DeviceKind::processor}});
const BackendState kOnnxCuda = with_devices("onnx", {{"cpu", DeviceKind::processor}, {"cuda", DeviceKind::gpu}});
const BackendState kMetal = with_devices("metal", {{"gpu", DeviceKind::gpu}});
const BackendState kCuda = with_devices("cuda", {{"cuda", DeviceKind::gpu}});
const BackendState kNoOnnx = with_devices("onnx", {});

struct Row {
  const char* what;
  std::vector<BackendState> machine;
  ArrayBackend wanted;
  bool is_windows;
  ArrayBackend backend;
  const char* choice;
  bool is_wanted;
};

class ArrayChoices : public ::testing::TestWithParam<Row> {};

TEST_P(ArrayChoices, FollowTheOrder) {
  const Row& row = GetParam();
  const ArrayChoice choice = choose_arrays(row.wanted, {row.machine}, row.is_windows);
  EXPECT_EQ(choice.device.backend, row.backend) << row.what;
  EXPECT_EQ(to_string(choice.device.place), row.choice) << row.what;
  EXPECT_EQ(choice.is_wanted, row.is_wanted) << row.what;
  EXPECT_EQ(choice.is_wanted || !choice.refusals.empty(), true) << row.what;
  EXPECT_EQ(choice.device.memory, 1000U) << row.what;
}

INSTANTIATE_TEST_SUITE_P(
    Machines, ArrayChoices,
    ::testing::Values(
        Row{"processor alone", {kCpu}, ArrayBackend::automatic, false, ArrayBackend::cpu, "cpu", true},
        Row{"ONNX Runtime elsewhere", {kCpu, kOnnx}, ArrayBackend::automatic, false, ArrayBackend::cpu, "cpu", true},
        Row{"ONNX Runtime on Windows", {kCpu, kOnnx}, ArrayBackend::automatic, true, ArrayBackend::onnx, "onnx", true},
        Row{"Windows without it", {kCpu, kNoOnnx}, ArrayBackend::automatic, true, ArrayBackend::cpu, "cpu", true},
        Row{"CUDA of its own", {kCpu, kCuda}, ArrayBackend::automatic, false, ArrayBackend::cuda, "cuda", true},
        Row{"CUDA of ONNX Runtime",
            {kCpu, kOnnxCuda},
            ArrayBackend::automatic,
            true,
            ArrayBackend::cuda,
            "onnx:cuda",
            true},
        Row{"Metal before CUDA",
            {kCpu, kCuda, kMetal},
            ArrayBackend::automatic,
            false,
            ArrayBackend::metal,
            "metal:gpu",
            true},
        Row{"ONNX asked for", {kCpu, kOnnx}, ArrayBackend::onnx, false, ArrayBackend::onnx, "onnx", true},
        Row{"ONNX on its best device",
            {kCpu, kOnnxCuda},
            ArrayBackend::onnx,
            false,
            ArrayBackend::onnx,
            "onnx:cuda",
            true},
        Row{"ONNX not there", {kCpu, kNoOnnx}, ArrayBackend::onnx, false, ArrayBackend::cpu, "cpu", false},
        Row{"Metal not there", {kCpu, kCuda}, ArrayBackend::metal, false, ArrayBackend::cuda, "cuda", false},
        Row{"CUDA not there", {kCpu, kOnnx}, ArrayBackend::cuda, false, ArrayBackend::cpu, "cpu", false},
        Row{"the processor asked for", {kCpu, kCuda}, ArrayBackend::cpu, false, ArrayBackend::cpu, "cpu", true}));

TEST(ArrayChoice, SaysWhyAndNamesTheRuntime) {
  EXPECT_EQ(choose_arrays(ArrayBackend::onnx, {{kCpu, kNoOnnx}}, false).refusals, "onnx: its library was not found");
  EXPECT_EQ(choose_arrays(ArrayBackend::cuda, {{kCpu, kOnnx}}, false).refusals,
            "cuda: this build does not have it; onnx:cuda: it has no device \"cuda\"; xla:cuda: no backend has this "
            "name");
  EXPECT_EQ(choose_arrays(ArrayBackend::onnx, {{kCpu, kOnnx}}, false).device.name, "ONNX Runtime 1.31.1");
  EXPECT_EQ(choose_arrays(ArrayBackend::cpu, {{kCpu}}, false).device.name, "a cpu of cpu");
}

TEST(ArrayChoice, LooksAtNoLibraryThatItCannotComeTo) {
  EXPECT_FALSE(concerns_arrays(ArrayBackend::automatic, kOnnx, false, false));
  EXPECT_TRUE(concerns_arrays(ArrayBackend::automatic, kOnnx, false, true));
  EXPECT_TRUE(concerns_arrays(ArrayBackend::automatic, kOnnx, true, false));
  EXPECT_TRUE(concerns_arrays(ArrayBackend::onnx, kOnnx, false, false));
  EXPECT_FALSE(concerns_arrays(ArrayBackend::cpu, kOnnx, false, false));
  EXPECT_TRUE(concerns_arrays(ArrayBackend::cuda, kOnnx, false, false));
}

TEST(ArrayBackends, HaveNamesInAnyCase) {
  for (const auto backend :
       {ArrayBackend::cpu, ArrayBackend::metal, ArrayBackend::cuda, ArrayBackend::onnx, ArrayBackend::automatic})
    EXPECT_EQ(parse_array_backend(to_string(backend)), backend);
  EXPECT_EQ(parse_array_backend("oNnX"), ArrayBackend::onnx);
  EXPECT_FALSE(parse_array_backend("tpu").has_value());
}

class MlxBackend : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("MLX_BACKEND"); }
};

TEST_F(MlxBackend, IsFollowed) {
  ::setenv("MLX_BACKEND", "CPU", 1);
  Context context;
  EXPECT_EQ(context.get_backend(), ArrayBackend::cpu);
  EXPECT_EQ(context.get_device().place, BackendPlace::cpu());
  EXPECT_TRUE(context.fallback_reason().empty());
  EXPECT_EQ(context.info(),
            "Alate " + std::string(version()) + " - Backend: CPU, Device: " + context.get_device().name);
}

TEST_F(MlxBackend, FallsBackWithTheReasonWhereItIsNone) {
  ::setenv("MLX_BACKEND", "quantum", 1);
  const Context context;
  EXPECT_NE(context.get_backend(), ArrayBackend::automatic);
  EXPECT_NE(context.fallback_reason().find("\"quantum\""), std::string::npos) << context.fallback_reason();
}

TEST_F(MlxBackend, FallsBackWithTheReasonWhereTheMachineHasNone) {
  ::setenv("MLX_BACKEND", "metal", 1);
  Context context;
  if (context.get_backend() == ArrayBackend::metal) GTEST_SKIP() << "this machine has Metal";
  EXPECT_NE(context.fallback_reason().find("metal: "), std::string::npos) << context.fallback_reason();
  const ArrayBackend before = context.get_backend();
  try {
    context.set_backend(ArrayBackend::metal);
    FAIL() << "Metal was set";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    EXPECT_NE(error.message().find("arrays cannot run on Metal: metal: "), std::string::npos) << error.what();
  }
  EXPECT_EQ(context.get_backend(), before);
}

TEST(ArrayContext, IsSetFromManyThreads) {
  Context context;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        context.set_backend(ArrayBackend::cpu);
        EXPECT_EQ(context.get_device().place, BackendPlace::cpu());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  set_backend(ArrayBackend::cpu);
  EXPECT_EQ(get_backend(), ArrayBackend::cpu);
  EXPECT_EQ(info(), default_context().info());
}

}  // namespace
}  // namespace alate::machine
