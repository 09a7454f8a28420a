#include <gtest/gtest.h>

#include <fstream>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/onnxruntime/executable.h"
#include "tests/unit/backends/onnxruntime/real_library.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/exchange/onnx_messages.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using backends::Buffer;

class OnnxFile : public WithOnnxRuntime {
 protected:
  static std::unique_ptr<backends::Executable> open(const fs::path& path, const fs::path& cache = {}) {
    return backend().open({path}, {.cache_folder = cache});
  }
  static Error refusal(const char* name) {
    return error_of([&] { (void)open(golden(name)); });
  }
  // The file's y for x [[1, 0, 2]]; w is (0 … 11 - 5) / 4 in 3 rows, b is 1, -2, 3, -4.
  static std::vector<float> first_output(backends::Executable& executable) {
    const std::vector<Buffer> inputs{Tensor::from<float>({1, 3}, {1, 0, 2})};
    std::vector<Buffer> outputs(executable.outputs().size());
    executable.run(inputs, outputs, {.cancellation = base::Cancellation::never()});
    const std::span<const float> values = backends::host_tensor(outputs[0]).values<float>();
    return {values.begin(), values.end()};
  }
  static const std::vector<float> kProduct, kDense;
};

// Columns of row 0 and twice row 2: (-5 + 2·3) / 4, (-4 + 2·4) / 4, (-3 + 2·5) / 4, (-2 + 2·6) / 4.
const std::vector<float> OnnxFile::kProduct{0.25F, 1, 1.75F, 2.5F};
const std::vector<float> OnnxFile::kDense{1.25F, -1, 4.75F, -1.5F};

TEST_F(OnnxFile, PortsHaveTheFilesNamesAndDims) {
  const auto executable = open(golden("dense.onnx"));
  ASSERT_EQ(executable->inputs().size(), 1U);
  ASSERT_EQ(executable->outputs().size(), 2U);
  EXPECT_EQ(executable->inputs()[0].name, "x");
  EXPECT_EQ(executable->outputs()[1].name, "places");
  const auto& dims = dynamic_cast<const onnxruntime::OnnxExecutable&>(*executable).dims();
  EXPECT_EQ(dims.to_string(executable->inputs()[0].shape), "f32[batch,3]");
  EXPECT_EQ(dims.to_string(executable->outputs()[0].shape), "f32[batch,4]");
  EXPECT_EQ(dims.to_string(executable->outputs()[1].shape), "i64[2,places.1]");
  EXPECT_GT(executable->facts().weight_bytes, 0U);
}

TEST_F(OnnxFile, OutputsAreAsLargeAsTheRunMakesThem) {
  const auto executable = open(golden("dense.onnx"));
  EXPECT_EQ(first_output(*executable), kDense);
  // 0.8 · -1.25 + 1 is a zero, which `places` leaves out.
  const std::vector<Buffer> inputs{Tensor::from<float>({2, 3}, {0.8F, 0, 0, 1, 0, 2})};
  std::vector<Buffer> outputs(2);
  executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(to_string(outputs[0].shape()), "f32[2,4]");
  std::int64_t places = 0;
  for (const float value : backends::host_tensor(outputs[0]).values<float>()) places += value != 0 ? 1 : 0;
  EXPECT_EQ(outputs[1].shape().dims[1].number(), places);
}

TEST_F(OnnxFile, WritesIntoTheCallersBuffers) {
  const auto executable = open(golden("dense.onnx"));
  const std::vector<Buffer> inputs{Tensor::from<float>({1, 3}, {1, 0, 2})};
  Tensor y = Tensor::zeros(Shape{.dtype = DType::f32, .dims = {1, 4}});
  Tensor places = Tensor::zeros(Shape{.dtype = DType::i64, .dims = {2, 4}});
  std::vector<Buffer> outputs{y, places};
  executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(y.values<float>()[2], kDense[2]);
  EXPECT_EQ(places.values<std::int64_t>()[7], 3);
  outputs[1] = Tensor::zeros(Shape{.dtype = DType::i64, .dims = {2, 5}});
  EXPECT_EQ(error_of([&] { executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()}); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(OnnxFile, WrongInputsAreRefused) {
  const auto executable = open(golden("dense.onnx"));
  std::vector<Buffer> outputs(2);
  const auto run = [&](const Tensor& x) {
    const std::vector<Buffer> inputs{x};
    return error_of([&] { executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()}); });
  };
  EXPECT_EQ(run(Tensor::from<float>({1, 4}, {1, 2, 3, 4})).code(), ErrorCode::invalid_argument);
  const Error dtype = run(Tensor::from<double>({1, 3}, {1, 2, 3}));
  EXPECT_EQ(dtype.code(), ErrorCode::invalid_argument);
  EXPECT_NE(dtype.message().find("input 'x' is f64[1,3], but the model takes f32[batch,3]"), std::string::npos);
}

