#include "backends/cpu/kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/unit/backends/cpu/kernel_testing.h"

namespace alate::cpu::kernel_testing {
namespace {

// A packed batch whose q, k and v are slices of one buffer, with tokens between the sequences that belong to none.
struct Batch {
  std::vector<std::int32_t> starts, lengths;
  std::vector<float> qkv, bias, sinks, out;
  std::size_t tokens = 0, longest = 0;
  AttentionArguments arguments;

  Batch(std::vector<std::int32_t> sequence_lengths, std::size_t heads, std::size_t kv_heads, std::size_t head_size,
        std::size_t value_size, std::size_t gap = 1)
      : lengths(std::move(sequence_lengths)) {
    for (const std::int32_t length : lengths) {
      starts.push_back(static_cast<std::int32_t>(tokens));
      tokens += static_cast<std::size_t>(length) + gap;
      longest = std::max(longest, static_cast<std::size_t>(length));
    }
    const std::size_t q_width = heads * head_size;
    const std::size_t k_width = kv_heads * head_size;
    const std::size_t width = q_width + k_width + kv_heads * value_size + 3;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      // Seeded by length, so that a sequence has the same numbers alone and in company.
      const auto length = static_cast<std::size_t>(lengths[s]);
      const auto part = random_floats((length + gap) * width, static_cast<unsigned>(length + 17), 1.5f);
      qkv.insert(qkv.end(), part.begin(), part.end());
    }
    if (qkv.empty()) qkv.resize(width);
    out.assign(tokens * (heads * value_size + 2), kUntouched);
    arguments.q = qkv.data();
    arguments.k.base = qkv.data() + q_width;
    arguments.v.base = qkv.data() + q_width + k_width;
    arguments.q_stride = arguments.k.stride = arguments.v.stride = width;
    arguments.out = out.data();
    arguments.out_stride = heads * value_size + 2;
    arguments.starts = starts.data();
    arguments.lengths = lengths.data();
    arguments.sequences = lengths.size();
    arguments.heads = heads;
    arguments.kv_heads = kv_heads;
    arguments.head_size = head_size;
    arguments.value_size = value_size;
    arguments.scale = 1.0f / std::sqrt(static_cast<float>(head_size));
  }

  void add_bias(bool per_head) {
    bias = random_floats(longest * longest * arguments.heads, 5, 2.0f);
    arguments.bias = bias.data();
    arguments.bias_query_stride = longest;
    arguments.bias_head_stride = per_head ? longest * longest : 0;
  }

  void add_sinks() {
    sinks = random_floats(arguments.heads, 6, 3.0f);
    arguments.sinks = sinks.data();
  }

  static constexpr float kUntouched = 123.0f;
};

const float* floats_of(const KeySource& rows) { return static_cast<const float*>(rows.base); }

// The formula, in double.
double expected(const Batch& batch, std::size_t sequence, std::size_t head, std::size_t query, std::size_t column) {
  const AttentionArguments& a = batch.arguments;
  const auto start = static_cast<std::size_t>(a.starts[sequence]);
  const auto length = static_cast<std::ptrdiff_t>(a.lengths[sequence]);
  const std::size_t kv_head = head / (a.heads / a.kv_heads);
  const auto i = static_cast<std::ptrdiff_t>(query);
  std::vector<double> scores;
  std::vector<double> values;
  for (std::ptrdiff_t j = 0; j < length; ++j) {
    if (a.causal && j > i) continue;
    if (a.window_left >= 0 && i - j > a.window_left) continue;
    if (a.window_right >= 0 && j - i > a.window_right) continue;
    const std::size_t key = static_cast<std::size_t>(j);
    double score = 0;
    for (std::size_t e = 0; e < a.head_size; ++e) {
      score += static_cast<double>(a.q[(start + query) * a.q_stride + head * a.head_size + e]) *
               floats_of(a.k)[(start + key) * a.k.stride + kv_head * a.head_size + e];
    }
    score *= a.scale;
    if (a.soft_cap > 0) score = a.soft_cap * std::tanh(score / a.soft_cap);
    if (a.bias != nullptr) score += a.bias[head * a.bias_head_stride + query * a.bias_query_stride + key];
    scores.push_back(score);
    values.push_back(floats_of(a.v)[(start + key) * a.v.stride + kv_head * a.value_size + column]);
  }
  double sum = a.sinks != nullptr ? std::exp(static_cast<double>(a.sinks[head])) : 0;
  double result = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    sum += std::exp(scores[j]);
    result += std::exp(scores[j]) * values[j];
  }
  return sum == 0 ? 0 : result / sum;
}

