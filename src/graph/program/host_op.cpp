#include "graph/program/host_op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "alate/error.h"
#include "graph/op.h"
#include "graph/program/program.h"

namespace alate::graph {
namespace {

struct Row {
  HostOp op;
  std::string_view name;
  std::size_t operands;
};

constexpr Row kRows[] = {
#define ALATE_HOST_OP(name, operands, ...) {HostOp::name, #name, operands},
#include "graph/program/host_ops.def"
};

constexpr auto kOps = [] {
  std::array<HostOp, std::size(kRows)> ops{};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i] = kRows[i].op;
  return ops;
}();

// Types with elements of whole bytes that compare as numbers.
constexpr DTypeSet kCounted = kBool | set_of(DType::i8) | set_of(DType::i16) | set_of(DType::i32) | set_of(DType::i64) |
                              set_of(DType::u8) | set_of(DType::u16) | set_of(DType::u32) | set_of(DType::u64) |
                              set_of(DType::f32) | set_of(DType::f64);

void require(bool holds, HostOp op, std::string_view what) {
  if (!holds) throw make_error(ErrorCode::invalid_argument, to_string(op), ": ", what);
}

void require_counted(HostOp op, DType dtype) {
  require(
      contains(kCounted, dtype), op,
      "x has dtype " + std::string(alate::to_string(dtype)) + ": it takes bool, f32, f64 and integers of 8 to 64 bits");
}

// Calls `use` with the elements of a tensor of kCounted.
template <typename Use>
auto with_elements(const Tensor& x, const Use& use) {
  switch (x.dtype()) {
    case DType::boolean:
    case DType::u8: return use(std::span(reinterpret_cast<const std::uint8_t*>(x.bytes().data()), x.byte_count()));
    case DType::i8: return use(x.values<std::int8_t>());
    case DType::i16: return use(x.values<std::int16_t>());
    case DType::i32: return use(x.values<std::int32_t>());
    case DType::i64: return use(x.values<std::int64_t>());
    case DType::u16: return use(x.values<std::uint16_t>());
    case DType::u32: return use(x.values<std::uint32_t>());
    case DType::u64: return use(x.values<std::uint64_t>());
    case DType::f32: return use(x.values<float>());
    default: return use(x.values<double>());
  }
}

std::vector<std::int64_t> extents_of(const Tensor& x) {
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < x.shape().rank(); ++axis) extents.push_back(x.extent(axis));
  return extents;
}

std::vector<std::int64_t> integers_of(HostOp op, const Tensor& x) {
  if (x.dtype() == DType::i64) return {x.values<std::int64_t>().begin(), x.values<std::int64_t>().end()};
  require(x.dtype() == DType::i32, op, "places must be i32 or i64");
  return {x.values<std::int32_t>().begin(), x.values<std::int32_t>().end()};
}

Tensor sizes(const Tensor& x) {
  const std::vector<std::int64_t> extents = extents_of(x);
  return Tensor::from<std::int64_t>({static_cast<std::int64_t>(extents.size())},
                                    std::span<const std::int64_t>(extents));
}

Tensor nonzero(const Tensor& x) {
  const std::vector<std::int64_t> extents = extents_of(x);
  const std::vector<std::size_t> places = with_elements(x, [](auto elements) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (elements[i] != 0) found.push_back(i);
    }
    return found;
  });
  Tensor result = Tensor::uninitialized(
      {DType::i64, {static_cast<std::int64_t>(extents.size()), static_cast<std::int64_t>(places.size())}});
  const std::span<std::int64_t> to = result.mutable_values<std::int64_t>();
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::size_t left = places[i];
    for (std::size_t axis = extents.size(); axis-- > 0;) {
      to[axis * places.size() + i] = static_cast<std::int64_t>(left % static_cast<std::size_t>(extents[axis]));
      left /= static_cast<std::size_t>(extents[axis]);
    }
  }
  return result;
}

Tensor unique(const Tensor& x) {
  return with_elements(x, [&]<typename T>(std::span<const T> elements) {
    std::vector<T> sorted(elements.begin(), elements.end());
    // NaN is no number's neighbour: it goes behind all of them.
    const auto is_nan = [](T value) { return value != value; };
    const auto numbers_end = std::partition(sorted.begin(), sorted.end(), [&](T value) { return !is_nan(value); });
    const bool has_nan = numbers_end != sorted.end();
    std::sort(sorted.begin(), numbers_end);
    const auto end = std::unique(sorted.begin(), numbers_end);
    const T nan = has_nan ? *numbers_end : T{};
    sorted.erase(end, sorted.end());
    if (has_nan) sorted.push_back(nan);
    Tensor result = Tensor::uninitialized({x.dtype(), {static_cast<std::int64_t>(sorted.size())}});
    std::memcpy(result.mutable_bytes().data(), sorted.data(), sorted.size() * sizeof(T));
    return result;
  });
}

