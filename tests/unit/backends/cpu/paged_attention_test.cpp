// The cpu backend's attention over a paged cache: the reference's values, the bits of attention over the whole text
// however it comes in, and a cache that stays where it is.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>

#include "alate/error.h"
#include "graph/operands.h"
#include "tests/unit/backends/cpu/step_testing.h"
#include "tests/unit/backends/page_tables.h"
#include "tests/unit/base/expect_error.h"

namespace alate::cpu {
namespace {

using backends::Buffer;
using backends::PageFeed;
using backends::PageTables;
using graph::Attention;
using graph::Builder;
using graph::Graph;
using graph::Value;

struct Sizes {
  std::int64_t heads = 4, kv_heads = 2, width = 12, value_width = 20, page_rows = 16;
};

// New keys and values go to the cache, then the queries attend to it.
Graph cached_attention(const Sizes& s, DType dtype, DType cache, Attention attention) {
  Builder b("cached attention");
  const Dim tokens = b.dim("tokens", 1), pages = b.dim("pages", 1), most = b.dim("most pages");
  const Value keys = b.parameter("keys", {cache, {pages, s.page_rows, s.kv_heads, s.width}}, true),
              values = b.parameter("values", {cache, {pages, s.page_rows, s.kv_heads, s.value_width}}, true),
              query = b.parameter("query", {dtype, {tokens, s.heads, s.width}}),
              key = b.parameter("key", {dtype, {tokens, s.kv_heads, s.width}}),
              value = b.parameter("value", {dtype, {tokens, s.kv_heads, s.value_width}}),
              slots = b.parameter("slots", {DType::i32, {tokens}});
  const Dim sequences = b.dim("sequences", 1);
  const auto integers = [&](const char* name, graph::Dims dims) {
    return b.parameter(name, {DType::i32, std::move(dims)});
  };
  graph::PagedAttentionOperands<> operands{.query = query,
                                           .key = b.write_pages({keys, key, slots}),
                                           .value = b.write_pages({values, value, slots}),
                                           .table = integers("table", {sequences, most}),
                                           .starts = integers("starts", {sequences}),
                                           .lengths = integers("lengths", {sequences}),
                                           .key_lengths = integers("key lengths", {sequences})};
  if (attention.has_sinks) operands.sinks = b.parameter("sinks", {dtype, {s.heads}});
  attention.longest = tokens;
  b.output("y", b.paged_attention(operands.list(), operands.flagged(attention)));
  b.output("keys", operands.key, 0);
  b.output("values", operands.value, 1);
  return b.finish();
}

// Rows [first, first + count) of a tensor.
Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> extents = {count};
  for (std::size_t i = 1; i < tensor.rank(); ++i) extents.push_back(tensor.extent(i));
  Tensor rows = Tensor::zeros({tensor.dtype(), {count, tensor.extent(1), tensor.extent(2)}});
  const std::size_t bytes = tensor.byte_count() / static_cast<std::size_t>(tensor.extent(0));
  std::memcpy(rows.mutable_bytes().data(), tensor.bytes().data() + static_cast<std::size_t>(first) * bytes,
              static_cast<std::size_t>(count) * bytes);
  return rows;
}

Tensor joined(const std::vector<Tensor>& parts) {
  std::int64_t rows = 0;
  for (const Tensor& part : parts) rows += part.extent(0);
  Tensor all = Tensor::zeros({parts[0].dtype(), {rows, parts[0].extent(1), parts[0].extent(2)}});
  std::byte* to = all.mutable_bytes().data();
  for (const Tensor& part : parts) to = std::ranges::copy(part.bytes(), to).out;
  return all;
}

Tensor vector_of(const std::vector<std::int64_t>& values) {
  const std::vector<std::int32_t> narrow(values.begin(), values.end());
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(values.size())}, std::span(narrow));
}

Tensor converted(const Tensor& x, DType dtype) {
  Builder b("convert");
  b.output("y", b.convert({b.parameter("x", x.shape())}, {.dtype = dtype}));
  return graph::interpret(b.finish(), std::vector<Tensor>{x}, base::Cancellation::never()).front();
}

// Texts with queries, keys and values of each token.
struct Texts {
  Sizes sizes;
  std::vector<std::int64_t> lengths;
  std::vector<Tensor> query, key, value;
  Tensor sinks;

