// Against tests/golden/half.txt, which record_half.py wrote with numpy and ml_dtypes; the input sets and the hash are
// described there.
#include "tensor/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate::tensor {
namespace {

struct Recorded {
  std::size_t count = 0;
  std::string hash;
};

struct Golden {
  std::map<std::string, Recorded> hashes;
  std::map<std::string, std::vector<std::pair<std::uint32_t, std::uint32_t>>> cases;
};

const Golden& golden() {
  static const Golden recorded = [] {
    Golden read;
    std::ifstream file(source_folder() / "tests/golden/half.txt");
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string first, second;
      words >> first >> second;
      if (first == "case") {
        std::uint32_t input = 0, output = 0;
        words >> std::hex >> input >> output;
        read.cases[second].emplace_back(input, output);
      } else {
        std::string hash;
        words >> hash;
        read.hashes[first] = {std::stoul(second), hash};
      }
    }
    return read;
  }();
  return recorded;
}

template <typename Pattern>
std::string fnv1a(const std::vector<Pattern>& patterns) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const Pattern pattern : patterns) {
    for (std::size_t byte = 0; byte < sizeof(Pattern); ++byte) {
      hash = (hash ^ ((pattern >> (8 * byte)) & 0xff)) * 0x100000001b3ULL;
    }
  }
  std::ostringstream text;
  text.width(16);
  text.fill('0');
  text << std::hex << hash;
  return text.str();
}

// One small type: its pattern, its conversions and what the golden puts for NaN.
template <typename Bits>
struct Type {
  std::string name;
  SmallFloat format;
  Bits nan;
  float (*to_float)(Bits);
  Bits (*from_float)(float);
  Bits (*from_double)(double);
  void (*span_to_float)(std::span<const Bits>, std::span<float>);
  void (*span_from_float)(std::span<const float>, std::span<Bits>);

  bool is_nan(Bits bits) const {
    const std::uint32_t magnitude = bits & ((1U << format.sign_shift()) - 1);
    return format.has_infinity() ? magnitude > format.infinity() : magnitude == format.nan();
  }
};

using Half = Type<std::uint16_t>;
using Byte = Type<std::uint8_t>;

const Half kHalf{"f16", kF16, 0x7e00, f16_to_float, float_to_f16, double_to_f16, f16_to_float, float_to_f16};
const Half kBrain{"bf16", kBf16, 0x7fc0, bf16_to_float, float_to_bf16, double_to_bf16, bf16_to_float, float_to_bf16};
const Byte kE5m2{"f8e5m2",         kF8e5m2,         0x7e,           f8e5m2_to_float, float_to_f8e5m2,
                 double_to_f8e5m2, f8e5m2_to_float, float_to_f8e5m2};
const Byte kE4m3{"f8e4m3fn",        kF8e4m3fn,        0x7f, f8e4m3fn_to_float, float_to_f8e4m3fn, double_to_f8e4m3fn,
                 f8e4m3fn_to_float, float_to_f8e4m3fn};

template <typename Check>
void for_each_type(const Check& check) {
  for (const Half& type : {kHalf, kBrain}) check(type);
  for (const Byte& type : {kE5m2, kE4m3}) check(type);
}

template <typename Bits>
std::vector<Bits> all_patterns() {
  std::vector<Bits> patterns;
  for (std::uint32_t i = 0; i <= std::numeric_limits<Bits>::max(); ++i) patterns.push_back(static_cast<Bits>(i));
  return patterns;
}

std::vector<float> strided() {
  std::vector<float> values;
  for (std::uint64_t i = 0; i < (1 << 20); ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(i * 4097)));
  return values;
}

// The midpoint above each finite pattern; above the largest, as if the exponents went on.
template <typename Bits>
std::vector<double> middles(const Type<Bits>& type) {
  std::vector<double> values;
  for (std::uint32_t i = 0; i < type.format.infinity(); ++i) values.push_back(type.to_float(static_cast<Bits>(i)));
  values.push_back(2 * values.back() - values[values.size() - 2]);
  std::vector<double> result;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) result.push_back((values[i] + values[i + 1]) / 2);
  return result;
}

