// Quantized encodings: their numbers, and products with them.
#include "graph/operands.h"
#include "tensor/encoding.h"
#include "tests/conformance/cases/cases.h"

namespace alate::conformance {
namespace {

using graph::Dims;
using graph::Numbers;
using tensor::EncodingKind;

constexpr int kLastKind = static_cast<int>(tensor::kLastEncoding);

// One way to store numbers of these dims: what is stored, scales and zero points.
struct Stored {
  EncodingKind kind;
  Numbers blocks;
  bool has_zero_points;
  std::vector<Operand> operands;
};

Dims scale_dims(const Dims& dims, const Numbers& blocks) {
  Dims scales;
  for (std::size_t i = 0; i < dims.size(); ++i)
    scales.emplace_back(blocks[i] == 0 ? 1 : (dims[i].number() + blocks[i] - 1) / blocks[i]);
  return scales;
}

Stored linear(DType dtype, const Dims& dims, const Numbers& blocks, bool has_zero_points, DType scale = DType::f32) {
  Stored stored{EncodingKind::linear, blocks, has_zero_points, {}};
  stored.operands.push_back({.shape = {dtype, dims}, .values = {"numbers"}});
  stored.operands.push_back({.shape = {scale, scale_dims(dims, blocks)}, .values = {"positive"}});
  if (has_zero_points) stored.operands.push_back({.shape = {dtype, scale_dims(dims, blocks)}, .values = {"exact"}});
  return stored;
}

// Of bytes; the last axis has `blocks` blocks.
Stored in_blocks(EncodingKind kind, Dims dims, std::int64_t blocks) {
  const auto size = tensor::block_size(kind);
  const std::int64_t elements = kind == EncodingKind::nf4 ? 64 : size.elements;
  dims.back() = blocks * elements;
  Stored stored{kind, {}, false, {}};
  Dims bytes = dims;
  bytes.back() = blocks * elements / size.elements * size.bytes;
  stored.operands.push_back({.shape = {DType::u8, bytes}, .values = {"bits"}});
  if (kind == EncodingKind::nf4) {
    stored.blocks = Numbers(dims.size(), 1);
    stored.blocks.back() = 32;
    stored.operands.push_back({.shape = {DType::f32, scale_dims(dims, stored.blocks)}, .values = {"positive"}});
  }
  return stored;
}

Case dequantize_case(const Form& form, const Stored& stored, DType dtype) {
  return {.op = form.op.op,
          .operands = stored.operands,
          .attributes = graph::Dequantize{stored.kind, stored.blocks, stored.has_zero_points, dtype}};
}

}  // namespace

Cases dequantize_cases(const Form& form) {
  Cases cases;
  for (const bool zero_points : {false, true}) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
      cases.push_back(dequantize_case(form, linear(form.dtype, {3, 8}, {0, 0}, zero_points), dtype));
      cases.push_back(dequantize_case(form, linear(form.dtype, {3, 8}, {1, 0}, zero_points, dtype), dtype));
    }
    for (const auto& [dims, blocks] : {std::pair<Dims, Numbers>{{4, 64}, {1, 32}},
                                       {{5, 7}, {2, 3}},
                                       {{0, 4}, {0, 1}},
                                       {{}, {}},
                                       {{33}, {0}},
                                       {{2, 3, 4}, {0, 1, 0}}})
      cases.push_back(dequantize_case(form, linear(form.dtype, dims, blocks, zero_points), DType::f32));
  }
  if (form.is_for_speed())
    cases.push_back(dequantize_case(form, linear(form.dtype, {4096, form.large / 4096}, {1, 32}, true), DType::f32));
  // The types of bytes belong to the dtype that stores bytes.
  for (int kind = static_cast<int>(EncodingKind::nf4); form.dtype == DType::u8 && kind <= kLastKind; ++kind) {
    for (const DType dtype : {DType::f32, DType::f16})
      cases.push_back(dequantize_case(form, in_blocks(static_cast<EncodingKind>(kind), {3, 1}, 2), dtype));
    cases.push_back(dequantize_case(form, in_blocks(static_cast<EncodingKind>(kind), {1}, 1), DType::f32));
    cases.push_back(dequantize_case(form, in_blocks(static_cast<EncodingKind>(kind), {2, 1}, 0), DType::f32));
  }
  return cases;
}