  Texts(const Sizes& s, std::vector<std::int64_t> text_lengths, DType dtype = DType::f32)
      : sizes(s), lengths(std::move(text_lengths)), sinks(random_tensor(dtype, {s.heads}, 3)) {
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const auto seed = static_cast<unsigned>(10 * i);
      query.push_back(random_tensor(dtype, {lengths[i], s.heads, s.width}, seed + 1));
      key.push_back(random_tensor(dtype, {lengths[i], s.kv_heads, s.width}, seed + 2));
      value.push_back(random_tensor(dtype, {lengths[i], s.kv_heads, s.value_width}, seed + 3));
    }
  }

  // Each text's result by ragged_attention over all texts, with keys and values rounded as a cache stores them.
  std::vector<Tensor> whole(DType cache, Attention attention) const {
    Builder b("whole texts");
    const auto stored = [&](const std::vector<Tensor>& rows) {
      return converted(converted(joined(rows), cache), rows[0].dtype());
    };
    std::vector<std::int64_t> starts(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), std::int64_t{0});
    std::vector<Tensor> inputs = {joined(query), stored(key), stored(value), vector_of(starts), vector_of(lengths)};
    if (attention.has_sinks) inputs.push_back(sinks);
    std::vector<Value> operands;
    for (const Tensor& input : inputs)
      operands.push_back(b.parameter("x" + std::to_string(operands.size()), input.shape()));
    attention.longest = inputs[0].shape().dims[0];
    b.output("y", b.ragged_attention(operands, attention));
    const Tensor packed = run(b.finish(), inputs).front();
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < lengths.size(); ++i) results.push_back(rows_of(packed, starts[i], lengths[i]));
    return results;
  }

  // The same by pieces: in each run every text that is left gives its next `piece` tokens, beside some padding. The
  // table names no pages that are wholly before the windows of these tokens.
  std::vector<Tensor> by_pieces(DType cache, const Attention& attention, std::int64_t piece,
                                std::size_t workers = 0) const {
    const std::int64_t most_pages = *std::ranges::max_element(lengths) / sizes.page_rows + 2,
                       pages = most_pages * static_cast<std::int64_t>(lengths.size());
    const auto executable =
        cpu_backend().compile(cached_attention(sizes, query[0].dtype(), cache, attention), {.max_workers = workers});
    Buffer keys = Tensor::zeros({cache, {pages, sizes.page_rows, sizes.kv_heads, sizes.width}}),
           values = Tensor::zeros({cache, {pages, sizes.page_rows, sizes.kv_heads, sizes.value_width}});
    const std::byte* const place = keys.host()->bytes().data();
    PageTables tables(lengths.size(), pages, sizes.page_rows, most_pages);
    std::vector<std::int64_t> done(lengths.size(), 0);
    std::vector<std::vector<Tensor>> parts(lengths.size());
    while (done != lengths) {
      std::vector<std::int64_t> counts;
      std::vector<Tensor> q, k, v;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        counts.push_back(std::min(piece, lengths[i] - done[i]));
        q.push_back(rows_of(query[i], done[i], counts[i]));
        k.push_back(rows_of(key[i], done[i], counts[i]));
        v.push_back(rows_of(value[i], done[i], counts[i]));
      }
      for (auto* rows : {&q, &k, &v})
        rows->push_back(rows_of(rows == &q ? query[0] : rows == &k ? key[0] : value[0], 0, 2));
      PageFeed feed = tables.next(counts, 2);
      const std::span<std::int32_t> table = feed.table.mutable_values<std::int32_t>();
      for (std::size_t i = 0; i < lengths.size() && attention.window_left >= 0; ++i) {
        const std::int64_t unseen = std::max<std::int64_t>(done[i] - attention.window_left, 0) / sizes.page_rows;
        std::ranges::fill(table.subspan(i * static_cast<std::size_t>(most_pages), static_cast<std::size_t>(unseen)),
                          1 << 30);
      }
      std::vector<Buffer> inputs = {keys,       values,     joined(q),   joined(k),    joined(v),
                                    feed.slots, feed.table, feed.starts, feed.lengths, feed.key_lengths};
      if (attention.has_sinks) inputs.emplace_back(sinks);
      std::vector<Buffer> outputs = {{}, keys, values};
      executable->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
      EXPECT_EQ(outputs[1].host()->bytes().data(), place);
      std::int64_t first = 0;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (counts[i] > 0) parts[i].push_back(rows_of(*outputs[0].host(), first, counts[i]));
        first += counts[i];
        done[i] += counts[i];
      }
    }
    std::vector<Tensor> results;
    for (const std::vector<Tensor>& each : parts) results.push_back(joined(each));
    return results;
  }
};

void expect_equal(const std::vector<Tensor>& found, const std::vector<Tensor>& wanted, const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(found[i].bytes(), wanted[i].bytes())) << "text " << i << ", " << what;
}

const Attention kCausal = {.scale = 0.4, .causal = true};
const Attention kCausalVariants[] = {
    kCausal,
    {.scale = 0.4, .causal = true, .window_left = 20},
    {.scale = 0.4, .causal = true, .window_left = 130, .soft_cap = 2.5},
    {.scale = 0.4, .has_sinks = true, .causal = true},
};

