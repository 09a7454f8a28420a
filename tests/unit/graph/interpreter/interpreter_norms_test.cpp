// Normalizations and rotary embeddings against torch and transformers.
#include <cmath>
#include <limits>

#include "tests/unit/graph/golden_ops.h"

namespace alate::graph {
namespace {

// The script's operand 4 as variances: |x| + 0.5.
Tensor variances(const Numbers& extents) {
  Tensor tensor = golden_operand(4, extents);
  for (double& value : tensor.mutable_values<double>()) value = std::abs(value) + 0.5;
  return tensor;
}

std::vector<Tensor> run_all(Op op, const std::vector<Tensor>& operands, Attributes attributes) {
  std::vector<Shape> shapes;
  for (const Tensor& operand : operands) shapes.push_back(operand.shape());
  return interpret(graph_of(op, shapes, std::move(attributes)), operands, base::Cancellation::never());
}

Numbers row_of(const GoldenOp& golden) {
  return {golden.numbers("x").at(static_cast<std::size_t>(golden.number("axis")))};
}

TEST(Interpreter, NormalizesBatchesLikeTorch) {
  for (const GoldenOp& golden : golden_ops("batch_norm_inference")) {
    const Numbers extents = golden.numbers("x"), row = row_of(golden);
    const Tensor found = run_op(Op::batch_norm_inference,
                                {golden_operand(0, extents), golden_operand(1, row), golden_operand(2, row),
                                 golden_operand(3, row), variances(row)},
                                BatchNorm{0.01, golden.number("axis")});
    expect_golden(found, golden.values("values"), golden.line);
  }
}

TEST(Interpreter, TrainsBatchNormLikeTorch) {
  for (const GoldenOp& golden : golden_ops("batch_norm")) {
    const Numbers extents = golden.numbers("x"), row = row_of(golden);
    const BatchNorm norm{0.01, golden.number("axis")};
    const Tensor x = golden_operand(0, extents), scale = golden_operand(1, row);
    const std::vector<Tensor> forward = run_all(Op::batch_norm_training, {x, scale, golden_operand(2, row)}, norm);
    expect_golden(forward[0], golden.values("values"), golden.line);
    expect_golden(forward[1], golden.values("mean"), golden.line);
    expect_golden(forward[2], golden.values("variance"), golden.line);
    const std::vector<Tensor> gradient =
        run_all(Op::batch_norm_gradient, {x, scale, forward[1], forward[2], golden_operand(4, extents)}, norm);
    expect_golden(gradient[0], golden.values("of_x"), golden.line);
    expect_golden(gradient[1], golden.values("of_scale"), golden.line);
    expect_golden(gradient[2], golden.values("of_shift"), golden.line);
  }
}

// The mean of nothing is 0 / 0.
TEST(Interpreter, MeansOfEmptyBatchesAreNan) {
  const Tensor none = Tensor::zeros({DType::f32, {0, 2}}), two = Tensor::zeros({DType::f32, {2}});
  const std::vector<Tensor> found = run_all(Op::batch_norm_training, {none, two, two}, BatchNorm{1e-5, 1});
  EXPECT_EQ(found[0].element_count(), 0);
  EXPECT_TRUE(std::isnan(values_of<float>(found[1])[1]));
  const Tensor no_channels = Tensor::zeros({DType::f32, {2, 0}}), row = Tensor::zeros({DType::f32, {0}});
  EXPECT_EQ(run_all(Op::batch_norm_training, {no_channels, row, row}, BatchNorm{1e-5, 1})[1].element_count(), 0);
}

TEST(Interpreter, NormalizesGroupsLikeTorch) {
  for (const GoldenOp& golden : golden_ops("group_norm")) {
    const Numbers row = row_of(golden);
    const Tensor found =
        run_op(Op::group_norm, {golden_operand(0, golden.numbers("x")), golden_operand(1, row), golden_operand(2, row)},
               GroupNorm{golden.number("groups"), 0.01, golden.number("axis")});
    expect_golden(found, golden.values("values"), golden.line);
  }
}

TEST(Interpreter, NormalizesRowsLikeTorch) {
  for (const GoldenOp& golden : golden_ops("rms_norm")) {
    expect_golden(run_op(Op::rms_norm, {golden_operand(0, golden.numbers("x")), golden_operand(1, {5})}, Norm{0.01}),
                  golden.values("values"), golden.line);
  }
}

TEST(Interpreter, LogSoftmaxIsTorchs) {
  for (const GoldenOp& golden : golden_ops("log_softmax")) {
    Tensor x = golden_operand(0, golden.numbers("x"));
    for (double& value : x.mutable_values<double>()) value *= 100;
    expect_golden(run_op(Op::log_softmax, {x}, Axis{golden.number("axis")}), golden.values("values"), golden.line);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(values_of<double>(run_op(Op::log_softmax, {row<double>({-kInfinity, 2})}, Axis{0})),
            (std::vector<double>{-kInfinity, 0}));
}

struct Tables {
  Tensor cosines, sines;
};

Tables tables(std::int64_t half) {
  const Tensor angles = golden_operand(1, {7, half});
  Tables result{golden_operand(1, {7, half}), golden_operand(1, {7, half})};
  for (std::size_t i = 0; i < angles.values<double>().size(); ++i) {
    result.cosines.mutable_values<double>()[i] = std::cos(angles.values<double>()[i]);
    result.sines.mutable_values<double>()[i] = std::sin(angles.values<double>()[i]);
  }
  return result;
}

// Of positions 3, 0, 6, 6 and 1; places outside of the table are its ends.
TEST(Interpreter, TurnsLikeTransformers) {
  for (const GoldenOp& golden : golden_ops("rope")) {
    const auto [cosines, sines] = tables(golden.number("half"));
    const Tensor x = golden_operand(0, golden.numbers("x"));
    const bool interleaved = golden.number("interleaved") != 0;
    const Tensor positions = row<std::int32_t>({3, -2, 6, 1000, 1});
    expect_golden(run_op(Op::rope, {x, positions, cosines, sines}, Rope{true, interleaved}), golden.values("values"),
                  golden.line);
    const auto chosen = [&](const Tensor& table) {
      Gather rows{.offset_dims = {1},
                  .collapsed_slice_dims = {0},
                  .start_index_map = {0},
                  .index_vector_dim = 1,
                  .slice_sizes = {1, golden.number("half")}};
      return run_op(Op::gather, {table, positions}, std::move(rows));
    };
    expect_golden(run_op(Op::rope, {x, chosen(cosines), chosen(sines)}, Rope{false, interleaved}),
                  golden.values("values"), golden.line);
  }
}

TEST(Interpreter, TurnsOneTokenAndNone) {
  const Tensor x = Tensor::from<float>({1, 2}, {1, 2}), cosine = row<float>({0}), sine = row<float>({1});
  EXPECT_EQ(values_of<float>(run_op(Op::rope, {x, cosine, sine}, Rope{false, false})), (std::vector<float>{-2, 1}));
  const Tensor none = Tensor::zeros({DType::f32, {0, 3, 2}}), empty = Tensor::zeros({DType::f32, {0, 1}});
  EXPECT_EQ(run_op(Op::rope, {none, empty, empty}, Rope{false, true}).element_count(), 0);
  const Tensor no_pairs = Tensor::zeros({DType::f32, {0}});
  EXPECT_EQ(values_of<float>(run_op(Op::rope, {x, no_pairs, no_pairs}, Rope{false, true})), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace alate::graph
