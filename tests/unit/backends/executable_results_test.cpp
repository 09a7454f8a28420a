// A backend's results are checked against the ports that it declared.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "backends/backend.h"
#include "tests/unit/base/expect_error.h"

namespace alate::backends {
namespace {

constexpr Dim kBatch = Dim::of_id(0), kLength = Dim::of_id(1), kOpen = Dim::of_id(2);

// Gives what it is told to give.
class Liar final : public Executable {
 public:
  Liar(std::vector<Port> inputs, std::vector<Port> outputs, std::vector<Buffer> results, bool is_file = true)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)), results_(std::move(results)), is_file_(is_file) {}
  std::span<const Port> inputs() const override { return inputs_; }
  std::span<const Port> outputs() const override { return outputs_; }
  ExecutableFacts facts() const override { return {}; }

 private:
  void compute(std::span<const Buffer>, std::span<Buffer> outputs, const RunOptions&) override {
    std::ranges::copy(results_, outputs.begin());
  }
  bool has_ports_of_a_file() const override { return is_file_; }

  std::vector<Port> inputs_, outputs_;
  std::vector<Buffer> results_;
  bool is_file_;
};

Buffer zeros(DType dtype, std::vector<Dim> dims) { return Tensor::zeros({dtype, std::move(dims)}); }

const std::vector<Port> kIds = {{"input_ids", {DType::i64, {kBatch, kLength}}},
                                {"attention_mask", {DType::i64, {kBatch, kLength}}}};

void run(Executable& executable, std::vector<Buffer> inputs) {
  std::vector<Buffer> outputs(executable.outputs().size());
  executable.run(inputs, outputs, {.cancellation = base::Cancellation::never()});
}

std::vector<Buffer> ids() { return {zeros(DType::i64, {2, 7}), zeros(DType::i64, {2, 7})}; }

// Declared as f32[batch,length,384] and fed with i64[2,7].
Error hidden_error(Buffer result, bool is_file = true) {
  Liar liar(kIds, {{"last_hidden_state", {DType::f32, {kBatch, kLength, 384}}}}, {std::move(result)}, is_file);
  return base::error_of([&] { run(liar, ids()); });
}

TEST(ExecutableResults, LyingExtentsAreRefused) {
  for (const std::vector<Dim>& dims : std::vector<std::vector<Dim>>{
           {2, 7, 383}, {2, 7, 1}, {2, 3, 384}, {1, 7, 384}, {0, 7, 384}, {7, 2, 384}, {2, 7, 384, 1}, {2, 7}, {}}) {
    const Error error = hidden_error(zeros(DType::f32, dims));
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    const std::string wanted =
        "output \"last_hidden_state\" is " + to_string(Shape{DType::f32, dims}) + " and must be f32[2,7,384]";
    EXPECT_NE(error.message().find(wanted), std::string::npos) << error.message();
  }
}

TEST(ExecutableResults, LyingTypesAreRefused) {
  for (const DType dtype : {DType::f16, DType::f64, DType::i8})
    EXPECT_EQ(hidden_error(zeros(dtype, {2, 7, 384})).code(), ErrorCode::corrupt);
}

TEST(ExecutableResults, NothingAtAllIsRefused) { EXPECT_EQ(hidden_error(Buffer()).code(), ErrorCode::corrupt); }

TEST(ExecutableResults, AnExtentWithoutANumberIsRefused) {
  EXPECT_EQ(hidden_error(Buffer({DType::f32, {2, Dim::of_id(5), 384}}, std::make_shared<int>(1))).code(),
            ErrorCode::corrupt);
}

TEST(ExecutableResults, ABackendThatDoesNotKeepToItsGraphIsAtFaultItself) {
  EXPECT_EQ(hidden_error(zeros(DType::f32, {2, 7, 383}), false).code(), ErrorCode::internal);
}