class RaggedAttention : public EveryInstructionSet {
 protected:
  void run(Batch& batch, std::size_t workers = 1) {
    std::fill(batch.out.begin(), batch.out.end(), Batch::kUntouched);
    attend_sequences(batch.arguments, pool_, workers, set());
  }

  // Compares some of the queries of every sequence and head with the formula, and that nothing else was written.
  void check(Batch& batch) {
    run(batch);
    const AttentionArguments& a = batch.arguments;
    std::vector<bool> written(batch.out.size());
    for (std::size_t s = 0; s < a.sequences; ++s) {
      const auto length = static_cast<std::size_t>(a.lengths[s]);
      const std::size_t step = length > 40 ? 7 : 1;
      for (std::size_t query = 0; query < length; ++query) {
        const std::size_t row = (static_cast<std::size_t>(a.starts[s]) + query) * a.out_stride;
        for (std::size_t i = 0; i < a.heads * a.value_size; ++i) {
          written[row + i] = true;
          if (query % step != 0 && query + 1 != length) continue;
          const double want = expected(batch, s, i / a.value_size, query, i % a.value_size);
          ASSERT_NEAR(batch.out[row + i], want, tolerance_)
              << "length " << length << " query " << query << " column " << i;
        }
      }
    }
    for (std::size_t i = 0; i < batch.out.size(); ++i) {
      if (!written[i]) {
        ASSERT_EQ(batch.out[i], Batch::kUntouched) << "element " << i;
      }
    }
  }

  // The part of a batch's result that is a sequence's, and the bits that it has alone.
  void check_alone(const Batch& company, std::size_t sequence, Batch alone) {
    run(alone);
    const auto begin =
        company.out.begin() + company.starts[sequence] * static_cast<std::ptrdiff_t>(alone.arguments.out_stride);
    const std::vector<float> part(begin, begin + static_cast<std::ptrdiff_t>(alone.out.size()));
    EXPECT_TRUE(same_bits(part, alone.out)) << "length " << company.lengths[sequence];
  }

  double tolerance_ = 2e-6;
};

TEST_P(RaggedAttention, FollowsTheFormulaForAnyHeadSize) {
  for (const std::size_t size : {1, 3, 8, 12, 32, 64, 80, 128}) {
    Batch batch({5, 1, 0, 17, 33}, 3, 3, size, size);
    check(batch);
  }
}

TEST_P(RaggedAttention, FollowsTheFormulaForAnyLength) {
  for (const std::int32_t length :
       {1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 520}) {
    Batch batch({length}, 2, 2, 12, 12);
    check(batch);
  }
}

TEST_P(RaggedAttention, TakesValuesOfAnotherSizeThanKeys) {
  Batch wide({20, 40}, 2, 2, 8, 20);
  check(wide);
  Batch narrow({20, 140}, 2, 2, 20, 5);
  check(narrow);
}

TEST_P(RaggedAttention, SharesKeysAndValuesInGroupsOfHeads) {
  Batch batch({9, 37}, 6, 2, 16, 16);
  check(batch);
  Batch single({9, 37}, 4, 1, 16, 16);
  check(single);
}

TEST_P(RaggedAttention, HidesLaterTokensWhenCausal) {
  Batch batch({1, 31, 130, 290}, 2, 2, 16, 16);
  batch.arguments.causal = true;
  check(batch);
}

TEST_P(RaggedAttention, LooksNoFurtherThanItsWindow) {
  Batch batch({40, 300}, 2, 2, 8, 8);
  for (const std::ptrdiff_t left : {-1, 0, 5, 128}) {
    for (const std::ptrdiff_t right : {-1, 0, 3, 200}) {
      batch.arguments.window_left = left;
      batch.arguments.window_right = right;
      check(batch);
    }
  }
  batch.arguments.window_left = 64;
  batch.arguments.window_right = 64;
  batch.arguments.causal = true;
  check(batch);
}