TEST_F(OnnxFile, ADimThatTheFileNamesWronglyRuns) {
  const auto executable = open(golden("other_dim.onnx"));
  const std::vector<Buffer> inputs{Tensor::from<float>({3}, {1, 2, 3})};
  std::vector<Buffer> outputs(1);
  executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(backends::host_tensor(outputs[0]).values<float>()[2], -3);
}

TEST_F(OnnxFile, ReadsTheWeightsBesideIt) { EXPECT_EQ(first_output(*open(golden("external.onnx"))), kProduct); }

TEST_F(OnnxFile, RefusalsSayWhatIsWrong) {
  EXPECT_EQ(refusal("nothing.onnx").code(), ErrorCode::not_found);
  EXPECT_EQ(refusal("").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("not_onnx.onnx").code(), ErrorCode::corrupt);
  EXPECT_EQ(refusal("cut_off.onnx").code(), ErrorCode::corrupt);
  const Error op = refusal("unknown_op.onnx");
  EXPECT_EQ(op.code(), ErrorCode::unsupported);
  EXPECT_NE(op.message().find("NoSuchOperator"), std::string::npos);
  const Error domain = refusal("unknown_domain.onnx");
  EXPECT_EQ(domain.code(), ErrorCode::unsupported);
  EXPECT_NE(domain.message().find("example.org:Thing"), std::string::npos);
  const Error opset = refusal("future_opset.onnx");
  EXPECT_EQ(opset.code(), ErrorCode::unsupported);
  EXPECT_NE(opset.message().find("999"), std::string::npos) << opset.message();
  const Error text = refusal("text.onnx");
  EXPECT_EQ(text.code(), ErrorCode::unsupported);
  EXPECT_NE(text.message().find("'words'"), std::string::npos) << text.message();
}

TEST_F(OnnxFile, WeightsAreReadFromTheFilesFolderOnly) {
  EXPECT_EQ(refusal("outside.onnx").code(), ErrorCode::corrupt);
  EXPECT_EQ(refusal("missing_data.onnx").code(), ErrorCode::not_found);
}

// ids [batch, length] become rows of the extents that `shape` says, whatever the output's type declares.
std::string lying_model(const std::vector<std::int64_t>& shape) {
  using namespace exchange;
  ProtobufWriter graph;
  graph.message(1, onnx_node("Cast", {"ids"}, "floats", {int_attribute("to", 1)}));
  graph.message(1, onnx_node("ReduceMax", {"floats"}, "most", {int_attribute("keepdims", 0)}));
  // No inference of shapes sees through this: extents times the number of rows and back again, and as many of them as
  // there are ones.
  graph.message(1, onnx_node("Shape", {"ids"}, "extents"));
  graph.message(1, onnx_node("Gather", {"extents", "first"}, "rows"));
  graph.message(1, onnx_node("Mul", {"shape", "rows"}, "larger"));
  graph.message(1, onnx_node("Div", {"larger", "rows"}, "same"));
  graph.message(1, onnx_node("Mul", {"ones", "rows"}, "places_of"));
  graph.message(1, onnx_node("NonZero", {"places_of"}, "places"));
  graph.message(1, onnx_node("Reshape", {"places", "all"}, "flat"));
  graph.message(1, onnx_node("Gather", {"same", "flat"}, "chosen"));
  graph.message(1, onnx_node("Expand", {"most", "chosen"}, "last_hidden_state"));
  graph.bytes(2, "lies");
  graph.message(5, i64_tensor("shape", shape));
  graph.message(5, i64_tensor("ones", std::vector<std::int64_t>(shape.size(), 1)));
  graph.message(5, i64_tensor("first", {0}));
  graph.message(5, i64_tensor("all", {-1}));
  graph.message(11, value_info("ids", 7, {-1, -1}, {"batch", "length"}));
  graph.message(12, value_info("last_hidden_state", 1, {-1, -1, 384}, {"batch", "length"}));
  return onnx_model(graph);
}

