// Memory requests against made-up devices.
#include <gtest/gtest.h>

#include "runtime/loading/memory_estimate.h"

namespace alate::runtime {
namespace {

using backends::Device;
using backends::DeviceKind;

constexpr std::size_t kGiB = std::size_t{1} << 30;

Device device(std::string backend, std::string name, std::size_t total, std::size_t free) {
  Device made;
  made.backend = std::move(backend);
  made.name = std::move(name);
  made.total_bytes = total;
  made.free_bytes = free;
  return made;
}

Device unusable(Device made) {
  made.unusable = "its driver is too old";
  return made;
}

Device emulated(Device made) {
  made.is_emulated = true;
  return made;
}

struct ChoiceCase {
  std::string name;
  std::vector<Device> devices;
  std::uint64_t bytes;
  std::optional<std::size_t> chosen;
  std::string says;  // in the reason, or in one of those passed over
};

TEST(ChooseDeviceByMemory, TheFirstThatHoldsIt) {
  const std::vector<ChoiceCase> cases = {
      {"nothing there", {}, 1, std::nullopt, "there are no devices"},
      {"one that holds it", {device("cpu", "cpu", 8 * kGiB, 4 * kGiB)}, kGiB, 0, "cpu:cpu has 4.00 GiB free"},
      {"exactly", {device("cpu", "cpu", 8 * kGiB, kGiB)}, kGiB, 0, "1.00 GiB"},
      {"a byte too many", {device("cpu", "cpu", 8 * kGiB, kGiB)}, kGiB + 1, std::nullopt, "no device holds"},
      {"total does not count",
       {device("cpu", "cpu", 64 * kGiB, kGiB)},
       2 * kGiB,
       std::nullopt,
       "has 1.00 GiB free, 2.00 GiB are needed"},
      {"the accelerator first",
       {device("cuda", "cuda", 16 * kGiB, 15 * kGiB), device("cpu", "cpu", 64 * kGiB, 60 * kGiB)},
       8 * kGiB,
       0,
       "cuda:cuda"},
      {"the next when it is too small",
       {device("cuda", "cuda", 16 * kGiB, 2 * kGiB), device("cpu", "cpu", 64 * kGiB, 60 * kGiB)},
       8 * kGiB,
       1,
       "cuda:cuda has 2.00 GiB free"},
      {"not one that cannot be used",
       {unusable(device("cuda", "cuda", 80 * kGiB, 80 * kGiB)), device("cpu", "cpu", 64 * kGiB, 60 * kGiB)},
       8 * kGiB,
       1,
       "its driver is too old"},
      {"not an emulated one",
       {emulated(device("opencl", "pocl", 80 * kGiB, 80 * kGiB)), device("cpu", "cpu", 64 * kGiB, 60 * kGiB)},
       8 * kGiB,
       1,
       "emulated"},
      {"not one that does not say",
       {device("xla", "tpu", 0, 0), device("cpu", "cpu", 64 * kGiB, 60 * kGiB)},
       8 * kGiB,
       1,
       "does not say"},
      {"the second of two of a kind",
       {device("cuda", "cuda", 8 * kGiB, kGiB), device("cuda", "cuda", 24 * kGiB, 20 * kGiB)},
       8 * kGiB,
       1,
       "20.0 GiB free"},
      {"none, with every reason",
       {device("cuda", "cuda", 8 * kGiB, kGiB), device("cpu", "cpu", 4 * kGiB, 2 * kGiB)},
       8 * kGiB,
       std::nullopt,
       "cpu:cpu has 2.00 GiB free"},
  };
  for (const ChoiceCase& each : cases) {
    SCOPED_TRACE(each.name);
    const DeviceChoice choice = choose_device_by_memory(each.devices, each.bytes);
    EXPECT_EQ(choice.device, each.chosen);
    EXPECT_EQ(choice.passed_over.size(), each.chosen.value_or(each.devices.size()));
    std::string said = choice.reason;
    for (const std::string& reason : choice.passed_over) said += "; " + reason;
    EXPECT_NE(said.find(each.says), std::string::npos) << said;
  }
}

MemoryRequest request_of(std::uint64_t weights, std::uint64_t activations) {
  MemoryRequest request;
  request.what = "tiny on cpu";
  request.parts = {{"weights", weights}, {"activations", activations}, {"inputs and outputs", 0}};
  request.smaller = {{"fewer texts", "--batch-size 4", weights + activations / 2},
                     {"fewer texts", "--batch-size 2", weights + activations / 4},
                     {"shorter texts", "--batch-size 1 --max-length 16", weights + activations / 64}};
  return request;
}

TEST(CheckFits, SaysNothingWhereItFits) {
  EXPECT_EQ(check_fits(request_of(kGiB, kGiB), device("cpu", "cpu", 4 * kGiB, 2 * kGiB)), std::nullopt);
}

TEST(CheckFits, SaysNothingOfADeviceThatDoesNotTell) {
  EXPECT_EQ(check_fits(request_of(kGiB, kGiB), device("xla", "tpu", 0, 0)), std::nullopt);
}

TEST(CheckFits, GivesTheFigures) {
  const auto text = check_fits(request_of(kGiB, kGiB), device("cpu", "cpu", 4 * kGiB, kGiB / 2)).value_or("");
  EXPECT_EQ(text,
            "tiny on cpu needs 2.00 GiB (weights 1.00 GiB, activations 1.00 GiB), but cpu:cpu has 512 MiB free of 4.00 "
            "GiB; nothing smaller fits: free memory, raise the limit, or use a smaller model");
}

TEST(CheckFits, NamesOfEachKindTheLeastChangeThatFits) {
  const auto text = check_fits(request_of(kGiB, kGiB), device("cpu", "cpu", 4 * kGiB, kGiB + kGiB / 4)).value_or("");
  EXPECT_EQ(text.find("--batch-size 4"), std::string::npos) << text;
  EXPECT_NE(text.find("--batch-size 2 (1.25 GiB)"), std::string::npos) << text;
  EXPECT_NE(text.find("--max-length 16 (1.02 GiB)"), std::string::npos) << text;
}

TEST(CheckFits, NamesOtherDevicesThatHoldIt) {
  const std::vector<Device> others = {device("cpu", "cpu", 4 * kGiB, kGiB / 2), device("cuda", "cuda", 8 * kGiB, kGiB),
                                      unusable(device("onnx", "cuda", 80 * kGiB, 80 * kGiB)),
                                      device("xla", "tpu", 16 * kGiB, 16 * kGiB)};
  const auto text = check_fits(request_of(kGiB, kGiB), others[0], others).value_or("");
  EXPECT_NE(text.find("what fits: --backend xla:tpu (16.0 GiB free)"), std::string::npos) << text;
  EXPECT_EQ(text.find("--backend cuda"), std::string::npos) << text;
  EXPECT_EQ(text.find("--backend onnx"), std::string::npos) << text;
  EXPECT_EQ(text.find("nothing smaller"), std::string::npos) << text;
}

TEST(MemoryRequest, PartsThatOverflowAreMoreThanAnyDevice) { EXPECT_EQ(request_of(UINT64_MAX, 5).bytes(), UINT64_MAX); }

}  // namespace
}  // namespace alate::runtime