TEST_P(RaggedAttention, AppliesCapBiasAndSinks) {
  Batch batch({3, 30, 150}, 4, 2, 16, 16);
  batch.arguments.soft_cap = 0.7f;
  check(batch);
  batch.add_bias(true);
  check(batch);
  batch.add_sinks();
  check(batch);
  batch.add_bias(false);
  batch.arguments.causal = true;
  check(batch);
}

TEST_P(RaggedAttention, GivesZerosToAQueryThatSeesNothing) {
  Batch batch({20}, 1, 1, 8, 8);
  batch.add_bias(false);
  std::fill(batch.bias.begin(), batch.bias.begin() + 20, -std::numeric_limits<float>::infinity());
  run(batch);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(batch.out[i], 0.0f);
  EXPECT_NEAR(batch.out[batch.arguments.out_stride], expected(batch, 0, 0, 1, 0), 2e-6);
}

TEST_P(RaggedAttention, SurvivesScoresThatExpCannotHold) {
  Batch batch({10, 200}, 2, 2, 8, 8);
  batch.arguments.scale = 300;
  run(batch);
  for (std::size_t i = 0; i < batch.out.size(); ++i) ASSERT_TRUE(std::isfinite(batch.out[i])) << i;
}

TEST_P(RaggedAttention, GivesTheSameBitsOnOneAndTwoThreads) {
  Batch batch({300, 128, 20, 64, 1, 513}, 12, 12, 32, 32);
  run(batch, 1);
  const std::vector<float> one = batch.out;
  run(batch, 2);
  EXPECT_TRUE(same_bits(one, batch.out));
}

TEST_P(RaggedAttention, GivesASequenceTheSameBitsAloneAndInCompany) {
  for (const auto& adjust : {std::function<void(Batch&)>([](Batch&) {}), std::function<void(Batch&)>([](Batch& batch) {
                               batch.arguments.causal = true;
                               batch.arguments.soft_cap = 3;
                             })}) {
    Batch company({40, 290, 7, 129}, 3, 3, 20, 20);
    adjust(company);
    run(company, 2);
    for (std::size_t s = 0; s < company.lengths.size(); ++s) {
      Batch alone({company.lengths[s]}, 3, 3, 20, 20);
      adjust(alone);
      check_alone(company, s, std::move(alone));
    }
  }
}

TEST_P(RaggedAttention, OfADenseBatchHasTheBitsOfThePackedOne) {
  Batch batch({140, 140, 140}, 4, 2, 12, 20, 0);
  batch.arguments.causal = true;
  run(batch);
  const std::vector<float> packed = batch.out;
  batch.arguments.starts = batch.arguments.lengths = nullptr;
  batch.arguments.queries = batch.arguments.keys = 140;
  run(batch, 2);
  EXPECT_TRUE(same_bits(packed, batch.out));

  // Fewer queries than keys: the first ones.
  batch.arguments.sequences = 1;
  batch.arguments.queries = 37;
  run(batch);
  const auto end = static_cast<std::ptrdiff_t>(37 * batch.arguments.out_stride);
  EXPECT_TRUE(std::equal(packed.begin(), packed.begin() + end, batch.out.begin()));
}

TEST_P(RaggedAttention, GivesZerosWhereNoKeyIsSeen) {
  Batch batch({20, 30}, 2, 2, 8, 8, 0);
  const std::vector<std::int32_t> seen = {-1, 0};
  batch.arguments.key_lengths = seen.data();
  run(batch);
  for (std::size_t row = 0; row < 50; ++row) {
    for (std::size_t i = 0; i < 16; ++i) ASSERT_EQ(batch.out[row * batch.arguments.out_stride + i], 0.0f) << row;
  }
}

// Rows [tokens, width] of heads side by side as [heads, tokens, size], with numbers between the heads.
std::vector<float> heads_apart(const float* rows, std::size_t stride, std::size_t tokens, std::size_t heads,
                               std::size_t size) {
  std::vector<float> apart(heads * (tokens * size + 3), 99.0f);
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t token = 0; token < tokens; ++token)
      std::copy_n(rows + token * stride + head * size, size, apart.data() + head * (tokens * size + 3) + token * size);
  }
  return apart;
}