TEST_F(OnnxFile, WhatAFileDeclaresIsComparedWithWhatItComputes) {
  const base::TemporaryFolder folder;
  const auto run = [&](const std::vector<std::int64_t>& shape) {
    const auto executable = open(folder.write("model.onnx", lying_model(shape)));
    const std::vector<Buffer> inputs{Tensor::zeros({DType::i64, {2, 7}})};
    std::vector<Buffer> outputs(1);
    executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
    return outputs[0].shape();
  };
  EXPECT_EQ(to_string(run({2, 7, 384})), "f32[2,7,384]");
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {2, 7, 1}, {2, 1, 384}, {1, 1, 384}, {1, 1, 1}, {4, 7, 384}, {0, 7, 384}, {2, 7}, {1}, {2, 7, 384, 1}}) {
    const Error error = error_of([&] { (void)run(shape); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << error.message();
    EXPECT_NE(error.message().find("must be f32[2,7,384]"), std::string::npos) << error.message();
  }
}

TEST_F(OnnxFile, WeightsBehindALinkOutOfTheFolderAreNotRead) {
  const base::TemporaryFolder folder;
  folder.write("secret.data", std::string(64, 's'));
  fs::create_directory(folder.path() / "model");
  fs::copy_file(golden("external.onnx"), folder.path() / "model/external.onnx");
  fs::create_symlink("../secret.data", folder.path() / "model/external.data");
  const Error error = error_of([&] { (void)open(folder.path() / "model/external.onnx"); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.message().find("leads out"), std::string::npos) << error.message();
}

// As huggingface_hub lays its cache out.
TEST_F(OnnxFile, WeightsInTheHubsCacheAreRead) {
  const base::TemporaryFolder folder;
  const fs::path snapshot = folder.path() / "models--a--b/snapshots/0123", blobs = folder.path() / "models--a--b/blobs";
  fs::create_directories(snapshot);
  fs::create_directories(blobs);
  for (const char* name : {"external.onnx", "external.data"}) {
    fs::copy_file(golden(name), blobs / (std::string(name) + ".digest"));
    fs::create_symlink(fs::path("../../blobs") / (std::string(name) + ".digest"), snapshot / name);
  }
  EXPECT_EQ(first_output(*open(snapshot / "external.onnx")), kProduct);
}

TEST_F(OnnxFile, WhatIsOptimizedIsKeptAndMadeAnewWhenDamaged) {
  const fs::path cache = empty_folder();
  EXPECT_EQ(first_output(*open(golden("dense.onnx"), cache)), kDense);
  std::vector<fs::path> kept;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache / "onnx")) kept.push_back(entry.path());
  ASSERT_EQ(kept.size(), 1U);
  const fs::path model = kept[0] / "model.onnx";
  const fs::file_time_type made = fs::last_write_time(model);
  EXPECT_EQ(first_output(*open(golden("dense.onnx"), cache)), kDense);
  EXPECT_EQ(fs::last_write_time(model), made);

  const std::uintmax_t size = fs::file_size(model);
  fs::resize_file(model, size / 2);
  EXPECT_EQ(first_output(*open(golden("dense.onnx"), cache)), kDense);
  EXPECT_EQ(fs::file_size(model), size);

  std::fstream(model, std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<std::streamoff>(size / 2))
      << '?';
  EXPECT_EQ(first_output(*open(golden("dense.onnx"), cache)), kDense);
  EXPECT_EQ(std::distance(fs::directory_iterator(cache / "onnx"), fs::directory_iterator()), 1);
}

// Name, size and time are the same; a cache that goes by them computes the old weights.
TEST_F(OnnxFile, SwappedWeightsAreNotTakenForThoseThatWereOptimized) {
  const base::TemporaryFolder folder;
  const fs::path model = folder.path() / "external.onnx", data = folder.path() / "external.data";
  fs::copy_file(golden("external.onnx"), model);
  fs::copy_file(golden("external.data"), data);
  const fs::path cache = empty_folder();
  EXPECT_EQ(first_output(*open(model, cache)), kProduct);
  const fs::file_time_type time = fs::last_write_time(data);
  const std::uintmax_t size = fs::file_size(data);
  fs::rename(folder.write("new.data", std::string(size, '\0')), data);
  fs::last_write_time(data, time);
  EXPECT_EQ(first_output(*open(model, cache)), std::vector<float>(4, 0));
}

TEST_F(OnnxFile, AModelOfTheSameBytesIsOptimizedOnce) {
  const base::TemporaryFolder folder;
  fs::copy_file(golden("dense.onnx"), folder.path() / "copy.onnx");
  const fs::path cache = empty_folder();
  (void)open(golden("dense.onnx"), cache);
  (void)open(folder.path() / "copy.onnx", cache);
  EXPECT_EQ(std::distance(fs::directory_iterator(cache / "onnx"), fs::directory_iterator()), 1);
}

TEST_F(OnnxFile, OtherOptionsAreAnotherOptimizedModel) {
  const fs::path cache = empty_folder();
  (void)open(golden("dense.onnx"), cache);
  (void)backend().open({golden("dense.onnx")},
                       {.session_options = {{"graph_optimization_level", "basic"}}, .cache_folder = cache});
  (void)open(golden("external.onnx"), cache);
  EXPECT_EQ(std::distance(fs::directory_iterator(cache / "onnx"), fs::directory_iterator()), 3);
  EXPECT_EQ(first_output(*open(golden("external.onnx"), cache)), kProduct);
}

}  // namespace
}  // namespace alate