Tensor cut(const Tensor& x, const Tensor& from, const Tensor& to) {
  std::vector<std::int64_t> extents = extents_of(x), starts = integers_of(HostOp::cut, from),
                            limits = integers_of(HostOp::cut, to);
  require(starts.size() == extents.size() && limits.size() == extents.size(), HostOp::cut,
          "needs a start and a limit for each axis of x");
  require(bits_of(x.dtype()) % 8 == 0, HostOp::cut, "x has elements of less than a byte");
  Dims dims;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    starts[axis] = std::clamp<std::int64_t>(starts[axis], 0, extents[axis]);
    limits[axis] = std::clamp<std::int64_t>(limits[axis], starts[axis], extents[axis]);
    dims.emplace_back(limits[axis] - starts[axis]);
  }
  Tensor result = Tensor::uninitialized({x.dtype(), dims});
  if (result.byte_count() == 0) return result;
  const std::size_t size = bits_of(x.dtype()) / 8;
  if (extents.empty()) {
    std::memcpy(result.mutable_bytes().data(), x.bytes().data(), size);
    return result;
  }
  // Row by row along the last axis.
  const auto row = static_cast<std::size_t>(dims.back().number());
  const std::size_t rows = result.byte_count() / size / row;
  std::byte* out = result.mutable_bytes().data();
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t left = i, place = 0, stride = static_cast<std::size_t>(extents.back());
    for (std::size_t axis = extents.size() - 1; axis-- > 0;) {
      const auto count = static_cast<std::size_t>(dims[axis].number());
      place += (left % count + static_cast<std::size_t>(starts[axis])) * stride;
      left /= count;
      stride *= static_cast<std::size_t>(extents[axis]);
    }
    place += static_cast<std::size_t>(starts.back());
    std::memcpy(out + i * row * size, x.bytes().data() + place * size, row * size);
  }
  return result;
}

}  // namespace

std::string_view to_string(HostOp op) { return kRows[static_cast<std::size_t>(op)].name; }

std::optional<HostOp> parse_host_op(std::string_view name) {
  const auto* const found = std::ranges::find(kRows, name, &Row::name);
  return found == std::end(kRows) ? std::nullopt : std::optional(found->op);
}

std::span<const HostOp> all_host_ops() { return kOps; }

std::vector<ValueType> host_types(HostOp op, std::span<const ValueType> operands) {
  const std::size_t count = kRows[static_cast<std::size_t>(op)].operands;
  require(operands.size() == count, op, "takes " + std::to_string(count) + " operands");
  const ValueType& x = operands.front();
  const auto rank = static_cast<std::int64_t>(x.extents.size());
  switch (op) {
    case HostOp::sizes: return {{DType::i64, {rank}}};
    case HostOp::nonzero: require_counted(op, x.dtype); return {{DType::i64, {rank, ValueType::kAny}}};
    case HostOp::unique: require_counted(op, x.dtype); return {{x.dtype, {ValueType::kAny}}};
    case HostOp::cut:
      for (const ValueType& places : operands.subspan(1)) {
        const bool is_places = (places.dtype == DType::i64 || places.dtype == DType::i32) &&
                               ValueType{DType::i64, places.extents}.may_be({DType::i64, {rank}});
        require(is_places, op, "starts and limits must be i32 or i64 [" + std::to_string(rank) + "]");
      }
      require(bits_of(x.dtype) % 8 == 0 && bits_of(x.dtype) > 0, op, "x must have elements of whole bytes");
      return {{x.dtype, std::vector<std::int64_t>(x.extents.size(), ValueType::kAny)}};
  }
  return {};
}

std::vector<Tensor> run_host_op(HostOp op, std::span<const Tensor> operands) {
  std::vector<ValueType> types;
  for (const Tensor& operand : operands) types.push_back(type_of(operand.shape()));
  (void)host_types(op, types);  // throws for operands that the op does not take
  switch (op) {
    case HostOp::sizes: return {sizes(operands[0])};
    case HostOp::nonzero: return {nonzero(operands[0])};
    case HostOp::unique: return {unique(operands[0])};
    case HostOp::cut: return {cut(operands[0], operands[1], operands[2])};
  }
  return {};
}

}  // namespace alate::graph