TEST(CpuPagedAttention, HasTheBitsOfRaggedAttentionInChunksAndInSteps) {
  const Texts texts({}, {150, 1, 129, 40});
  for (const Attention& attention : kCausalVariants) {
    const std::vector<Tensor> whole = texts.whole(DType::f32, attention);
    for (const std::int64_t piece : {200, 64, 17, 8, 3, 1})
      expect_equal(texts.by_pieces(DType::f32, attention, piece), whole, "pieces of " + std::to_string(piece));
  }
}

TEST(CpuPagedAttention, HasTheSameBitsOverHalves) {
  for (const DType cache : {DType::f16, DType::bf16}) {
    for (const auto& [width, value_width] : {std::pair{12, 20}, {64, 64}, {1, 3}}) {
      const Texts texts({.width = width, .value_width = value_width}, {140, 37});
      const std::vector<Tensor> whole = texts.whole(cache, kCausal);
      for (const std::int64_t piece : {150, 50, 1})
        expect_equal(texts.by_pieces(cache, kCausal, piece), whole, std::string(to_string(cache)));
    }
  }
}

TEST(CpuPagedAttention, HasTheSameBitsWithPagesOfAnySize) {
  for (const std::int64_t page_rows : {4, 32, 128}) {
    for (const std::int64_t kv_heads : {1, 4}) {
      const Texts texts({.kv_heads = kv_heads, .page_rows = page_rows}, {30, 139});
      expect_equal(texts.by_pieces(DType::bf16, kCausal, 45), texts.whole(DType::bf16, kCausal),
                   "pages of " + std::to_string(page_rows));
    }
  }
}

TEST(CpuPagedAttention, HasTheSameBitsOnAnyNumberOfThreads) {
  for (const std::int64_t piece : {130, 7}) {
    const Texts texts({.heads = 8, .width = 64, .value_width = 64}, {300, 200});
    const std::vector<Tensor> whole = texts.whole(DType::f16, kCausal);
    for (const std::size_t workers : {1, 2, 5})
      expect_equal(texts.by_pieces(DType::f16, kCausal, piece, workers), whole, std::to_string(workers) + " threads");
  }
}

// Two runs over texts that have begun: of a prompt, then of its last tokens beside another.
void expect_as_reference_over_pages(const Sizes& s, DType dtype, DType cache, const Attention& attention) {
  const Texts texts(s, {61, 20, 0, 33}, dtype);
  const std::int64_t pages = 160 / s.page_rows + 8;
  PageTables tables(4, pages, s.page_rows, 64 / s.page_rows + 1);
  tables.next({40, 20, 0, 30});
  const PageFeed feed = tables.next({21, 0, 0, 3}, 4);
  const auto tokens = feed.slots.extent(0);
  const auto random = [&](DType of, const std::vector<std::int64_t>& extents, unsigned seed) {
    return random_tensor(of, extents, seed);
  };
  std::vector<Tensor> inputs = {random(cache, {pages, s.page_rows, s.kv_heads, s.width}, 1),
                                random(cache, {pages, s.page_rows, s.kv_heads, s.value_width}, 2),
                                random(dtype, {tokens, s.heads, s.width}, 3),
                                random(dtype, {tokens, s.kv_heads, s.width}, 4),
                                random(dtype, {tokens, s.kv_heads, s.value_width}, 5),
                                feed.slots,
                                feed.table,
                                feed.starts,
                                feed.lengths,
                                feed.key_lengths};
  if (attention.has_sinks) inputs.push_back(texts.sinks);
  expect_as_reference(cached_attention(s, dtype, cache, attention), inputs, dtype == DType::f32 ? 2e-6 : 1.0 / 128,
                      std::string(to_string(dtype)) + " over " + std::string(to_string(cache)));
}

TEST(CpuPagedAttention, IsTheReferences) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const DType cache : {DType::f32, DType::f16, DType::bf16}) {
      for (const Attention& attention : {Attention{.scale = 0.3}, kCausal,
                                         Attention{.scale = 0.4, .has_sinks = true, .causal = true, .window_left = 9},
                                         Attention{.scale = 0.4, .window_left = 5, .window_right = 2, .soft_cap = 1.5}})
        expect_as_reference_over_pages({}, dtype, cache, attention);
    }
  }
  for (const Sizes& s :
       {Sizes{.heads = 6, .kv_heads = 1, .page_rows = 1}, Sizes{.heads = 3, .kv_heads = 3, .page_rows = 2},
        Sizes{.heads = 8, .kv_heads = 2, .width = 33, .value_width = 1, .page_rows = 128}})
    expect_as_reference_over_pages(s, DType::f32, DType::f16, kCausal);
}

