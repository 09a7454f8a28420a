#include "tests/conformance/cases/values.h"

#include <cmath>
#include <limits>
#include <random>

#include "alate/error.h"
#include "tests/conformance/cases/elements.h"
#include "tests/conformance/cases/sequences.h"

namespace alate::conformance {
namespace {

using Random = std::mt19937_64;

// std::uniform_*_distribution differs between standard libraries; these do not.
double between(Random& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}
std::int64_t integer_between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

struct FloatRange {
  double smallest, smallest_normal, largest;  // magnitudes above 0
};
FloatRange range_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return {0x1p-24, 0x1p-14, 65504};
    case DType::bf16: return {0x1p-133, 0x1p-126, 0x1.FEp127};
    case DType::f32:
    case DType::c64: return {0x1p-149, 0x1p-126, 0x1.FFFFFEp127};
    default: return {0x1p-1074, 0x1p-1022, std::numeric_limits<double>::max()};
  }
}

std::vector<double> float_edges(DType dtype) {
  const auto [smallest, normal, largest] = range_of(dtype);
  const double infinity = std::numeric_limits<double>::infinity();
  const double next_to_one = 1 + std::ldexp(1.0, -fraction_bits(dtype));
  return {std::nan(""), infinity, -infinity, 0.0, -0.0, smallest, -smallest,   normal, -normal, largest, -largest, 1,
          -1,           0.5,      -0.5,      1.5, -1.5, 2.5,      next_to_one, 3,      -2,      40};
}

struct IntegerRange {
  std::uint64_t low, high;
};
IntegerRange range_of_integers(DType dtype) {
  const std::size_t bits = bits_of(dtype);
  if (dtype == DType::boolean) return {0, 1};
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  if (!is_signed_integer(dtype)) return {0, all};
  return {~(all >> 1), all >> 1};  // low as a negative word
}

std::vector<std::uint64_t> integer_edges(DType dtype) {
  const auto [low, high] = range_of_integers(dtype);
  if (dtype == DType::boolean) return {0, 1};
  return {low, high, 0, 1, low + 1, high - 1, is_signed_integer(dtype) ? ~std::uint64_t{0} : high / 2, 2, 3};
}

void set_number(Tensor& tensor, std::int64_t i, Random& random, double magnitude, bool positive) {
  const DType dtype = tensor.dtype();
  const double low = positive ? 0 : -magnitude;
  if (is_computed_float(dtype)) {
    set_float(tensor, i, between(random, low, magnitude));
  } else if (is_complex(dtype)) {
    const double real = between(random, low, magnitude);
    set_complex(tensor, i, {real, between(random, low, magnitude)});
  } else if (dtype == DType::boolean) {
    set_bits(tensor, i, random() & 1);
  } else {
    const auto most = static_cast<std::int64_t>(std::min<std::uint64_t>(range_of_integers(dtype).high, 100));
    const std::int64_t least = positive ? 1 : is_signed_integer(dtype) ? -most : 0;
    set_bits(tensor, i, static_cast<std::uint64_t>(integer_between(random, std::min(least, most), most)));
  }
}

void set_wide(Tensor& tensor, std::int64_t i, Random& random) {
  const DType dtype = tensor.dtype();
  const auto wide = [&] {
    const auto [smallest, normal, largest] = range_of(dtype);
    const double exponent = between(random, std::log2(smallest), std::log2(largest));
    return (random() & 1 ? -1 : 1) * std::min(std::exp2(exponent), largest);
  };
  if (is_computed_float(dtype)) {
    set_float(tensor, i, wide());
  } else if (is_complex(dtype)) {
    const double real = wide();
    set_complex(tensor, i, {real, wide()});
  } else {
    set_bits(tensor, i, dtype == DType::boolean ? random() & 1 : random());
  }
}

void set_edge(Tensor& tensor, std::int64_t i, std::size_t place, Random& random) {
  const DType dtype = tensor.dtype();
  const std::int64_t count = edge_count(dtype);
  std::int64_t which = i;
  for (std::size_t before = 0; before < place; ++before) which /= count;
  if (place > 0 && which >= count) return set_number(tensor, i, random, 3, false);
  which %= count;
  if (is_computed_float(dtype)) {
    set_float(tensor, i, float_edges(dtype)[static_cast<std::size_t>(which)]);
  } else if (is_complex(dtype)) {
    const std::vector<double> edges = float_edges(dtype);
    const auto size = static_cast<std::int64_t>(edges.size());
    set_complex(tensor, i,
                {edges[static_cast<std::size_t>(which % size)], edges[static_cast<std::size_t>(which / size)]});
  } else {
    set_bits(tensor, i, integer_edges(dtype)[static_cast<std::size_t>(which)]);
  }
}

