#include "tests/unit/graph/example_graphs_windowed.h"

#include "tests/unit/graph/run_op.h"

namespace alate::graph {
namespace {

using tensor::EncodingKind;

const Dim kBatch = Dim::of_id(0);

// Parameters of these shapes, one op over them, and all of its results.
Graph example(Op op, const std::vector<Shape>& shapes, Attributes attributes) {
  Builder b(std::string(to_string(op)) + " of " + std::string(alate::to_string(shapes[0].dtype)));
  b.dim("batch", 0, 512);
  std::vector<Value> operands;
  for (const Shape& shape : shapes)
    operands.push_back(b.parameter("operand " + std::to_string(operands.size()), shape));
  for (const Value result : b.emit(op, operands, std::move(attributes)))
    b.output("result " + std::to_string(result.result), result);
  return b.finish();
}

void add_windows(std::vector<Graph>& graphs) {
  const Convolution image{.strides = {2, 1},
                          .padding_low = {1, 0},
                          .padding_high = {0, -1},
                          .lhs_dilation = {1, 2},
                          .rhs_dilation = {2, 1},
                          .input_batch = 0,
                          .input_feature = 3,
                          .input_spatial = {1, 2},
                          .kernel_input = 2,
                          .kernel_output = 3,
                          .kernel_spatial = {0, 1},
                          .output_batch = 0,
                          .output_feature = 1,
                          .output_spatial = {2, 3},
                          .feature_groups = 2,
                          .batch_groups = 1};
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32, DType::u8, DType::c64}) {
    graphs.push_back(example(Op::conv_general, {{dtype, {kBatch, 6, 5, 4}}, {dtype, {2, 3, 2, 6}}}, image));
    for (int number = 0; number <= static_cast<int>(Reduction::min); ++number) {
      const auto reduction = static_cast<Reduction>(number);
      if (dtype == DType::c64 && reduction >= Reduction::max) continue;
      graphs.push_back(example(Op::reduce_window, {{dtype, {kBatch, 5, 4}}},
                               Window{.reduction = reduction,
                                      .window_dimensions = {1, 2, 3},
                                      .strides = {1, 2, 1},
                                      .base_dilations = {1, 1, 2},
                                      .window_dilations = {1, 2, 1},
                                      .padding_low = {0, 1, 0},
                                      .padding_high = {0, 0, 1}}));
    }
    if (dtype == DType::c64) continue;
    for (const Op op : {Op::select_and_scatter_max, Op::select_and_scatter_min}) {
      graphs.push_back(
          example(op, {{dtype, {kBatch, 5}}, {dtype, {kBatch, 3}}}, SelectWindow{{1, 2}, {1, 2}, {0, 1}, {0, 0}}));
    }
  }
}

void add_transforms(std::vector<Graph>& graphs) {
  graphs.push_back(example(Op::fft, {{DType::c64, {kBatch, 3, 4}}}, Fft{FftKind::fft, {3, 4}}));
  graphs.push_back(example(Op::fft, {{DType::c128, {kBatch, 6}}}, Fft{FftKind::ifft, {6}}));
  graphs.push_back(example(Op::fft, {{DType::f32, {kBatch, 5}}}, Fft{FftKind::rfft, {5}}));
  graphs.push_back(example(Op::fft, {{DType::c64, {kBatch, 4}}}, Fft{FftKind::irfft, {6}}));
  graphs.push_back(
      example(Op::rng_bit_generator, {{DType::u64, {2}}}, RngBitGenerator{RngAlgorithm::threefry, DType::u32, {3, 5}}));
  graphs.push_back(
      example(Op::rng_bit_generator, {{DType::u64, {3}}}, RngBitGenerator{RngAlgorithm::philox, DType::u64, {7}}));
}