template <typename Bits>
std::vector<float> midpoints(const Type<Bits>& type) {
  std::vector<float> values;
  for (const std::uint32_t sign : {0U, 0x80000000U}) {
    for (const double middle : middles(type)) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(middle));
      for (const std::uint32_t near : {bits - 1, bits, bits + 1}) values.push_back(std::bit_cast<float>(near | sign));
    }
  }
  return values;
}

void expect_recorded(const std::string& name, std::size_t count, const std::string& hash) {
  ASSERT_TRUE(golden().hashes.contains(name)) << name;
  EXPECT_EQ(count, golden().hashes.at(name).count) << name;
  EXPECT_EQ(hash, golden().hashes.at(name).hash) << name;
}

// The golden has one pattern for what a NaN becomes; here any NaN will do.
template <typename Bits>
Bits canonical(const Type<Bits>& type, double input, Bits output) {
  if (std::isnan(input) && type.is_nan(output)) return type.nan;
  return output;
}

TEST(Half, EveryPatternWidensLikeTheReference) {
  for_each_type([]<typename Bits>(const Type<Bits>& type) {
    const std::vector<Bits> patterns = all_patterns<Bits>();
    std::vector<float> wide(patterns.size());
    type.span_to_float(patterns, wide);
    std::vector<std::uint32_t> bits;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(type.to_float(patterns[i])));
      bits.push_back(std::isnan(wide[i]) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(wide[i]));
    }
    expect_recorded(type.name + "_to_float", bits.size(), fnv1a(bits));
  });
}

TEST(Half, FloatsRoundLikeTheReference) {
  for_each_type([]<typename Bits>(const Type<Bits>& type) {
    for (const auto& [input, output] : golden().cases.at("float_to_" + type.name)) {
      EXPECT_EQ(type.from_float(std::bit_cast<float>(input)), output)
          << type.name << " of pattern " << std::hex << input;
    }
    const std::map<std::string, std::vector<float>> sets = {{"_strided", strided()}, {"_midpoints", midpoints(type)}};
    for (const auto& [set, inputs] : sets) {
      std::vector<Bits> small(inputs.size());
      type.span_from_float(inputs, small);
      for (std::size_t i = 0; i < small.size(); ++i) {
        ASSERT_EQ(small[i], type.from_float(inputs[i]));
        small[i] = canonical(type, inputs[i], small[i]);
      }
      expect_recorded("float_to_" + type.name + set, small.size(), fnv1a(small));
    }
  });
}

TEST(Half, DoublesRoundOnceLikeTheReference) {
  std::vector<std::uint16_t> small;
  for (const float middle : midpoints(kHalf)) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(middle));
    for (const std::uint64_t near : {bits - 1, bits, bits + 1}) {
      const auto value = std::bit_cast<double>(near);
      small.push_back(canonical(kHalf, value, double_to_f16(value)));
    }
  }
  expect_recorded("double_to_f16_midpoints", small.size(), fnv1a(small));
}

// No reference rounds doubles to these types in one step, but the rule can be stated: next to a midpoint the nearer
// neighbour, on it the even one.
TEST(Half, DoublesNextToAMidpointGoToTheNearerNeighbour) {
  for_each_type([]<typename Bits>(const Type<Bits>& type) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::uint32_t below = 0;
    for (const double middle : middles(type)) {
      const std::uint32_t even = below + (below & 1);
      ASSERT_EQ(type.from_double(std::nextafter(middle, 0.0)), below) << type.name;
      ASSERT_EQ(type.from_double(middle), even) << type.name;
      ASSERT_EQ(type.from_double(std::nextafter(middle, kInfinity)), below + 1) << type.name;
      ASSERT_EQ(type.from_double(-middle), even | (1U << type.format.sign_shift())) << type.name;
      ++below;
    }
    EXPECT_EQ(below, type.format.infinity());
  });
}

TEST(Half, EveryFinitePatternComesBack) {
  for_each_type([]<typename Bits>(const Type<Bits>& type) {
    for (const Bits bits : all_patterns<Bits>()) {
      if (type.is_nan(bits)) continue;
      ASSERT_EQ(type.from_float(type.to_float(bits)), bits) << type.name;
      ASSERT_EQ(type.from_double(type.to_float(bits)), bits) << type.name;
    }
  });
}

TEST(Half, NanStaysNanAndKeepsItsSign) {
  for_each_type([]<typename Bits>(const Type<Bits>& type) {
    for (const Bits bits : all_patterns<Bits>()) {
      if (!type.is_nan(bits)) continue;
      ASSERT_TRUE(std::isnan(type.to_float(bits))) << type.name;
      ASSERT_EQ(std::signbit(type.to_float(bits)), (bits >> type.format.sign_shift()) != 0) << type.name;
    }
    // Payloads in every position, also those whose bits the small type drops.
    for (int bit = 0; bit < 23; ++bit) {
      for (const std::uint32_t sign : {0U, 0x80000000U}) {
        const auto nan = std::bit_cast<float>(sign | 0x7f800000U | (1U << bit));
        const Bits small = type.from_float(nan);
        ASSERT_TRUE(type.is_nan(small)) << type.name << " payload bit " << bit;
        ASSERT_EQ((small >> type.format.sign_shift()) != 0, sign != 0) << type.name;
      }
    }
    for (int bit = 0; bit < 52; ++bit) {
      const auto nan = std::bit_cast<double>(0x7ff0000000000000ULL | (std::uint64_t{1} << bit));
      ASSERT_TRUE(type.is_nan(type.from_double(nan))) << type.name << " payload bit " << bit;
    }
  });
}

TEST(Half, KnownValues) {
  EXPECT_EQ(float_to_f16(1.0F), 0x3c00);
  EXPECT_EQ(float_to_f16(65504.0F), 0x7bff);
  EXPECT_EQ(float_to_f16(65519.996F), 0x7bff);
  EXPECT_EQ(float_to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(float_to_f16(-1e30F), 0xfc00);
  EXPECT_EQ(float_to_f16(0x1p-24F), 0x0001);
  EXPECT_EQ(float_to_f16(0x1p-25F), 0x0000);
  EXPECT_EQ(float_to_f16(-0.0F), 0x8000);
  EXPECT_EQ(double_to_f16(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);  // by way of float it would be 0x3c00
  EXPECT_EQ(double_to_bf16(1.0 + 0x1p-8 + 0x1p-40), 0x3f81);  // by way of float it would be 0x3f80
  EXPECT_EQ(double_to_bf16(std::numeric_limits<double>::denorm_min()), 0x0000);
  EXPECT_EQ(float_to_bf16(3.4e38F), 0x7f80);
  EXPECT_EQ(float_to_f8e4m3fn(448.0F), 0x7e);
  EXPECT_EQ(float_to_f8e4m3fn(464.0F), 0x7e);
  EXPECT_EQ(float_to_f8e4m3fn(465.0F), 0x7f);
  EXPECT_EQ(float_to_f8e4m3fn(-std::numeric_limits<float>::infinity()), 0xff);
  EXPECT_EQ(float_to_f8e5m2(57344.0F), 0x7b);
  EXPECT_EQ(float_to_f8e5m2(61440.0F), 0x7c);
  EXPECT_EQ(f8e5m2_to_float(0x01), 0x1p-16F);
  EXPECT_EQ(f8e4m3fn_to_float(0x01), 0x1p-9F);
}

TEST(Half, SpansOfDifferentLengthsAreRefused) {
  std::vector<std::uint16_t> small(3);
  std::vector<float> wide(4);
  EXPECT_EQ(base::error_of([&] { f16_to_float(small, wide); }).code(), ErrorCode::internal);
  EXPECT_EQ(base::error_of([&] { float_to_bf16(wide, small); }).code(), ErrorCode::internal);
}

}  // namespace
}  // namespace alate::tensor
