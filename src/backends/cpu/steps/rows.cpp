// Steps that work on whole rows: norms, softmax, reductions, pooling.
#include <algorithm>

#include "alate/error.h"
#include "backends/cpu/kernels/moving/stream.h"
#include "backends/cpu/kernels/rows/softmax.h"
#include "backends/cpu/kernels/windows/pooling.h"
#include "backends/cpu/steps/norm_arguments.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

std::size_t width_of(const Shape& shape) { return extent_of(shape, shape.rank() - 1); }

void run_norm(const Step& step, const Frame& frame) {
  WidenedValues values(step, frame);
  normalize_rows(*step.operation->norm, norm_arguments(step, frame, values), frame.pool, frame.max_workers);
  values.finish();
}

Pooling pooling_of(graph::PoolMode mode) {
  switch (mode) {
    case graph::PoolMode::mean: return Pooling::mean;
    case graph::PoolMode::cls: return Pooling::cls;
    case graph::PoolMode::max: return Pooling::max;
    case graph::PoolMode::last: return Pooling::last;
    case graph::PoolMode::mean_sqrt_len: return Pooling::mean_sqrt_len;
    case graph::PoolMode::weighted_mean: return Pooling::weighted_mean;
  }
  throw Error(ErrorCode::internal, "unknown pool mode");
}

}  // namespace

std::size_t widened_halves_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return widened_step_bytes(step, binding);
}

void check_sequences(const std::int32_t* starts, const std::int32_t* lengths, std::size_t sequences,
                     std::size_t tokens) {
  for (std::size_t i = 0; i < sequences; ++i) {
    const std::int64_t start = starts[i], length = lengths[i];
    if (start < 0 || length < 0 || start + length > static_cast<std::int64_t>(tokens)) {
      throw make_error(ErrorCode::invalid_argument, "sequence ", i, " covers tokens ", start, " to ", start + length,
                       ", but there are ", tokens);
    }
  }
}

std::optional<std::size_t> row_sums_operand(const Step& step) {
  if (step.operation->norm != NormKind::layer) return std::nullopt;
  const std::size_t operands = graph::op_info(step.operation->op).max_operands;
  return step.inputs.size() > operands ? std::optional(operands) : std::nullopt;
}

NormArguments norm_arguments(const Step& step, const Frame& frame, WidenedValues& values) {
  const Shape& shape = frame.shape(step.output());
  NormArguments arguments;
  arguments.x = values.in(0);
  const NormKind kind = *step.operation->norm;
  if (kind != NormKind::l2) arguments.scale = values.in(1);
  if (kind == NormKind::layer) arguments.shift = values.in(2);
  if (const auto sums = row_sums_operand(step)) arguments.row_sums = frame.in<float>(step.inputs[*sums]);
  arguments.width = width_of(shape);
  arguments.rows = rows_of(shape);
  arguments.x_stride = shape.rank() == 2 ? frame.row_stride(step.inputs[0]) : arguments.width;
  arguments.epsilon = static_cast<float>(std::get<graph::Norm>(step.attributes).epsilon);
  if (is_rounded_result(step, frame.binding)) {
    arguments.halves = frame.out<std::uint16_t>(step.output());
  } else {
    arguments.out = values.out();
    arguments.out_stride = arguments.width;
    if (const auto rounded = step.epilogue.rounded) arguments.halves = frame.out<std::uint16_t>(step.outputs[*rounded]);
  }
  arguments.halves_stride = arguments.width;
  return arguments;
}

void run_layer_norm(const Step& step, const Frame& frame) { run_norm(step, frame); }
void run_normalize(const Step& step, const Frame& frame) { run_norm(step, frame); }
void run_rms_norm(const Step& step, const Frame& frame) { run_norm(step, frame); }

void run_softmax(const Step& step, const Frame& frame) {
  const Shape& shape = frame.shape(step.output());
  WidenedValues values(step, frame);
  SoftmaxArguments arguments;
  arguments.x = values.in(0);
  arguments.out = values.out();
  arguments.rows = rows_of(shape);
  arguments.width = arguments.x_stride = arguments.out_stride = width_of(shape);
  arguments.streams = shape.dtype == DType::f32 && shape.byte_count() >= kStreamedBytes;
  arguments.logarithm = step.operation->op == graph::Op::log_softmax;
  softmax_rows(arguments, frame.pool, frame.max_workers);
  values.finish();
}

void run_pool(const Step& step, const Frame& frame) {
  WidenedValues values(step, frame);
  PoolArguments arguments;
  arguments.x = values.in(0);
  arguments.starts = frame.in<std::int32_t>(step.inputs[1]);
  arguments.lengths = frame.in<std::int32_t>(step.inputs[2]);
  arguments.out = values.out();
  arguments.sequences = extent_of(frame.shape(step.output()), 0);
  arguments.width = arguments.x_stride = arguments.out_stride = extent_of(frame.shape(step.output()), 1);
  check_sequences(arguments.starts, arguments.lengths, arguments.sequences, extent_of(frame.shape(step.inputs[0]), 0));
  pool_tokens(pooling_of(std::get<graph::Pool>(step.attributes).mode), arguments, frame.pool, frame.max_workers);
  values.finish();
}

}  // namespace alate::cpu
