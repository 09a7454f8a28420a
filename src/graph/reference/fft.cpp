#include <cmath>
#include <numbers>

#include "graph/reference/call.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"

namespace alate::graph {
namespace {

using Complex = std::complex<double>;
using Values = std::vector<Complex>;

// e to the power of ±2πi·k/n.
Complex root(std::size_t k, std::size_t n, double sign) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), sign * std::sin(angle)};
}

std::size_t smallest_factor(std::size_t n) {
  for (std::size_t factor = 2; factor * factor <= n; ++factor) {
    if (n % factor == 0) return factor;
  }
  return n;
}

// Σ x[j] · e^(±2πi·jk/n) for every k. A composite length is split by its smallest factor into interleaved parts, whose
// transforms are combined (Cooley and Tukey 1965); a prime length is summed directly.
Values transform(const Values& x, double sign) {
  const std::size_t n = x.size();
  if (n <= 1) return x;
  const std::size_t parts = smallest_factor(n), length = n / parts;
  std::vector<Values> transforms;
  for (std::size_t part = 0; part < parts; ++part) {
    Values every;
    for (std::size_t j = part; j < n; j += parts) every.push_back(x[j]);
    transforms.push_back(transform(every, sign));
  }
  Values roots;
  for (std::size_t k = 0; k < n; ++k) roots.push_back(root(k, n, sign));
  Values result(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t part = 0; part < parts; ++part) result[k] += transforms[part][k % length] * roots[part * k % n];
  }
  return result;
}

// Values of these extents; each row along `axis` is replaced by `change` of it, possibly of another length.
struct Spectrum {
  Values values;
  std::vector<std::int64_t> extents;

  template <typename Change>
  void change_rows(std::size_t axis, std::int64_t length, Change change) {
    const auto step = static_cast<std::size_t>(product(std::span(extents).subspan(axis + 1)));
    const auto blocks = static_cast<std::size_t>(product(std::span(extents).first(axis)));
    const auto from = static_cast<std::size_t>(extents[axis]), to = static_cast<std::size_t>(length);
    Values changed(blocks * to * step);
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t inner = 0; inner < step; ++inner) {
        Values row(from);
        for (std::size_t i = 0; i < from; ++i) row[i] = values[(block * from + i) * step + inner];
        row = change(std::move(row));
        for (std::size_t i = 0; i < to; ++i) changed[(block * to + i) * step + inner] = row[i];
      }
    }
    values = std::move(changed);
    extents[axis] = length;
  }
};

// The full spectrum of real values, whose second half mirrors the first. The imaginary parts of the first and (for an
// even length) the middle value, which are 0 for real values, are ignored.
Values mirrored(Values half, std::int64_t length) {
  const auto n = static_cast<std::size_t>(length);
  if (n == 0) return half;
  half[0] = half[0].real();
  if (n % 2 == 0) half[n / 2] = half[n / 2].real();
  half.resize(n);
  for (std::size_t i = n / 2 + 1; i < n; ++i) half[i] = std::conj(half[n - i]);
  return half;
}

}  // namespace

Tensor reference_fft(const ReferenceCall& call) {
  const auto& [kind, lengths] = call.as<Fft>();
  const Tensor& x = call.operand(0);
  const bool is_inverse = kind == FftKind::ifft || kind == FftKind::irfft;
  const double sign = is_inverse ? 1 : -1;
  const std::size_t last = x.rank() - 1, first = x.rank() - lengths.size();
  const auto transform_axis = [&](Spectrum& spectrum, std::size_t axis) {
    spectrum.change_rows(axis, spectrum.extents[axis], [&](const Values& row) { return transform(row, sign); });
  };

  Spectrum spectrum{{}, extents_of(x.shape())};
  if (kind == FftKind::rfft) {
    const std::vector<double> values = load_floats(x);
    spectrum.values.assign(values.begin(), values.end());
    spectrum.change_rows(last, lengths.back() == 0 ? 0 : lengths.back() / 2 + 1, [&](const Values& row) {
      return transform(row, sign);  // only the first half is kept
    });
  } else {
    spectrum.values = load_complex(x);
    if (kind != FftKind::irfft) transform_axis(spectrum, last);
  }
  for (std::size_t axis = first; axis < last; ++axis) transform_axis(spectrum, axis);
  if (kind == FftKind::irfft) {
    spectrum.change_rows(last, lengths.back(), [&](Values row) { return mirrored(std::move(row), lengths.back()); });
    transform_axis(spectrum, last);
  }
  if (is_inverse) {
    for (Complex& value : spectrum.values) value /= static_cast<double>(product(lengths));
  }
  if (kind != FftKind::irfft) return store_complex(call.shape(), spectrum.values);
  std::vector<double> values;
  for (const Complex& value : spectrum.values) values.push_back(value.real());
  return store_floats(call.shape(), values);
}

}  // namespace alate::graph
