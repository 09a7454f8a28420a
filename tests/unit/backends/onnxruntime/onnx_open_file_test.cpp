#include <gtest/gtest.h>

#include <fstream>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "backends/onnxruntime/executable.h"
#include "tests/unit/backends/onnxruntime/real_library.h"

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
    executable.run(inputs, outputs, {});
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
  executable->run(inputs, outputs, {});
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
  executable->run(inputs, outputs, {});
  EXPECT_EQ(y.values<float>()[2], kDense[2]);
  EXPECT_EQ(places.values<std::int64_t>()[7], 3);
  outputs[1] = Tensor::zeros(Shape{.dtype = DType::i64, .dims = {2, 5}});
  EXPECT_EQ(error_of([&] { executable->run(inputs, outputs, {}); }).code(), ErrorCode::invalid_argument);
}

TEST_F(OnnxFile, WrongInputsAreRefused) {
  const auto executable = open(golden("dense.onnx"));
  std::vector<Buffer> outputs(2);
  const auto run = [&](const Tensor& x) {
    const std::vector<Buffer> inputs{x};
    return error_of([&] { executable->run(inputs, outputs, {}); });
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
  executable->run(inputs, outputs, {});
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
  if (onnxruntime::Library::open(library_file())->minor_version() < 24) GTEST_SKIP() << "older ones do not look";
  EXPECT_EQ(refusal("outside.onnx").code(), ErrorCode::corrupt);
  EXPECT_EQ(refusal("missing_data.onnx").code(), ErrorCode::not_found);
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
