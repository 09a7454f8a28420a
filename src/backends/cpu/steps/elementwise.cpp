#include "backends/cpu/kernels/elementwise.h"

#include "alate/error.h"
#include "backends/cpu/steps/steps.h"
#include "tensor/element.h"

namespace alate::cpu {
namespace {

using graph::Op;

UnaryOp unary_of(Op op) {
  switch (op) {
    case Op::abs: return UnaryOp::abs;
    case Op::neg: return UnaryOp::negate;
    case Op::sign: return UnaryOp::sign;
    case Op::exp: return UnaryOp::exp;
    case Op::expm1: return UnaryOp::expm1;
    case Op::log: return UnaryOp::log;
    case Op::log1p: return UnaryOp::log1p;
    case Op::logistic: return UnaryOp::logistic;
    case Op::tanh: return UnaryOp::tanh;
    case Op::erf: return UnaryOp::erf;
    case Op::sqrt: return UnaryOp::sqrt;
    case Op::rsqrt: return UnaryOp::rsqrt;
    case Op::floor: return UnaryOp::floor;
    case Op::ceil: return UnaryOp::ceil;
    case Op::round_nearest_even: return UnaryOp::round_nearest_even;
    default: throw make_error(ErrorCode::internal, "no unary kernel for ", graph::to_string(op));
  }
}

BinaryOp binary_of(Op op) {
  switch (op) {
    case Op::add: return BinaryOp::add;
    case Op::sub: return BinaryOp::subtract;
    case Op::mul: return BinaryOp::multiply;
    case Op::div: return BinaryOp::divide;
    case Op::pow: return BinaryOp::power;
    case Op::max: return BinaryOp::maximum;
    case Op::min: return BinaryOp::minimum;
    default: throw make_error(ErrorCode::internal, "no binary kernel for ", graph::to_string(op));
  }
}

CompareOp compare_of(Op op) {
  switch (op) {
    case Op::equal: return CompareOp::equal;
    case Op::not_equal: return CompareOp::not_equal;
    case Op::less: return CompareOp::less;
    case Op::less_or_equal: return CompareOp::less_equal;
    case Op::greater: return CompareOp::greater;
    case Op::greater_or_equal: return CompareOp::greater_equal;
    default: throw make_error(ErrorCode::internal, "no comparison for ", graph::to_string(op));
  }
}

// A whole operand as one row.
template <typename T>
BroadcastOperand<T> whole(const Frame& frame, SlotId slot) {
  return {frame.in<T>(slot), 0, 1};
}

// Wraps as StableHLO's integers do.
template <typename T>
T integer(Op op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case Op::add: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    case Op::sub: return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
    case Op::mul: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    case Op::max: return a > b ? a : b;
    default: return a < b ? a : b;
  }
}

template <typename T>
void run_integer_as(const Step& step, const Frame& frame) {
  const T* a = frame.in<T>(step.inputs[0]);
  const T* b = frame.in<T>(step.inputs[1]);
  T* out = frame.out<T>(step.output);
  const std::size_t n = count_of(frame.shape(step.output));
  for (std::size_t i = 0; i < n; ++i) out[i] = integer(step.operation->op, a[i], b[i]);
}

template <typename T>
bool holds(CompareOp op, T a, T b) {
  switch (op) {
    case CompareOp::equal: return a == b;
    case CompareOp::not_equal: return a != b;
    case CompareOp::less: return a < b;
    case CompareOp::less_equal: return a <= b;
    case CompareOp::greater: return a > b;
    case CompareOp::greater_equal: return a >= b;
  }
  return false;
}

template <typename T>
void copy_selected(const std::uint8_t* condition, bool scalar_condition, const T* a, const T* b, T* out,
                   std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = condition[scalar_condition ? 0 : i] != 0 ? a[i] : b[i];
}

}  // namespace

void run_unary(const Step& step, const Frame& frame) {
  unary(unary_of(step.operation->op), frame.in<float>(step.inputs[0]), frame.out<float>(step.output),
        count_of(frame.shape(step.output)), frame.pool, frame.max_workers);
}

void run_binary(const Step& step, const Frame& frame) {
  binary(binary_of(step.operation->op), whole<float>(frame, step.inputs[0]), whole<float>(frame, step.inputs[1]),
         frame.out<float>(step.output), 1, count_of(frame.shape(step.output)), frame.pool, frame.max_workers);
}