Cases quantized_dense_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const Dims& leading, std::int64_t in, std::int64_t out, const Stored& stored, bool has_bias) {
    Dims dims = leading;
    dims.push_back(in);
    Case subject{.op = form.op.op, .operands = operands_of(form.dtype, {dims}, {"units"})};
    subject.operands.insert(subject.operands.end(), stored.operands.begin(), stored.operands.end());
    if (has_bias) subject.operands.push_back({.shape = {form.dtype, {out}}});
    subject.attributes = graph::QuantizedDense{stored.kind, stored.blocks, stored.has_zero_points, has_bias};
    cases.push_back(subject);
  };
  for (const DType weight : {DType::i8, DType::u8, DType::i4, DType::u4}) {
    for (const bool zero_points : {false, true}) {
      add({3}, 8, 5, linear(weight, {5, 8}, {0, 0}, zero_points), zero_points);
      add({2, 3}, 64, 17, linear(weight, {17, 64}, {1, 32}, zero_points), !zero_points);
      add({1}, 33, 7, linear(weight, {7, 33}, {1, 0}, zero_points), true);
    }
  }
  // Activations in 8 bits, with and without smoothing.
  const auto rounded = [&](const Dims& leading, std::int64_t in, std::int64_t out, const Stored& stored, bool smoothing,
                           std::int64_t groups, std::int64_t rotation = 0) {
    add(leading, in, out, stored, true);
    auto& attributes = std::get<graph::QuantizedDense>(cases.back().attributes);
    auto operands = graph::QuantizedDenseOperands<Operand>::of(attributes, cases.back().operands);
    if (smoothing) operands.smoothing = {.shape = {form.dtype, {in}}};
    cases.back().operands = operands.list();
    attributes = operands.flagged(std::move(attributes));
    attributes.activation_groups = groups;
    attributes.rotation = rotation;
  };
  for (const bool smoothing : {false, true}) {
    rounded({3}, 8, 5, linear(DType::i8, {5, 8}, {1, 0}, false), smoothing, 1);
    rounded({2, 9}, 96, 70, linear(DType::i8, {70, 96}, {1, 0}, false), smoothing, 3);
    rounded({5}, 33, 7, linear(DType::i8, {7, 33}, {1, 0}, true), smoothing, 11);
    // Weights with a scale for each run of activations, as `alate quantize` stores them.
    rounded({3}, 8, 5, linear(DType::i8, {5, 8}, {1, 4}, false), smoothing, 2);
    rounded({2, 9}, 96, 70, linear(DType::i8, {70, 96}, {1, 48}, false), smoothing, 2);
    rounded({7}, 128, 33, linear(DType::i8, {33, 128}, {1, 32}, false), smoothing, 4);
    rounded({1}, 64, 6, in_blocks(EncodingKind::q8_0, {6, 1}, 2), smoothing, 2);
    // Rotated: as processors do it for themselves, in groups, and in lengths that they leave to others.
    rounded({5}, 128, 33, linear(DType::i8, {33, 128}, {1, 0}, false), smoothing, 1, 128);
    rounded({2, 3}, 768, 17, linear(DType::i8, {17, 768}, {1, 256}, false), smoothing, 3, 256);
    rounded({3}, 96, 7, linear(DType::i8, {7, 96}, {1, 0}, false), smoothing, 3, 32);
    rounded({3}, 64, 7, linear(DType::u8, {7, 64}, {1, 0}, true), smoothing, 0, 64);
  }
  rounded({0}, 8, 5, linear(DType::i8, {5, 8}, {1, 0}, false), true, 1);
  // Blocks with symmetric groups, as GGUF files are multiplied.
  for (int number = static_cast<int>(EncodingKind::q4_0); number <= kLastKind; ++number) {
    const auto kind = static_cast<EncodingKind>(number);
    const std::int64_t in = 2 * tensor::block_size(kind).elements;
    for (const std::int64_t rows : {1, 5}) {
      rounded({rows}, in, 19, in_blocks(kind, {19, 1}, 2), false, in / 32);
      std::get<graph::QuantizedDense>(cases.back().attributes).has_symmetric_groups = true;
    }
    add({3}, in, 19, in_blocks(kind, {19, 1}, 2), true);
  }
  if (form.is_for_speed()) {
    add({128}, 1024, 1024, linear(DType::i8, {1024, 1024}, {1, 32}, true), true);
    rounded({128}, 1024, 1024, linear(DType::i8, {1024, 1024}, {1, 0}, false), true, 1);
  }
  add({0}, 8, 5, linear(DType::i8, {5, 8}, {0, 0}, false), true);
  add({}, 8, 5, linear(DType::i8, {5, 8}, {0, 0}, false), true);
  add({4}, 64, 6, in_blocks(EncodingKind::nf4, {6, 1}, 1), true);
  add({4}, 64, 6, in_blocks(EncodingKind::q4_0, {6, 1}, 2), false);
  add({4}, 64, 6, in_blocks(EncodingKind::q8_0, {6, 1}, 2), false);
  return cases;
}

Cases quantized_embedding_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const Dims& indices, const Stored& stored, DType dtype) {
    Case subject{.op = form.op.op, .operands = operands_of(form.dtype, {indices}, {"wild", 6})};
    subject.operands.insert(subject.operands.end(), stored.operands.begin(), stored.operands.end());
    subject.attributes = graph::Dequantize{stored.kind, stored.blocks, stored.has_zero_points, dtype};
    cases.push_back(subject);
  };
  for (const bool zero_points : {false, true}) {
    add({9}, linear(DType::i8, {6, 8}, {1, 0}, zero_points), DType::f32);
    add({2, 3}, linear(DType::u4, {6, 8}, {0, 0}, zero_points), DType::f16);
  }
  add({0}, linear(DType::i8, {6, 8}, {1, 0}, false), DType::f32);
  add({}, linear(DType::i8, {6, 0}, {1, 0}, false), DType::f32);
  add({5}, in_blocks(EncodingKind::nf4, {6, 1}, 1), DType::f32);
  add({5}, in_blocks(EncodingKind::q8_0, {6, 1}, 1), DType::bf16);
  return cases;
}

}  // namespace alate::conformance
