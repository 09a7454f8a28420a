// Random graphs with donated parameters, in place and apart, against the reference interpreter.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "graph/builder_functions.h"
#include "graph/text/text.h"
#include "tests/sanitizers.h"
#include "tests/unit/backends/cpu/plan_testing.h"

namespace alate::cpu {
namespace {

using graph::Builder;
using graph::Value;

constexpr std::int64_t kRows = 67, kWidth = 4;

// Ops over values i32[rows,4], so that results are exact. Two of the parameters are donated.
class RandomGraph {
 public:
  RandomGraph(std::uint32_t seed, bool has_named_rows) : generator_(seed), b_("random " + std::to_string(seed)) {
    rows_ = has_named_rows ? b_.dim("rows", 1) : Dim(kRows);
    for (const char* name : {"first", "second"}) values_.push_back(b_.parameter(name, whole(), true));
    values_.push_back(b_.parameter("third", whole()));
    places_ = b_.parameter("places", {DType::i32, {rows_}});
    place_ = b_.parameter("place", {DType::i32, {}});
    for (std::size_t steps = 2 + below(7); steps > 0; --steps) values_.push_back(made());
  }

  Builder finish() && {
    b_.output("first", late(), 0);
    b_.output("other", any());
    b_.output("second", late(), 1);
    b_.output("another", any());
    return std::move(b_);
  }

 private:
  std::size_t below(std::size_t end) { return generator_() % end; }
  Value any() { return values_[below(values_.size())]; }
  // One of the last values, which depend on most others.
  Value late() { return values_[values_.size() - 1 - below(3)]; }
  Shape whole() const { return {DType::i32, {rows_, kWidth}}; }

  Value made() {
    const Value x = any(), y = any();
    switch (below(13)) {
      case 0: return b_.add({x, y});
      case 1: return b_.sub({x, y});
      case 2: return b_.max({x, b_.mul({y, scalar_like(b_, 3, y)})});
      case 3: return b_.neg({x});
      case 4: return take_rows(b_, x, places_);
      case 5: return b_.reverse({x}, {.axes = {0}});
      case 6: return broadcast_to(b_, b_.reduce_max({x}, {.axes = {0}}), whole().dims);
      case 7: return halves_swapped(x);
      case 8:
      case 9: return b_.scatter_set({x, places_, y}, row_scatter());
      case 10: return b_.scatter_sum({x, places_, y}, row_scatter());
      default: return rows_.is_number() ? updated(x, y) : b_.scatter_max({x, places_, y}, row_scatter());
    }
  }

  static graph::Scatter row_scatter() {
    return {.update_window_dims = {1},
            .inserted_window_dims = {0},
            .input_batching_dims = {},
            .scatter_indices_batching_dims = {},
            .scatter_dims_to_operand_dims = {0},
            .index_vector_dim = 1};
  }

  Value halves_swapped(Value x) {
    const Value left = b_.slice({x}, {.starts = {0, 0}, .limits = {rows_, 2}, .strides = {}});
    const Value right = b_.slice({x}, {.starts = {0, 2}, .limits = {rows_, kWidth}, .strides = {}});
    return b_.concatenate({right, left}, {.axis = 1});
  }

  // Elements of y over some of x, both as vectors.
  Value updated(Value x, Value y) {
    const auto flat = [&](Value value) { return b_.reshape({value}, {.dims = {kRows * kWidth}}); };
    const Value part = b_.slice({flat(y)}, {.starts = {3}, .limits = {40}, .strides = {}});
    return b_.reshape({b_.dynamic_update_slice({flat(x), part, place_})}, {.dims = whole().dims});
  }

  std::mt19937 generator_;
  Builder b_;
  Dim rows_;
  Value places_, place_;
  std::vector<Value> values_;
};

std::vector<Tensor> random_inputs(std::uint32_t seed) {
  std::vector<Tensor> inputs;
  for (std::uint32_t i = 0; i < 3; ++i) inputs.push_back(random_tensor(DType::i32, {kRows, kWidth}, 3 * seed + i));
  Tensor places = Tensor::zeros({DType::i32, {kRows}});
  std::mt19937 generator(seed);
  for (std::int32_t& place : places.mutable_values<std::int32_t>())
    place = static_cast<std::int32_t>(generator() % (kRows + 2)) - 1;  // some are outside
  inputs.push_back(places);
  inputs.push_back(Tensor::scalar(static_cast<std::int32_t>(generator() % (kRows * kWidth))));
  return inputs;
}

// Counts the aliases in place and those that are copies.
struct Counts {
  std::size_t in_place = 0, copied = 0;
};

void expect_as_reference(std::uint32_t seed, bool has_named_rows, Counts& counts) {
  const Program program(RandomGraph(seed, has_named_rows).finish());
  const std::vector<Tensor> inputs = random_inputs(seed), before = random_inputs(seed);
  const std::vector<Tensor> wanted = graph::interpret(program.graph, inputs, base::Cancellation::never());
  for (const PlanAlias& alias : program.plan.aliases) {
    ++(alias.in_place ? counts.in_place : counts.copied);
    EXPECT_EQ(alias.in_place, alias.copy_reason.empty());
  }
  for (const std::size_t workers : {1, 3}) {
    const std::vector<Tensor> apart = program.run(inputs, workers), in_place = program.run_in_place(inputs, workers);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(apart[i].bytes(), wanted[i].bytes())) << "output " << i << " apart";
      EXPECT_TRUE(std::ranges::equal(in_place[i].bytes(), wanted[i].bytes())) << "output " << i << " in place";
    }
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(inputs[i].bytes(), before[i].bytes())) << "input " << i;
}

TEST(CpuDonation, AgreesWithTheReferenceOnRandomGraphs) {
  Counts counts;
  for (std::uint32_t seed = 0; seed < 120; seed += static_cast<std::uint32_t>(tests::one_case_of(10))) {
    for (const bool has_named_rows : {false, true}) {
      expect_as_reference(seed, has_named_rows, counts);
      if (HasFailure()) FAIL() << print_graph(Program(RandomGraph(seed, has_named_rows).finish()).graph);
    }
  }
  EXPECT_GT(counts.in_place, counts.copied);
  EXPECT_GT(counts.copied, 0U);
}

}  // namespace
}  // namespace alate::cpu