void run_integer(const Step& step, const Frame& frame) {
  if (frame.shape(step.output).dtype == DType::i32) return run_integer_as<std::int32_t>(step, frame);
  run_integer_as<std::int64_t>(step, frame);
}

void run_logical(const Step& step, const Frame& frame) {
  const auto* a = frame.in<std::uint8_t>(step.inputs[0]);
  const auto* b = frame.in<std::uint8_t>(step.inputs.back());
  auto* out = frame.out<std::uint8_t>(step.output);
  const std::size_t n = count_of(frame.shape(step.output));
  switch (step.operation->op) {
    case Op::logical_not:
      for (std::size_t i = 0; i < n; ++i) out[i] = a[i] == 0;
      return;
    case Op::logical_and:
      for (std::size_t i = 0; i < n; ++i) out[i] = (a[i] != 0) & (b[i] != 0);
      return;
    default:
      for (std::size_t i = 0; i < n; ++i) out[i] = (a[i] != 0) | (b[i] != 0);
  }
}

void run_compare(const Step& step, const Frame& frame) {
  const CompareOp op = compare_of(step.operation->op);
  auto* out = frame.out<std::uint8_t>(step.output);
  const std::size_t n = count_of(frame.shape(step.output));
  const auto compared = [&]<typename T>(T) {
    compare(op, whole<T>(frame, step.inputs[0]), whole<T>(frame, step.inputs[1]), out, 1, n, frame.pool,
            frame.max_workers);
  };
  switch (frame.shape(step.inputs[0]).dtype) {
    case DType::f32: return compared(float{});
    case DType::i32: return compared(std::int32_t{});
    case DType::boolean: return compared(std::uint8_t{});
    default: break;
  }
  const auto* a = frame.in<std::int64_t>(step.inputs[0]);
  const auto* b = frame.in<std::int64_t>(step.inputs[1]);
  for (std::size_t i = 0; i < n; ++i) out[i] = holds(op, a[i], b[i]);
}

void run_select(const Step& step, const Frame& frame) {
  const bool scalar = frame.shape(step.inputs[0]).rank() == 0;
  const auto* condition = frame.in<std::uint8_t>(step.inputs[0]);
  const std::size_t n = count_of(frame.shape(step.output));
  const auto selected = [&]<typename T>(T) {
    copy_selected(condition, scalar, frame.in<T>(step.inputs[1]), frame.in<T>(step.inputs[2]),
                  frame.out<T>(step.output), n);
  };
  switch (bits_of(frame.shape(step.output).dtype)) {
    case 8: return selected(std::uint8_t{});
    case 16: return selected(std::uint16_t{});
    case 32:
      return select({condition, 0, scalar ? 0u : 1u}, whole<std::uint32_t>(frame, step.inputs[1]),
                    whole<std::uint32_t>(frame, step.inputs[2]), frame.out<std::uint32_t>(step.output), 1, n,
                    frame.pool, frame.max_workers);
    default: return selected(std::uint64_t{});
  }
}

void run_convert(const Step& step, const Frame& frame) {
  const DType from = frame.shape(step.inputs[0]).dtype, to = frame.shape(step.output).dtype;
  const std::size_t n = count_of(frame.shape(step.output));
  const std::byte* in = frame.in<std::byte>(step.inputs[0]);
  std::byte* out = frame.out<std::byte>(step.output);
  if (is_integer(from) && is_integer(to)) {
    tensor::convert_integers(from, in, to, out, n);
    return;
  }
  const std::size_t in_bytes = bytes_for(from, 1), out_bytes = bytes_for(to, 1);
  for (std::size_t i = 0; i < n; ++i)
    tensor::store_double(to, tensor::load_double(from, in + i * in_bytes), out + i * out_bytes);
}

void run_activation(const Step& step, const Frame& frame) {
  Activation activation = Activation::silu;
  if (step.operation->op == Op::gelu)
    activation =
        std::get<graph::Gelu>(step.attributes).tanh_approximation ? Activation::gelu_tanh : Activation::gelu_erf;
  const std::size_t n = count_of(frame.shape(step.output));
  const float* in = frame.in<float>(step.inputs[0]);
  float* out = frame.out<float>(step.output);
  std::copy(in, in + n, out);
  apply_activation(activation, out, n, frame.pool, frame.max_workers);
}

}  // namespace alate::cpu
