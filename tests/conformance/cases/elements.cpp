#include "tests/conformance/cases/elements.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tensor/element.h"

namespace alate::conformance {
namespace {

template <typename Part>
std::complex<double> load_complex(const std::byte* from) {
  Part parts[2];
  std::memcpy(parts, from, sizeof parts);
  return {static_cast<double>(parts[0]), static_cast<double>(parts[1])};
}

template <typename Part>
void store_complex(std::byte* to, std::complex<double> value) {
  const Part parts[2] = {static_cast<Part>(value.real()), static_cast<Part>(value.imag())};
  std::memcpy(to, parts, sizeof parts);
}

std::string print_double(double value, int fraction) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", fraction > 23 ? 17 : 9, value);
  return text;
}

}  // namespace

bool is_computed_float(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::f64;
}

std::uint64_t bits_at(const Tensor& tensor, std::int64_t i) {
  const auto bits = static_cast<std::int64_t>(bits_of(tensor.dtype()));
  const std::byte* bytes = tensor.bytes().data();
  std::uint64_t found = 0;
  if (bits < 8) {
    const std::uint64_t byte = static_cast<std::uint8_t>(bytes[i * bits / 8]);
    return (byte >> (i * bits % 8)) & ((std::uint64_t{1} << bits) - 1);
  }
  std::memcpy(&found, bytes + i * (bits / 8), static_cast<std::size_t>(bits / 8));
  return found;
}

void set_bits(Tensor& tensor, std::int64_t i, std::uint64_t value) {
  const auto bits = static_cast<std::int64_t>(bits_of(tensor.dtype()));
  std::byte* bytes = tensor.mutable_bytes().data();
  if (bits < 8) {
    const auto shift = static_cast<unsigned>(i * bits % 8);
    const unsigned mask = ((1U << bits) - 1U) << shift;
    std::byte& byte = bytes[i * bits / 8];
    const unsigned kept = static_cast<std::uint8_t>(byte) & ~mask;
    byte = static_cast<std::byte>(kept | ((static_cast<unsigned>(value) << shift) & mask));
    return;
  }
  std::memcpy(bytes + i * (bits / 8), &value, static_cast<std::size_t>(bits / 8));
}

double float_at(const Tensor& tensor, std::int64_t i) {
  const auto size = static_cast<std::int64_t>(bits_of(tensor.dtype()) / 8);
  return tensor::load_double(tensor.dtype(), tensor.bytes().data() + i * size);
}

void set_float(Tensor& tensor, std::int64_t i, double value) {
  const auto size = static_cast<std::int64_t>(bits_of(tensor.dtype()) / 8);
  tensor::store_double(tensor.dtype(), value, tensor.mutable_bytes().data() + i * size);
}

std::complex<double> complex_at(const Tensor& tensor, std::int64_t i) {
  const std::byte* bytes = tensor.bytes().data();
  return tensor.dtype() == DType::c64 ? load_complex<float>(bytes + i * 8) : load_complex<double>(bytes + i * 16);
}

void set_complex(Tensor& tensor, std::int64_t i, std::complex<double> value) {
  std::byte* bytes = tensor.mutable_bytes().data();
  if (tensor.dtype() == DType::c64) {
    store_complex<float>(bytes + i * 8, value);
  } else {
    store_complex<double>(bytes + i * 16, value);
  }
}

bool is_small_nan(DType dtype, std::uint64_t bits) {
  if (!is_float(dtype) || bits_of(dtype) > 8) return false;
  const std::byte byte{static_cast<std::uint8_t>(bits)};
  return std::isnan(tensor::load_double(dtype, &byte));
}

Tensor flushed(const Tensor& tensor) {
  const double smallest = tensor.dtype() == DType::f16                                    ? 0x1p-14
                          : tensor.dtype() == DType::f64 || tensor.dtype() == DType::c128 ? 0x1p-1022
                                                                                          : 0x1p-126;
  const auto flush = [&](double x) { return std::abs(x) < smallest ? std::copysign(0.0, x) : x; };
  const auto is_same = [](double a, double b) { return a == b || std::isnan(a); };
  const bool is_pair = is_complex(tensor.dtype());
  if (!is_pair && !is_computed_float(tensor.dtype())) return tensor;
  Tensor result = tensor;
  bool is_copied = false;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::complex<double> x = is_pair ? complex_at(tensor, i) : float_at(tensor, i);
    const std::complex<double> y(flush(x.real()), flush(x.imag()));
    if (is_same(x.real(), y.real()) && is_same(x.imag(), y.imag())) continue;
    if (!is_copied) {
      result = Tensor::uninitialized(tensor.shape());
      std::ranges::copy(tensor.bytes(), result.mutable_bytes().begin());
      is_copied = true;
    }
    if (is_pair) {
      set_complex(result, i, y);
    } else {
      set_float(result, i, y.real());
    }
  }
  return result;
}

std::string print_at(const Tensor& tensor, std::int64_t i) {
  const DType dtype = tensor.dtype();
  if (is_computed_float(dtype)) return print_double(float_at(tensor, i), fraction_bits(dtype));
  if (is_complex(dtype)) {
    const std::complex<double> value = complex_at(tensor, i);
    return "(" + print_double(value.real(), fraction_bits(dtype)) + ", " +
           print_double(value.imag(), fraction_bits(dtype)) + ")";
  }
  const std::uint64_t bits = bits_at(tensor, i);
  if (!is_signed_integer(dtype)) return std::to_string(bits);
  const auto unused = static_cast<unsigned>(64 - bits_of(dtype));
  return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
}

int fraction_bits(DType dtype) {
  switch (dtype) {
    case DType::f16: return 10;
    case DType::bf16: return 7;
    case DType::f32:
    case DType::c64: return 23;
    default: return 52;
  }
}

}  // namespace alate::conformance
