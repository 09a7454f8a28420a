// Lookups, their sum and its norm in one pass: the bits of the kernels one after the other.
#include "backends/cpu/kernels/rows/embed_norm.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/rows/normalize.h"
#include "tensor/element.h"
#include "tensor/half.h"
#include "tests/unit/backends/cpu/kernel_testing.h"

namespace alate::cpu::kernel_testing {
namespace {

constexpr float kEpsilon = 1e-12f;

class EmbedNormKernel : public EveryInstructionSet {};

// A table of random numbers, and what an addend says of it.
struct Table {
  std::vector<std::byte> bytes;
  std::vector<float> scales;
  std::vector<std::int32_t> indices;
  std::vector<std::int64_t> wide_indices;
  EmbeddingAddend addend;

  Table(DType dtype, std::size_t rows, std::size_t width, unsigned seed) {
    const std::size_t size = bits_of(dtype) / 8;
    const std::vector<float> numbers = random_floats(rows * width, seed, is_integer(dtype) ? 127.0f : 3.0f);
    bytes.resize(numbers.size() * size);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const float number = dtype == DType::u8 ? std::abs(numbers[i]) : numbers[i];
      tensor::store_double(dtype, static_cast<double>(number), bytes.data() + i * size);
    }
    addend = {.dtype = dtype, .table = bytes.data(), .rows = rows, .period = rows};
    if (!is_integer(dtype)) return;
    scales = random_floats(rows, seed + 1);
    addend.scales = scales.data();
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // One index in four is beyond the table.
  void look_up(std::size_t period, bool is_wide, unsigned seed) {
    std::minstd_rand generator(seed);
    for (std::size_t i = 0; i < period; ++i) {
      auto index = static_cast<std::int64_t>(generator() % addend.rows);
      if (i % 8 == 3) index = -1 - index;
      if (i % 8 == 7) index += is_wide ? std::int64_t{1} << 40 : static_cast<std::int64_t>(addend.rows);
      wide_indices.push_back(index);
      indices.push_back(static_cast<std::int32_t>(index));
    }
    addend.has_wide_indices = is_wide;
    addend.indices = is_wide ? static_cast<const void*>(wide_indices.data()) : indices.data();
    addend.period = period;
  }

  float number(std::size_t place, std::size_t i, std::size_t width) const {
    std::size_t row = place % addend.period;
    if (addend.indices != nullptr) {
      const auto last = static_cast<std::int64_t>(addend.rows) - 1;
      const std::int64_t index = addend.has_wide_indices ? wide_indices[row] : indices[row];
      row = static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last));
    }
    const std::size_t size = bits_of(addend.dtype) / 8;
    const auto stored = static_cast<float>(tensor::load_double(addend.dtype, bytes.data() + (row * width + i) * size));
    return scales.empty() ? stored : stored * scales[row];
  }
};

void expect_as_one_after_the_other(const std::vector<const Table*>& tables, std::size_t places, std::size_t width,
                                   base::ThreadPool& pool, const Kernels& set) {
  const auto scale = random_floats(width, 91), shift = random_floats(width, 92);
  std::vector<float> sums(places * width), wanted(places * width);
  for (std::size_t place = 0; place < places; ++place) {
    for (std::size_t i = 0; i < width; ++i) {
      float sum = tables[0]->number(place, i, width);
      for (std::size_t k = 1; k < tables.size(); ++k) sum += tables[k]->number(place, i, width);
      sums[place * width + i] = sum;
    }
  }
  normalize_rows(NormKind::layer,
                 {.x = sums.data(),
                  .x_stride = width,
                  .scale = scale.data(),
                  .shift = shift.data(),
                  .epsilon = kEpsilon,
                  .out = wanted.data(),
                  .out_stride = width,
                  .rows = places,
                  .width = width},
                 pool, 1, set);
  std::vector<EmbeddingAddend> addends;
  for (const Table* table : tables) addends.push_back(table->addend);
  for (const std::size_t workers : {1, 2}) {
    std::vector<float> found(places * width + 1, 9.0f);
    embed_norm({.addends = addends.data(),
                .count = addends.size(),
                .scale = scale.data(),
                .shift = shift.data(),
                .epsilon = kEpsilon,
                .out = found.data(),
                .places = places,
                .width = width},
               pool, workers, set);
    EXPECT_EQ(found.back(), 9.0f) << "written beyond the last row";
    found.pop_back();
    EXPECT_TRUE(same_bits(found, wanted)) << places << " × " << width << ", " << tables.size() << " addends from "
                                          << to_string(addends[0].dtype) << " on, " << workers << " threads";
  }
}

TEST_P(EmbedNormKernel, GivesTheBitsOfItsStepsForEveryType) {
  for (const std::size_t width : {1, 2, 3, 7, 8, 15, 17, 31, 33, 64, 100, 129, 384}) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::i8, DType::u8}) {
      for (const bool is_wide : {false, true}) {
        Table table(dtype, 37, width, 1);
        table.look_up(21, is_wide, 2);
        expect_as_one_after_the_other({&table}, 21, width, pool_, set());
      }
    }
  }
}

TEST_P(EmbedNormKernel, AddsInOrderWhatRepeatsAndWhatDoesNot) {
  for (const std::size_t width : {5, 48, 77, 384}) {
    constexpr std::size_t kTexts = 19, kLength = 13, kPlaces = kTexts * kLength;
    Table words(DType::i8, 500, width, 1), positions(DType::f32, 64, width, 3), types(DType::bf16, 2, width, 5),
        others(DType::f16, 40, width, 7), row(DType::f32, 1, width, 9), rows(DType::f32, kPlaces, width, 11),
        few(DType::f16, kLength, width, 13), more(DType::u8, 3, width, 15);
    words.look_up(kPlaces, false, 2);
    positions.look_up(kLength, true, 4);
    types.look_up(kPlaces, true, 6);
    others.look_up(kPlaces, false, 8);
    more.look_up(kPlaces, false, 16);
    expect_as_one_after_the_other({&words, &types, &positions}, kPlaces, width, pool_, set());
    expect_as_one_after_the_other({&row, &positions, &words}, kPlaces, width, pool_, set());
    expect_as_one_after_the_other({&rows, &words}, kPlaces, width, pool_, set());
    expect_as_one_after_the_other({&others, &few, &more, &words, &row, &rows, &types, &positions}, kPlaces, width,
                                  pool_, set());
  }
}

TEST_P(EmbedNormKernel, WidensEveryHalfExactly) {
  constexpr std::size_t kWidth = 1024, kRows = 64;  // a row has the halves of one sign and exponent
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Table table(dtype, kRows, kWidth, 1);
    for (std::size_t i = 0; i < kRows * kWidth; ++i) {
      auto half = static_cast<std::uint16_t>(i);
      const float number = dtype == DType::f16 ? tensor::f16_to_float(half) : tensor::bf16_to_float(half);
      if (number != number) half = 0;
      std::memcpy(table.bytes.data() + 2 * i, &half, sizeof half);
    }
    expect_as_one_after_the_other({&table}, kRows, kWidth, pool_, set());
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, EmbedNormKernel, ::testing::ValuesIn(base::runnable_instruction_sets()), set_name);

}  // namespace
}  // namespace alate::cpu::kernel_testing
