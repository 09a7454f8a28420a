#include "backends/cpu/kernels/quantize/quantize_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "tensor/rotation.h"

namespace alate::cpu {
namespace {

struct Problem {
  std::size_t rows, width, groups;
  bool has_smoothing;
  WordKind kind;
  std::size_t rotation = 0;
};

struct Rounded {
  std::vector<int> integers;  // of each word's values, fillings included
  std::vector<float> scales, offsets;
};

Rounded quantize(const Problem& problem, const std::vector<float>& x, const std::vector<float>& smoothing,
                 const Kernels& set, std::size_t threads = 1) {
  base::ThreadPool pool(threads);
  const std::size_t words = quantized_row_words(problem.width, problem.groups, problem.kind);
  std::vector<std::uint32_t> memory(problem.rows * words, 0xdeadbeef);
  Rounded rounded;
  rounded.scales.resize(problem.rows * problem.groups);
  rounded.offsets.resize(problem.rows * problem.groups);
  quantize_rows({.x = x.data(),
                 .x_stride = problem.width,
                 .smoothing = problem.has_smoothing ? smoothing.data() : nullptr,
                 .words = memory.data(),
                 .words_stride = words,
                 .scales = rounded.scales.data(),
                 .offsets = rounded.offsets.data(),
                 .rows = problem.rows,
                 .width = problem.width,
                 .groups = problem.groups,
                 .kind = problem.kind,
                 .rotation = problem.rotation},
                pool, threads, set);
  for (std::size_t i = 0; i < memory.size() * values_per_word(problem.kind); ++i) {
    std::int16_t value = 0;
    if (problem.kind == WordKind::bytes) {
      value = reinterpret_cast<const std::uint8_t*>(memory.data())[i];
    } else {
      std::memcpy(&value, reinterpret_cast<const char*>(memory.data()) + 2 * i, 2);
    }
    rounded.integers.push_back(value);
  }
  return rounded;
}

std::vector<const Kernels*> all_sets() {
  std::vector<const Kernels*> sets;
  for (const base::InstructionSet set : base::runnable_instruction_sets()) sets.push_back(&kernels_for(set));
  return sets;
}

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::minstd_rand random(seed);
  std::normal_distribution<float> normal(0.3f, 2);
  std::vector<float> values(count);
  for (float& x : values) x = normal(random);
  return values;
}

TEST(QuantizeRows, GivesTheNearestOf256NumbersOfEachRun) {
  for (const Kernels* set : all_sets()) {
    for (const WordKind kind : {WordKind::bytes, WordKind::shorts}) {
      for (const Problem& problem :
           {Problem{1, 1, 1, false, kind}, Problem{3, 7, 1, true, kind}, Problem{5, 384, 1, false, kind},
            Problem{2, 1536, 4, true, kind}, Problem{4, 66, 6, true, kind}, Problem{70, 129, 3, false, kind},
            Problem{5, 384, 1, true, kind, 128}, Problem{2, 384, 3, false, kind, 128},
            Problem{7, 1024, 2, true, kind, 512}, Problem{70, 256, 1, false, kind, 256}}) {
        const auto x = random_floats(problem.rows * problem.width, 7), smoothing = random_floats(problem.width, 8);
        const Rounded found = quantize(problem, x, smoothing, *set, 2);
        const std::size_t length = problem.width / problem.groups, per_word = values_per_word(kind),
                          padded = (length + per_word - 1) / per_word * per_word;
        for (std::size_t place = 0; place < problem.rows * problem.groups; ++place) {
          std::vector<float> run(length);
          for (std::size_t i = 0; i < length; ++i) {
            const std::size_t at = place * length + i;
            run[i] = problem.has_smoothing ? x[at] * smoothing[at % problem.width] : x[at];
          }
          if (problem.rotation != 0) tensor::rotate(std::span(run), problem.rotation);
          const float least = *std::min_element(run.begin(), run.end()),
                      greatest = *std::max_element(run.begin(), run.end());
          ASSERT_EQ(found.offsets[place], least);
          ASSERT_EQ(found.scales[place], std::max((greatest - least) / 255, 1e-20f));
          for (std::size_t i = 0; i < padded; ++i) {
            const int integer = found.integers[place * padded + i];
            if (i >= length) {
              ASSERT_EQ(integer, 0);
            } else {
              ASSERT_EQ(integer, std::nearbyint((run[i] - least) * (1 / found.scales[place])));
            }
          }
        }
      }
    }
  }
}

TEST(QuantizeRows, ARunOfEqualNumbersIsItsOffset) {
  for (const Kernels* set : all_sets()) {
    const Rounded found = quantize({1, 40, 1, false, WordKind::bytes}, std::vector<float>(40, -2.5f), {}, *set);
    EXPECT_EQ(found.offsets[0], -2.5f);
    EXPECT_EQ(found.integers, std::vector<int>(40, 0));
  }
}

TEST(QuantizeRows, WhatIsNotFiniteMakesItsRunNaNAndNoOther) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Kernels* set : all_sets()) {
    for (const float odd : {kInfinity, -kInfinity, std::nanf("")}) {
      for (const std::size_t place : {std::size_t{0}, std::size_t{17}, std::size_t{36}}) {
        std::vector<float> x = random_floats(3 * 37, 9);
        x[37 + place] = odd;
        const Rounded found = quantize({1, 3 * 37, 3, false, WordKind::bytes}, x, {}, *set);
        EXPECT_FALSE(std::isnan(found.scales[0]));
        EXPECT_TRUE(std::isnan(found.scales[1])) << odd << " at " << place;
        EXPECT_FALSE(std::isnan(found.scales[2]));
      }
    }
  }
}

}  // namespace
}  // namespace alate::cpu