TEST_P(RaggedAttention, ReadsHeadsThatLieApart) {
  for (const bool rounds : {false, true}) {
    for (const auto& [heads, kv_heads, size, value_size] :
         {std::array<std::size_t, 4>{1, 1, 32, 32}, {4, 2, 32, 20}, {3, 3, 80, 80}, {6, 1, 16, 64}}) {
      Batch batch({1, 30, 0, 150, 24}, heads, kv_heads, size, value_size);
      AttentionArguments& a = batch.arguments;
      a.rounds_operands = rounds;
      run(batch);
      const std::vector<float> wanted = batch.out;
      const std::vector<float> q = heads_apart(a.q, a.q_stride, batch.tokens, heads, size),
                               k = heads_apart(floats_of(a.k), a.k.stride, batch.tokens, kv_heads, size),
                               v = heads_apart(floats_of(a.v), a.v.stride, batch.tokens, kv_heads, value_size);
      a.q = q.data();
      a.q_stride = size;
      a.q_head_stride = batch.tokens * size + 3;
      a.k = {.base = k.data(), .stride = size, .head_stride = batch.tokens * size + 3};
      a.v = {.base = v.data(), .stride = value_size, .head_stride = batch.tokens * value_size + 3};
      run(batch, 2);
      EXPECT_TRUE(same_bits(wanted, batch.out)) << heads << " heads of " << size << ", rounded: " << rounds;
    }
  }
}

// The rows of a batch's tokens in pages, those of sequence s from page `first[s]` on in reverse order, as f32, halves
// or bytes.
struct Pages {
  std::vector<std::int32_t> table;
  std::vector<float> floats;
  std::vector<std::uint16_t> halves;
  std::vector<std::int8_t> bytes;
  std::vector<float> scales;
  KeySource source;

  Pages(const Batch& batch, const KeySource& rows, std::size_t width, std::size_t page_rows) {
    source = {.stride = width, .page_rows = page_rows};
    source.most_pages = batch.longest / page_rows + 1;
    const std::size_t pages = batch.lengths.size() * source.most_pages;
    for (std::size_t i = 0; i < pages; ++i) table.push_back(static_cast<std::int32_t>(pages - 1 - i));
    floats.assign(pages * page_rows * width, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t s = 0; s < batch.lengths.size(); ++s) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(batch.lengths[s]); ++i) {
        const auto page = static_cast<std::size_t>(table[s * source.most_pages + i / page_rows]);
        const float* from = floats_of(rows) + (static_cast<std::size_t>(batch.starts[s]) + i) * rows.stride;
        std::copy_n(from, width, floats.data() + (page * page_rows + i % page_rows) * width);
      }
    }
    source.table = table.data();
    source.base = floats.data();
  }

  // Stores the upper halves of the floats, which have no others.
  void store_bf16() {
    for (const float value : floats)
      halves.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
    source.base = halves.data();
    source.numbers = StoredNumbers::bf16;
  }

  // Stores multiples of 1/16, up to 63 of them, as multiples of 1/16 or 1/32.
  void store_i8(std::size_t heads) {
    const std::size_t size = source.stride / heads;
    for (std::size_t row = 0; row < floats.size() / size; ++row) {
      const float scale = row % 3 == 0 ? 1.0F / 32 : 1.0F / 16;
      scales.push_back(scale);
      for (std::size_t i = row * size; i < (row + 1) * size; ++i)
        bytes.push_back(floats[i] == floats[i] ? static_cast<std::int8_t>(floats[i] / scale) : std::int8_t{-128});
    }
    source.base = bytes.data();
    source.numbers = StoredNumbers::i8;
    source.scales = scales.data();
    source.scale_stride = heads;
  }
};