TEST(CpuPagedAttention, IsTheReferencesOverBytesWithScales) {
  const Sizes s{.heads = 6, .kv_heads = 3, .width = 24, .value_width = 17, .page_rows = 8};
  const Attention attention{.scale = 0.01, .has_sinks = true, .causal = true, .window_left = 30};
  const std::int64_t pages = 16;
  PageTables tables(2, pages, s.page_rows, 9);
  tables.next({60, 20});
  for (const PageFeed& feed : {tables.next({1, 3}), tables.next({3, 20}, 2)}) {
    Builder b("bytes");
    const auto random = [&](DType dtype, std::vector<std::int64_t> extents, unsigned seed) {
      return random_tensor(dtype, extents, seed);
    };
    const auto cache = [&](std::int64_t width, unsigned seed) {
      return random(DType::i8, {pages, s.page_rows, s.kv_heads, width}, seed);
    };
    const auto scales = [&](unsigned seed) { return random(DType::f32, {pages, s.page_rows, s.kv_heads, 1}, seed); };
    const std::vector<Tensor> inputs = {random(DType::f32, {feed.slots.extent(0), s.heads, s.width}, 1),
                                        cache(s.width, 2),
                                        cache(s.value_width, 3),
                                        feed.table,
                                        feed.starts,
                                        feed.lengths,
                                        feed.key_lengths,
                                        random(DType::f32, {s.heads}, 4),
                                        scales(5),
                                        scales(6)};
    std::vector<Value> operands;
    for (const Tensor& input : inputs)
      operands.push_back(b.parameter("x" + std::to_string(operands.size()), input.shape()));
    Attention of_bytes = attention;
    of_bytes.has_cache_scales = true;
    of_bytes.longest = 20;
    b.output("y", b.paged_attention(operands, of_bytes));
    expect_as_reference(b.finish(), inputs, 3e-6, "bytes");
  }
}

TEST(CpuPagedAttention, WritesIntoDonatedPages) {
  for (const DType cache : {DType::f32, DType::f16, DType::bf16}) {
    const auto facts = cpu_backend().compile(cached_attention({}, DType::f32, cache, kCausal), {})->facts();
    ASSERT_EQ(facts.aliases.size(), 2U);
    for (const backends::AliasFacts& alias : facts.aliases) EXPECT_TRUE(alias.in_place) << alias.copy_reason;
  }
}

TEST(CpuPagedAttention, RejectsPagesThatAreNotThere) {
  const Sizes s{.page_rows = 4};
  const Graph graph = cached_attention(s, DType::f32, DType::f16, kCausal);
  const auto said = [&](std::vector<std::int64_t> table, std::vector<std::int64_t> lengths,
                        std::vector<std::int64_t> key_lengths) {
    const std::vector<Tensor> inputs = {Tensor::zeros({DType::f16, {3, 4, s.kv_heads, s.width}}),
                                        Tensor::zeros({DType::f16, {3, 4, s.kv_heads, s.value_width}}),
                                        Tensor::zeros({DType::f32, {4, s.heads, s.width}}),
                                        Tensor::zeros({DType::f32, {4, s.kv_heads, s.width}}),
                                        Tensor::zeros({DType::f32, {4, s.kv_heads, s.value_width}}),
                                        vector_of({-1, 12, 1 << 30, -(1 << 30)}),
                                        vector_of(table).reshaped({2, 2}),
                                        vector_of({0, 2}),
                                        vector_of(lengths),
                                        vector_of(key_lengths)};
    try {
      run(graph, inputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.message();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(said({2, -1, 0, 1}, {2, 1}, {4, 8}), "accepted");
  EXPECT_EQ(said({2, -1, 99, 99}, {2, 0}, {4, 8}), "accepted") << "a sequence without queries reads nothing";
  EXPECT_EQ(said({2, -1, 0, 1}, {2, 1}, {5, 8}),
            "paged_attention: entry 1 of sequence 0's table is page -1, but the cache has 3");
  EXPECT_EQ(said({2, -1, 3, 1}, {2, 1}, {4, 1}),
            "paged_attention: entry 0 of sequence 1's table is page 3, but the cache has 3");
  EXPECT_EQ(
      said({2, 1, 0, 1}, {2, 1}, {9, 1}),
      "paged_attention: sequence 0 has 9 keys for 2 queries in a table of 2 pages of 4 rows; key lengths count the "
      "queries' own tokens");
  EXPECT_EQ(
      said({2, 1, 0, 1}, {2, 1}, {2, 0}),
      "paged_attention: sequence 1 has 0 keys for 1 queries in a table of 2 pages of 4 rows; key lengths count the "
      "queries' own tokens");
  EXPECT_NE(said({2, 1, 0, 1}, {2, 3}, {2, 4}).find("covers tokens 2 to 5"), std::string::npos);
}

}  // namespace
}  // namespace alate::cpu