void add_norms(std::vector<Graph>& graphs, DType f) {
  const Shape x{f, {kBatch, 4, 3}}, row{f, {4}};
  graphs.push_back(example(Op::batch_norm_inference, {x, row, row, row, row}, BatchNorm{0.01, 1}));
  graphs.push_back(example(Op::batch_norm_training, {x, row, row}, BatchNorm{0.01, 1}));
  graphs.push_back(example(Op::batch_norm_gradient, {x, row, row, row, x}, BatchNorm{0.01, 1}));
  graphs.push_back(example(Op::group_norm, {x, row, row}, GroupNorm{2, 0.01, 1}));
  graphs.push_back(example(Op::group_norm, {{f, {2, 3, kBatch, 4}}, row, row}, GroupNorm{4, 0.01, 3}));
}

void add_rope(std::vector<Graph>& graphs, DType f) {
  const Shape x{f, {kBatch, 2, 6}}, positions{DType::i32, {kBatch}};
  for (const bool interleaved : {false, true}) {
    const Shape part{DType::f32, {5, 2}}, whole{f, {kBatch, 3}};
    if (f != DType::f64) graphs.push_back(example(Op::rope, {x, positions, part, part}, Rope{true, interleaved}));
    graphs.push_back(example(Op::rope, {x, whole, whole}, Rope{false, interleaved}));
  }
}

void add_quantized(std::vector<Graph>& graphs, DType f) {
  const Shape x{f, {kBatch, 4}}, bias{f, {6}}, indices{DType::i32, {kBatch}};
  const Shape integers{DType::i8, {6, 4}}, scales{DType::f32, {6, 2}}, zero_points{DType::i8, {6, 2}};
  graphs.push_back(
      example(Op::dequantize, {integers, scales, zero_points}, Dequantize{EncodingKind::linear, {1, 2}, true, f}));
  graphs.push_back(example(Op::quantized_dense, {x, integers, scales, zero_points, bias},
                           QuantizedDense{EncodingKind::linear, {1, 2}, true, true}));
  graphs.push_back(example(Op::quantized_dense, {x, {f, {4}}, integers, {DType::f32, {6, 1}}, bias},
                           QuantizedDense{EncodingKind::linear, {1, 0}, false, true, true, 2}));
  graphs.push_back(example(Op::quantized_embedding, {indices, integers, {f, {1, 2}}},
                           Dequantize{EncodingKind::linear, {0, 2}, false, f}));
  graphs.push_back(example(Op::quantized_embedding, {indices, integers, {DType::f32, {3, 4}}},
                           Dequantize{EncodingKind::linear, {2, 1}, false, f}));
  graphs.push_back(example(Op::quantized_dense, {x, {DType::u8, {6, 2}}, {DType::f32, {6, 1}}},
                           QuantizedDense{EncodingKind::nf4, {1, 64}, false, false}));
  for (int number = static_cast<int>(EncodingKind::q4_0); number <= static_cast<int>(tensor::kLastEncoding); ++number) {
    const auto kind = static_cast<EncodingKind>(number);
    const tensor::BlockSize block = tensor::block_size(kind);
    graphs.push_back(example(Op::dequantize, {{DType::u8, {kBatch, 2 * block.bytes}}}, Dequantize{kind, {}, false, f}));
    graphs.push_back(example(Op::quantized_dense, {{f, {kBatch, block.elements}}, {DType::u8, {2, block.bytes}}},
                             QuantizedDense{kind, {}, false, false}));
    graphs.push_back(
        example(Op::quantized_embedding, {indices, {DType::u8, {2, block.bytes}}}, Dequantize{kind, {}, false, f}));
  }
}

}  // namespace

void add_window_examples(std::vector<Graph>& graphs) {
  add_windows(graphs);
  add_transforms(graphs);
  for (const DType f : {DType::f32, DType::f16, DType::f64}) {
    add_norms(graphs, f);
    add_rope(graphs, f);
    add_quantized(graphs, f);
  }
}

std::vector<double> window_example_values(Op op, std::size_t operand) {
  const bool is_variance =
      (op == Op::batch_norm_inference && operand == 4) || (op == Op::batch_norm_gradient && operand == 3);
  if (is_variance) return {0.5, 2, 0.25, 1};
  return {};
}

}  // namespace alate::graph
