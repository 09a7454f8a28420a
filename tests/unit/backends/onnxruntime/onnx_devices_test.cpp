#include "backends/onnxruntime/devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "alate/error.h"
#include "graph/builder.h"
#include "tests/unit/backends/onnxruntime/real_library.h"

namespace alate {
namespace {

class OnnxDevices : public WithOnnxRuntime {};

TEST_F(OnnxDevices, ProcessorComesFirstAndHasPassedItsSelfTest) {
  const std::vector<backends::Device> devices = backend().devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices[0].name, "cpu");
  EXPECT_EQ(devices[0].unusable, std::nullopt);
  EXPECT_TRUE(devices[0].version.starts_with("ONNX Runtime 1.")) << devices[0].version;
  EXPECT_EQ(devices[0].library, library_file().string());
  EXPECT_GT(devices[0].total_bytes, 0U);
}

TEST_F(OnnxDevices, EachHasItsPlaceAndThoseThatFailSayWhatHelps) {
  const std::vector<backends::Device> devices = backend().devices();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i].index, static_cast<int>(i));
    EXPECT_EQ(devices[i].backend, "onnx");
    EXPECT_NE(devices[i].name, "azure") << "a service elsewhere is no device";
    EXPECT_EQ(devices[i].unusable.has_value(), !devices[i].remedy.empty()) << devices[i].name;
  }
}

TEST_F(OnnxDevices, OneThatIsNotThereIsRefusedWithTheNamesOfThoseThatAre) {
  graph::Builder b("identity");
  b.output("y", b.neg({b.parameter("x", Shape{.dtype = DType::f32, .dims = {2}})}));
  const graph::Graph graph = b.finish();
  const Error error = error_of([&] { (void)backend().compile(graph, {.device = "abacus"}); });
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_NE(error.message().find("'abacus': it has cpu"), std::string::npos) << error.message();
}

TEST_F(OnnxDevices, APluginThatCannotBeOpenedIsListedWithTheReason) {
  const std::filesystem::path folder = empty_folder();
  std::ofstream(folder / "libonnxruntime_providers_broken.so") << "not a library";
  const auto library = onnxruntime::Library::open(library_file());
  if (library->table_version() < 22) GTEST_SKIP() << "ONNX Runtime " << library->version() << " has no plugins";
  onnxruntime::Devices devices(library, {folder});
  const std::vector<backends::Device> all = devices.list();
  const auto found = std::ranges::find(all, "broken", &backends::Device::name);
  ASSERT_NE(found, all.end());
  ASSERT_TRUE(found->unusable);
  EXPECT_NE(found->unusable->find("it is not a library"), std::string::npos) << *found->unusable;
  EXPECT_EQ(error_of([&] { (void)devices.choose("broken"); }).code(), ErrorCode::unavailable);
  EXPECT_EQ(devices.choose("cpu").name, "cpu");
}

}  // namespace
}  // namespace alate
