// The kernel interface's choice of a backend on this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "alate/error.h"
#include "alate/kernels.h"

namespace alate {
namespace {

// That a backend's kernels compute.
void expect_computes(const KernelBackend& kernels) {
  const std::vector<float> w = {1, 2, 3, 4}, x = {1, -1};
  EXPECT_EQ(kernels.matmul_vec({w, 2, 2}, x), (std::vector<float>{-1, -1}));
}

TEST(InitBackend, GivesTheKernelsOfTheNamedBackend) {
  for (const char* name : {"cpu", "reference", "go"}) {
    const std::shared_ptr<const KernelBackend> kernels = init_backend(BackendPlace::parse(name));
    EXPECT_EQ(kernels->name(), name == std::string_view("go") ? "cpu" : name);
    EXPECT_TRUE(kernels->is_available());
    expect_computes(*kernels);
  }
}

TEST(InitBackend, TakesTheBestOfTheOrder) {
  const std::shared_ptr<const KernelBackend> kernels = init_backend();
  EXPECT_EQ(best_available_backend().backend(), kernels->name());
  EXPECT_NE(kernels->name(), "reference");
  expect_computes(*kernels);
}

TEST(InitBackend, FallsBackFromWhatIsNotHere) {
  const std::vector<BackendInfo> all = discover_backends();
  const bool has_opencl =
      std::ranges::any_of(all, [](const BackendInfo& each) { return each.name == "opencl" && each.available; });
  if (has_opencl) GTEST_SKIP() << "this machine has OpenCL";
  ::testing::internal::CaptureStderr();
  const std::shared_ptr<const KernelBackend> kernels = init_backend(BackendPlace("opencl"));
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("kernels fall back"), std::string::npos) << log;
  EXPECT_NE(log.find("since opencl cannot be used"), std::string::npos) << log;
  expect_computes(*kernels);
}

TEST(InitBackend, RefusesANameThatNoBackendHas) {
  try {
    init_backend(BackendPlace("gpux"));
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
  }
}

TEST(DiscoverBackends, ListsEachWithDevicesOrAReason) {
  const std::vector<BackendInfo> all = discover_backends();
  EXPECT_TRUE(std::ranges::any_of(all, [](const BackendInfo& each) { return each.name == "cpu" && each.available; }));
  std::ostringstream out;
  print_backend_summary(out);
  for (const BackendInfo& each : all) {
    EXPECT_EQ(each.available, !each.devices.empty()) << each.name;
    EXPECT_NE(each.available, !each.error.empty()) << each.name;
    EXPECT_NE(out.str().find((each.available ? "+ " : "- ") + each.name), std::string::npos) << out.str();
  }
  EXPECT_NE(out.str().find("Recommended: " + to_string(best_available_backend())), std::string::npos) << out.str();
}

}  // namespace
}  // namespace alate