TEST_P(RaggedAttention, ReadsPagesWithTheBitsOfRows) {
  for (const StoredNumbers numbers : {StoredNumbers::f32, StoredNumbers::bf16, StoredNumbers::i8}) {
    for (const auto& [heads, kv_heads, size, value_size] :
         {std::array<std::size_t, 4>{1, 1, 32, 32}, {4, 2, 30, 20}, {3, 3, 80, 7}, {6, 1, 1, 64}, {14, 2, 64, 48}}) {
      Batch batch({1, 30, 0, 150, 129}, heads, kv_heads, size, value_size);
      AttentionArguments& a = batch.arguments;
      a.causal = true;
      if (numbers == StoredNumbers::bf16) {
        for (float& value : batch.qkv) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000U);
      }
      if (numbers == StoredNumbers::i8) {
        a.window_left = 40;
        a.soft_cap = 3;
        for (float& value : batch.qkv) value = std::clamp(std::round(value * 16), -63.0F, 63.0F) / 16;
      }
      run(batch);
      const std::vector<float> wanted = batch.out;
      for (const std::size_t page_rows : {1, 16, 128}) {
        Pages k(batch, a.k, kv_heads * size, page_rows), v(batch, a.v, kv_heads * value_size, page_rows);
        if (numbers == StoredNumbers::bf16) {
          k.store_bf16();
          v.store_bf16();
        } else if (numbers == StoredNumbers::i8) {
          k.store_i8(kv_heads);
          v.store_i8(kv_heads);
        }
        Batch paged = batch;
        paged.arguments.k = k.source;
        paged.arguments.v = v.source;
        paged.arguments.key_lengths = batch.lengths.data();
        paged.arguments.out = paged.out.data();
        run(paged, 2);
        EXPECT_TRUE(same_bits(wanted, paged.out)) << heads << " heads of " << size << ", pages of " << page_rows;
        // Only the last queries of each sequence.
        for (const std::int32_t most : {1, 2, 5, 8, 20}) {
          std::vector<std::int32_t> starts, lengths;
          for (std::size_t s = 0; s < batch.lengths.size(); ++s) {
            lengths.push_back(std::min(batch.lengths[s], most));
            starts.push_back(batch.starts[s] + batch.lengths[s] - lengths[s]);
          }
          paged.arguments.starts = starts.data();
          paged.arguments.lengths = lengths.data();
          run(paged, most % 2 == 0 ? 2 : 5);
          for (std::size_t s = 0; s < lengths.size(); ++s) {
            const auto first = starts[s] * static_cast<std::ptrdiff_t>(a.out_stride),
                       count = lengths[s] * static_cast<std::ptrdiff_t>(a.out_stride);
            EXPECT_TRUE(std::equal(wanted.begin() + first, wanted.begin() + first + count, paged.out.begin() + first))
                << "the last " << most << " of sequence " << s << ", " << heads << " heads of " << size;
          }
        }
      }
    }
  }
}

TEST_P(RaggedAttention, AcceptsAnEmptyBatch) {
  Batch batch({}, 2, 2, 8, 8);
  run(batch);
  Batch empty({0, 0}, 2, 2, 8, 8);
  check(empty);
}

// With operands that may be rounded: where no set of shorts is here, these run as floats.
class RoundedAttention : public RaggedAttention {
 protected:
  RoundedAttention() { tolerance_ = 1.5e-3; }

  Batch rounded(Batch batch) const {
    batch.arguments.rounds_operands = true;
    batch.arguments.rounds_to_bf16 = rounds_to_bf16_;
    return batch;
  }
  bool rounds_to_bf16_ = false;

  void check_head_sizes() {
    for (const std::size_t size : {1, 3, 8, 12, 31, 32, 33, 64, 80, 128, 300}) {
      Batch batch = rounded(Batch({5, 1, 0, 25, 33}, 3, 3, size, size));
      check(batch);
    }
  }

  void check_lengths() {
    for (const std::int32_t length : {1, 23, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 256, 257, 300, 520}) {
      Batch batch = rounded(Batch({length}, 2, 2, 12, 20));
      check(batch);
    }
  }

  void check_adjusted_scores() {
    Batch batch = rounded(Batch({3, 30, 150, 300}, 4, 2, 16, 16));
    batch.arguments.causal = true;
    check(batch);
    batch.arguments.window_left = 40;
    check(batch);
    batch.arguments.soft_cap = 0.7f;
    batch.add_bias(true);
    batch.add_sinks();
    check(batch);
  }

  void check_company() {
    Batch company = rounded(Batch({40, 290, 7, 129}, 3, 3, 20, 20));
    run(company, 2);
    for (std::size_t s = 0; s < company.lengths.size(); ++s)
      check_alone(company, s, rounded(Batch({company.lengths[s]}, 3, 3, 20, 20)));
    const std::vector<float> on_two = company.out;
    run(company, 1);
    EXPECT_TRUE(same_bits(on_two, company.out));
  }