void set_special(Tensor& tensor, std::int64_t i, Random& random) {
  constexpr double kSpecials[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(), -0.0, 0.0};
  set_number(tensor, i, random, 3, false);
  if (random() % 16 != 0) return;
  const double special = kSpecials[random() % std::size(kSpecials)];
  if (is_computed_float(tensor.dtype())) set_float(tensor, i, special);
  if (is_complex(tensor.dtype())) set_complex(tensor, i, {special, 1});
}

void set_whole(Tensor& tensor, std::int64_t i, std::int64_t value) {
  const DType dtype = tensor.dtype();
  if (is_computed_float(dtype)) {
    set_float(tensor, i, static_cast<double>(value));
  } else if (is_complex(dtype)) {
    set_complex(tensor, i, static_cast<double>(value));
  } else {
    set_bits(tensor, i, dtype == DType::boolean ? value & 1 : static_cast<std::uint64_t>(value));
  }
}

std::int64_t exact_value(DType dtype, Random& random) {
  if (dtype == DType::boolean || is_computed_float(dtype) || is_complex(dtype)) return integer_between(random, -8, 8);
  const auto most = static_cast<std::int64_t>(std::min<std::uint64_t>(range_of_integers(dtype).high, 8));
  return integer_between(random, is_signed_integer(dtype) ? -most : 0, most);
}

std::int64_t wild_value(DType dtype, std::int64_t limit, Random& random) {
  const auto [low, high] = range_of_integers(dtype);
  if (random() % 8 == 0) return static_cast<std::int64_t>(random() & 1 ? low : high);
  const std::int64_t value = integer_between(random, -limit - 1, 2 * limit + 1);
  return is_signed_integer(dtype) ? value : std::abs(value);
}

}  // namespace

std::int64_t edge_count(DType dtype) {
  const auto floats = static_cast<std::int64_t>(float_edges(dtype).size());
  if (is_computed_float(dtype)) return floats;
  return is_complex(dtype) ? floats * floats : static_cast<std::int64_t>(integer_edges(dtype).size());
}

Tensor values_of(const Case& subject, std::size_t place) {
  const auto& [name, limit] = subject.operands[place].values;
  if (is_sequence_kind(name)) return sequence_values(subject, place);
  Tensor tensor = Tensor::zeros(shape_at_run(subject.operands[place].shape));
  const DType dtype = tensor.dtype();
  Random random(subject.seed * 1000003 + place);
  const bool is_stored_only = graph::contains(graph::kStorageOnly, dtype);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    if (name == "bits" && is_complex(dtype)) {
      set_wide(tensor, i, random);
    } else if (is_stored_only || name == "bits") {
      set_bits(tensor, i, dtype == DType::boolean ? random() & 1 : random());
    } else if (name == "numbers") {
      set_number(tensor, i, random, 3, false);
    } else if (name == "units") {
      set_number(tensor, i, random, 1, false);
    } else if (name == "positive") {
      set_number(tensor, i, random, 4, true);
    } else if (name == "wide") {
      set_wide(tensor, i, random);
    } else if (name == "edges") {
      set_edge(tensor, i, place, random);
    } else if (name == "specials") {
      set_special(tensor, i, random);
    } else if (name == "exact") {
      set_whole(tensor, i, exact_value(dtype, random));
    } else if (name == "ones") {
      set_whole(tensor, i, 1);
    } else if (name == "signs") {
      const bool has_sign = !is_unsigned_integer(dtype) && dtype != DType::boolean;
      set_whole(tensor, i, has_sign && random() % 2 == 0 ? -1 : 1);
    } else if (name == "places") {
      set_whole(tensor, i, limit > 0 ? integer_between(random, 0, limit - 1) : 0);
    } else if (name == "wild") {
      set_whole(tensor, i, wild_value(dtype, limit, random));
    } else {
      throw make_error(ErrorCode::invalid_argument, "there are no values of the kind '", name, "'");
    }
  }
  return tensor;
}

}  // namespace alate::conformance
