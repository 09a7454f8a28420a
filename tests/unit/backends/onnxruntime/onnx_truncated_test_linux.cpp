// ONNX Runtime maps large external weights. A file that is truncated while it is read fails that model.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "base/files/mapping_guard.h"
#include "exchange/onnx_writer.h"
#include "graph/builder.h"
#include "tests/unit/backends/onnxruntime/real_library.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using backends::Buffer;

constexpr std::int64_t kValues = std::int64_t{1} << 20;

// y = x + 3, where the threes are a file's.
class OnnxTruncated : public WithOnnxRuntime {
 protected:
  void SetUp() override {
    WithOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    base::catch_bus_errors();
    graph::Builder b("sum");
    const Shape shape{.dtype = DType::f32, .dims = {kValues}};
    const std::vector<float> threes(kValues, 3.0F);
    const graph::Value weight = b.constant(Tensor::from<float>({kValues}, std::span<const float>(threes)));
    b.output("y", b.add({b.parameter("x", shape), weight}));
    folder_ = empty_folder();
    fs::create_directory(folder_ / "model");
    const exchange::OnnxModel model = exchange::write_onnx(b.finish(), {.inline_constant_bytes = kValues * 8});
    std::ofstream(folder_ / "model" / "model.onnx", std::ios::binary) << model.bytes;
  }

  std::unique_ptr<backends::Executable> open() const {
    return backend().open({folder_ / "model" / "model.onnx"}, {.cache_folder = folder_ / "cache"});
  }

  static float last_of_run(backends::Executable& executable) {
    const std::vector<Buffer> inputs{Tensor::zeros({.dtype = DType::f32, .dims = {kValues}})};
    std::vector<Buffer> outputs(1);
    executable.run(inputs, outputs, {.cancellation = base::Cancellation::never()});
    return backends::host_tensor(outputs[0]).values<float>().back();
  }

  fs::path folder_;
};

TEST_F(OnnxTruncated, WeightsThatAreCutOffAreAnErrorOfTheModel) {
  EXPECT_EQ(last_of_run(*open()), 3);
  fs::path weights;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "cache")) {
    if (entry.path().filename() == "weights.data") weights = entry.path();
  }
  ASSERT_FALSE(weights.empty()) << "the optimized model keeps its weights in itself";
  const auto broken = open();  // of the cache
  EXPECT_EQ(last_of_run(*broken), 3);
  fs::resize_file(weights, 4096);
  const Error error = error_of([&] { (void)last_of_run(*broken); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt) << error.message();
  EXPECT_NE(error.message().find("weights.data"), std::string::npos) << error.message();
  EXPECT_EQ(last_of_run(*open()), 3) << "made anew";
}

// Hugging Face's cache has files of a model behind links to its blobs.
TEST_F(OnnxTruncated, WeightsBehindALinkAreWatchedToo) {
  EXPECT_EQ(last_of_run(*open()), 3);
  const fs::path snapshot = folder_ / "snapshots/0123", blobs = folder_ / "blobs";
  fs::create_directories(snapshot);
  fs::create_directories(blobs);
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "cache")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string();  // model.onnx, weights.data
    fs::copy_file(entry.path(), blobs / name);
    fs::create_symlink(fs::path("../../blobs") / name, snapshot / name);
  }
  ASSERT_TRUE(fs::exists(snapshot / "weights.data"));
  const auto broken = backend().open({snapshot / "model.onnx"}, {});
  EXPECT_EQ(last_of_run(*broken), 3);
  fs::resize_file(blobs / "weights.data", 4096);
  EXPECT_EQ(error_of([&] { (void)last_of_run(*broken); }).code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate
