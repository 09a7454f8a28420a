// Against tests/golden/small_floats.txt, which record_small_floats.py wrote with ml_dtypes; the inputs are described
// there.
#include "tensor/small_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "tensor/element.h"
#include "tests/source_folder.h"

namespace alate::tensor {
namespace {

struct Recorded {
  std::vector<std::uint64_t> wide;  // of each pattern
  std::size_t count = 0;
  std::string hash;
};

std::map<std::string, Recorded> recorded() {
  std::map<std::string, Recorded> read;
  std::ifstream file(source_folder() / "tests/golden/small_floats.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind >> name;
    if (kind == "widen") {
      for (std::uint64_t bits = 0; words >> std::hex >> bits;) read[name].wide.push_back(bits);
    } else {
      words >> read[name].count >> read[name].hash;
    }
  }
  return read;
}

double widened(DType dtype, std::size_t pattern) {
  const auto byte = static_cast<std::byte>(pattern);
  return load_double(dtype, &byte);
}

std::uint8_t rounded(DType dtype, double value) {
  std::byte byte{};
  store_double(dtype, value, &byte);
  return std::to_integer<std::uint8_t>(byte);
}

std::vector<double> inputs(DType dtype, std::size_t patterns) {
  std::vector<double> doubles, values;
  for (std::uint64_t i = 0; i < (1 << 20); ++i)
    doubles.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(i * 4097)));
  for (std::size_t i = 0; i < patterns; ++i) {
    if (const double value = widened(dtype, i); std::isfinite(value)) values.push_back(std::fabs(value));
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  values.push_back(2 * values.back() - values[values.size() - 2]);
  for (const double sign : {1.0, -1.0}) {
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const auto middle = std::bit_cast<std::uint32_t>(static_cast<float>((values[i] + values[i + 1]) / 2));
      for (const std::uint32_t near : {middle - 1, middle, middle + 1})
        doubles.push_back(sign * std::bit_cast<float>(near));
    }
  }
  if (dtype == DType::f8e8m0fnu) {  // see the script
    std::ranges::replace_if(
        doubles, [](double x) { return x > 0x1p-127 && x < 0x1.8p-127; }, 1.0);
  }
  return doubles;
}

TEST(SmallFloat, WidensEveryPatternAndRoundsFloatsLikeMlDtypes) {
  const std::map<std::string, Recorded> golden = recorded();
  ASSERT_EQ(golden.size(), 7U);
  for (const auto& [name, expected] : golden) {
    const DType dtype = parse_dtype(name).value();
    for (std::size_t i = 0; i < expected.wide.size(); ++i) {
      const double value = widened(dtype, i);
      EXPECT_EQ(std::isnan(value) ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(value), expected.wide[i])
          << name << " pattern " << i;
    }
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    const std::vector<double> doubles = inputs(dtype, expected.wide.size());
    EXPECT_EQ(doubles.size(), expected.count) << name;
    for (const double value : doubles) hash = (hash ^ rounded(dtype, value)) * 0x100000001b3ULL;
    std::ostringstream text;
    text.width(16);
    text.fill('0');
    text << std::hex << hash;
    EXPECT_EQ(text.str(), expected.hash) << name;
  }
}

TEST(SmallFloat, RoundsDoublesOnce) {
  // 1.0625 lies halfway between 1 and 1.125; by way of f32 both neighbours would be the tie, which goes to 1.
  EXPECT_EQ(rounded(DType::f8e4m3, 1.0625), 0x38);
  EXPECT_EQ(rounded(DType::f8e4m3, std::nextafter(1.0625, 2)), 0x39);
  EXPECT_EQ(rounded(DType::f8e8m0fnu, std::nextafter(1.5, 1)), 127);
  EXPECT_EQ(rounded(DType::f8e8m0fnu, 0x1.4p-127), 0);
}

TEST(SmallFloat, KnownValues) {
  EXPECT_EQ(rounded(DType::f4e2m1fn, 100), 0x7);   // the largest, 6
  EXPECT_EQ(rounded(DType::f4e2m1fn, -2.5), 0xc);  // a tie goes to -2
  EXPECT_EQ(rounded(DType::f8e8m0fnu, 1), 127);
  EXPECT_EQ(rounded(DType::f8e8m0fnu, 1.5), 128);
  EXPECT_EQ(rounded(DType::f8e8m0fnu, 0), 0xff);
  EXPECT_EQ(rounded(DType::f8e4m3fnuz, -0.0), 0);
  EXPECT_EQ(rounded(DType::f8e4m3fnuz, 1e9), 0x80);
  EXPECT_EQ(rounded(DType::f8e3m4, 15.5), 0x6f);
  EXPECT_EQ(rounded(DType::f8e3m4, 16), 0x70);
}

}  // namespace
}  // namespace alate::tensor