TEST(ExecutableResults, TheTruthPasses) {
  Liar honest(kIds, {{"last_hidden_state", {DType::f32, {kBatch, kLength, 384}}}}, {zeros(DType::f32, {2, 7, 384})});
  EXPECT_NO_THROW(run(honest, ids()));
  Liar on_device(kIds, {{"y", {DType::f32, {kBatch}}}}, {Buffer({DType::f32, {2}}, std::make_shared<int>(1))});
  EXPECT_NO_THROW(run(on_device, ids()));
}

TEST(ExecutableResults, DimsThatNoInputHasAreAnyNumber) {
  Liar places(kIds, {{"places", {DType::i64, {2, kOpen}}}}, {zeros(DType::i64, {2, 5})});
  EXPECT_NO_THROW(run(places, ids()));
  Liar none(kIds, {{"places", {DType::i64, {2, kOpen}}}}, {zeros(DType::i64, {2, 0})});
  EXPECT_NO_THROW(run(none, ids()));
  Liar other_rows(kIds, {{"places", {DType::i64, {2, kOpen}}}}, {zeros(DType::i64, {3, 0})});
  const Error error = base::error_of([&] { run(other_rows, ids()); });
  EXPECT_NE(error.message().find("must be i64[2,?]"), std::string::npos) << error.message();
}

// ONNX Runtime tells such a port and a scalar's apart in no way.
TEST(ExecutableResults, AFilesPortWithoutDimsMayHaveAnyRank) {
  Liar file(kIds, {{"y", {DType::f32, {}}}}, {zeros(DType::f32, {5, 6})});
  EXPECT_NO_THROW(run(file, ids()));
  Liar other_type(kIds, {{"y", {DType::f32, {}}}}, {zeros(DType::f64, {5, 6})});
  EXPECT_THROW(run(other_type, ids()), Error);
  Liar backend(kIds, {{"y", {DType::f32, {}}}}, {zeros(DType::f32, {5, 6})}, false);
  EXPECT_THROW(run(backend, ids()), Error);
}

// A file may give one name to dims that differ; its inputs are checked by its runtime.
TEST(ExecutableResults, ADimOfSeveralExtentsSaysNothing) {
  Liar file(kIds, {{"y", {DType::f32, {kBatch, kLength}}}}, {zeros(DType::f32, {2, 9})});
  EXPECT_NO_THROW(run(file, {zeros(DType::i64, {2, 7}), zeros(DType::i64, {2, 9})}));
  EXPECT_THROW(run(file, {zeros(DType::i64, {3, 7}), zeros(DType::i64, {3, 9})}), Error);
}

// More names than are kept without taking memory.
TEST(ExecutableResults, EveryNamedDimCounts) {
  Shape many{DType::f32, {}}, found{DType::f32, {}};
  for (int i = 0; i < 40; ++i) {
    many.dims.push_back(Dim::of_id(i));
    found.dims.emplace_back(i % 3 + 1);
  }
  Liar honest({{"x", many}}, {{"y", many}}, {zeros(DType::f32, {1})});
  Liar other({{"x", {DType::f32, many.dims}}}, {{"y", {DType::f32, {Dim::of_id(39)}}}}, {zeros(DType::f32, {2})});
  const Buffer x(found, std::make_shared<int>(1));
  EXPECT_THROW(run(honest, {x}), Error);
  EXPECT_THROW(run(other, {x}), Error);  // the last one is 39 % 3 + 1 = 1
  Liar right({{"x", {DType::f32, many.dims}}}, {{"y", {DType::f32, {Dim::of_id(38)}}}}, {zeros(DType::f32, {3})});
  EXPECT_NO_THROW(run(right, {x}));
}

TEST(ExecutableResults, LaterOutputsAreLookedAtToo) {
  Liar liar(kIds, {{"a", {DType::f32, {kBatch}}}, {"b", {DType::f32, {kBatch}}}},
            {zeros(DType::f32, {2}), zeros(DType::f32, {3})});
  EXPECT_NE(base::error_of([&] { run(liar, ids()); }).message().find("\"b\""), std::string::npos);
}

}  // namespace
}  // namespace alate::backends