  void check_magnitudes() {
    for (const float factor : {0.0f, 1e-38f, 1e-18f, 1e15f}) {
      Batch batch = rounded(Batch({40}, 2, 2, 32, 32));
      for (float& value : batch.qkv) value *= factor;
      run(batch);
      for (std::size_t i = 0; i < 40 * batch.arguments.out_stride; ++i) ASSERT_TRUE(std::isfinite(batch.out[i])) << i;
    }
  }

  void check_no_numbers() {
    constexpr std::size_t kWidth = 32, kRow = 10;
    enum Part : std::size_t { query, key, value };
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
    // An infinite key is unseen where the query is negative there.
    for (const auto& [part, bad] :
         {std::pair{query, kNaN}, {query, kInfinity}, {key, kNaN}, {value, kNaN}, {value, kInfinity}}) {
      Batch batch = rounded(Batch({40}, 1, 1, kWidth, kWidth));
      batch.qkv[kRow * batch.arguments.q_stride + part * kWidth + 5] = bad;
      run(batch);
      EXPECT_FALSE(std::isfinite(batch.out[kRow * batch.arguments.out_stride + 5])) << bad << " in part " << part;
    }
  }
};

TEST_P(RoundedAttention, FollowsTheFormulaForAnyHeadSize) { check_head_sizes(); }

TEST_P(RoundedAttention, FollowsTheFormulaForAnyLength) { check_lengths(); }

TEST_P(RoundedAttention, AppliesMasksCapBiasAndSinks) { check_adjusted_scores(); }

TEST_P(RoundedAttention, RoundsLittleOfWhatOneKeyOutweighs) {
  // A key with the weight of all others together, whose weights are small each.
  Batch batch = rounded(Batch({500}, 1, 1, 32, 32));
  const AttentionArguments& a = batch.arguments;
  for (std::size_t token = 0; token < 500; ++token) {
    float* q = batch.qkv.data() + token * a.q_stride;
    for (std::size_t i = 0; i < 32; ++i) q[i] = 1;
    for (std::size_t i = 0; i < 32; ++i) q[32 + i] = token == 0 ? 1.1f : 0.0f;
  }
  check(batch);
}

TEST_P(RoundedAttention, GivesTheSameBitsWhateverRunsBeside) { check_company(); }

TEST_P(RoundedAttention, LeavesFewKeysAsTheyAre) {
  Batch plain({8, 23}, 2, 2, 32, 32), batch = rounded(plain);
  batch.arguments.out = batch.out.data();
  run(plain);
  run(batch);
  EXPECT_TRUE(same_bits(plain.out, batch.out));
}

TEST_P(RoundedAttention, TakesOperandsOfAnySize) { check_magnitudes(); }

TEST_P(RoundedAttention, PassesOnWhatIsNoNumber) { check_no_numbers(); }

// Of numbers up to 1 in about.
class Bf16Attention : public RoundedAttention {
 protected:
  Bf16Attention() {
    rounds_to_bf16_ = true;
    tolerance_ = 6e-3;
  }
};

TEST_P(Bf16Attention, FollowsTheFormulaForAnyHeadSize) { check_head_sizes(); }
TEST_P(Bf16Attention, FollowsTheFormulaForAnyLength) { check_lengths(); }
TEST_P(Bf16Attention, AppliesMasksCapBiasAndSinks) { check_adjusted_scores(); }
TEST_P(Bf16Attention, GivesTheSameBitsWhateverRunsBeside) { check_company(); }
TEST_P(Bf16Attention, TakesOperandsOfAnySize) { check_magnitudes(); }
TEST_P(Bf16Attention, PassesOnWhatIsNoNumber) { check_no_numbers(); }

INSTANTIATE_TEST_SUITE_P(Sets, Bf16Attention, ::testing::ValuesIn(base::runnable_instruction_sets()), set_name);
INSTANTIATE_TEST_SUITE_P(Sets, RoundedAttention, ::testing::ValuesIn(base::runnable_instruction_sets()), set_name);
INSTANTIATE_TEST_SUITE_P(Sets, RaggedAttention, ::testing::ValuesIn(base::runnable_instruction_sets()), set_name);

}  // namespace
}  // namespace alate::cpu::kernel_testing
