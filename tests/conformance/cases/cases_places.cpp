// Ops that read or write at indices given by values, such as gather and scatter.
#include "tests/conformance/cases/cases.h"

namespace alate::conformance {
namespace {

using graph::Dims;

Case with_places(const Form& form, const std::vector<Dims>& dims, const std::vector<Operand>& places,
                 graph::Attributes attributes, const ValueKind& values = {"bits"}) {
  Case subject{
      .op = form.op.op, .operands = operands_of(form.dtype, dims, values), .attributes = std::move(attributes)};
  subject.operands.insert(subject.operands.begin() + 1, places.begin(), places.end());
  return subject;
}

Operand place(DType dtype, std::int64_t extent, const char* kind = "wild") {
  return {.shape = {dtype, {}}, .values = {kind, extent}};
}

}  // namespace

Cases dynamic_slice_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const Dims& dims, Dims sizes, DType index) {
    std::vector<Operand> places;
    for (const Dim dim : dims) places.push_back(place(index, dim.number()));
    cases.push_back(with_places(form, {dims}, places, graph::DynamicSlice{std::move(sizes)}));
  };
  add({7, 5}, {3, 2}, DType::i32);
  add({7, 5}, {7, 1}, DType::i64);
  add({7, 5}, {0, 5}, DType::i32);
  add({}, {}, DType::i32);
  add({0}, {0}, DType::i32);
  for (const DType index : {DType::i8, DType::u8, DType::i16, DType::u16, DType::u32, DType::u64}) add({9}, {4}, index);
  add({form.large / 64, 64}, {form.large / 128, 33}, DType::i32);
  return cases;
}

Cases dynamic_update_slice_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const Dims& dims, const Dims& update, DType index) {
    Case subject{.op = form.op.op,
                 .operands = operands_of(form.dtype, {dims, update}, {"bits"}),
                 .attributes = graph::NoAttributes{}};
    for (const Dim dim : dims) subject.operands.push_back(place(index, dim.number()));
    cases.push_back(subject);
  };
  add({7, 5}, {3, 2}, DType::i32);
  add({7, 5}, {7, 5}, DType::i64);
  add({7, 5}, {0, 5}, DType::i32);
  add({}, {}, DType::i32);
  add({0}, {0}, DType::i32);
  for (const DType index : {DType::i8, DType::u8, DType::u32, DType::u64}) add({9}, {4}, index);
  add({form.large / 64, 64}, {form.large / 128, 33}, DType::i32);
  return cases;
}

Cases dimension_size_cases(const Form& form) {
  Cases cases;
  for (const auto& [dims, axis] : {std::pair<Dims, std::int64_t>{{3, 5}, 1}, {{3, 0}, 1}, {{7}, 0}, {{2, 1, 4}, 2}})
    cases.push_back(with_places(form, {dims}, {}, graph::Axis{axis}));
  return cases;
}

Cases dynamic_reshape_cases(const Form& form) {
  Cases cases;
  // The extents are values: those that places of one number each can give are all alike.
  const auto add = [&](const Dims& dims, const Dims& result, const char* kind) {
    const Operand wanted{.shape = {DType::i32, {static_cast<std::int64_t>(result.size())}}, .values = {kind, 1}};
    cases.push_back(with_places(form, {dims}, {wanted}, graph::Reshape{result}));
  };
  add({1}, {1, 1}, "ones");
  add({1, 1}, {1}, "ones");
  add({}, {}, "ones");
  add({0}, {0, 0}, "places");
  return cases;
}

Cases gather_cases(const Form& form) {
  Cases cases;
  const auto add = [&](Dims x, Dims indices, DType index, ValueKind places, graph::Gather gather) {
    std::vector<Operand> operands = operands_of(form.dtype, {std::move(x)}, {"bits"});
    operands.push_back({.shape = {index, std::move(indices)}, .values = std::move(places)});
    cases.push_back({.op = form.op.op, .operands = operands, .attributes = std::move(gather)});
  };
  graph::Gather rows{.offset_dims = {1},
                     .collapsed_slice_dims = {0},
                     .start_index_map = {0},
                     .index_vector_dim = 1,
                     .slice_sizes = {}};
  rows.slice_sizes = {1, 5};
  add({7, 5}, {4}, DType::i32, {"places", 7}, rows);
  add({7, 5}, {16}, DType::i32, {"wild", 7}, rows);
  add({7, 5}, {0}, DType::i32, {"places", 7}, rows);
  for (const DType index : {DType::i8, DType::u8, DType::i16, DType::u16, DType::u32, DType::i64, DType::u64})
    add({7, 5}, {9}, index, {"wild", 7}, rows);
  rows.slice_sizes = {1, 0};
  add({7, 0}, {4}, DType::i32, {"places", 7}, rows);
  rows.slice_sizes = {1, 300};
  add({form.large / 300, 300}, {form.large / 300}, DType::i32, {"places", form.large / 300}, rows);
  graph::Gather elements{.offset_dims = {},
                         .collapsed_slice_dims = {0, 1},
                         .start_index_map = {1, 0},
                         .index_vector_dim = 1,
                         .slice_sizes = {}};
  elements.slice_sizes = {1, 1};
  add({7, 5}, {6, 2}, DType::i32, {"wild", 5}, elements);
  graph::Gather windows{.offset_dims = {0, 2},
                        .collapsed_slice_dims = {},
                        .start_index_map = {0},
                        .index_vector_dim = 1,
                        .slice_sizes = {}};
  windows.slice_sizes = {3, 2};
  add({7, 5}, {4}, DType::i64, {"wild", 7}, windows);
  graph::Gather scalar{.offset_dims = {0},
                       .collapsed_slice_dims = {0},
                       .start_index_map = {0},
                       .index_vector_dim = 0,
                       .slice_sizes = {}};
  scalar.slice_sizes = {1, 5};
  add({7, 5}, {}, DType::i32, {"places", 7}, scalar);
  graph::Gather first{.offset_dims = {1, 2},
                      .collapsed_slice_dims = {},
                      .start_index_map = {0, 1},
                      .index_vector_dim = 0,
                      .slice_sizes = {}};
  first.slice_sizes = {2, 2};
  add({7, 5}, {2, 3}, DType::i32, {"wild", 6}, first);
  return cases;
}

Cases scatter_cases(const Form& form) {
  Cases cases;
  const auto add = [&](Dims x, Dims indices, Dims updates, ValueKind places, graph::Scatter scatter,
                       const char* values = "numbers") {
    const Operand at{.shape = {DType::i32, std::move(indices)}, .values = std::move(places)};
    cases.push_back(with_places(form, {std::move(x), std::move(updates)}, {at}, std::move(scatter), {values}));
  };
  graph::Scatter rows;
  rows.update_window_dims = {1};
  rows.inserted_window_dims = {0};
  rows.scatter_dims_to_operand_dims = {0};
  rows.index_vector_dim = 1;
  add({7, 5}, {4}, {4, 5}, {"places", 7}, rows);
  add({7, 5}, {16}, {16, 5}, {"wild", 7}, rows);
  add({7, 5}, {16}, {16, 3}, {"places", 7}, rows);
  add({7, 5}, {16}, {16, 5}, {"places", 7}, rows, "specials");
  add({7, 5}, {0}, {0, 5}, {"places", 7}, rows);
  add({7, 0}, {3}, {3, 0}, {"places", 7}, rows);
  add({0, 5}, {3}, {3, 5}, {"wild", 7}, rows);
  add({300, 64}, {500}, {500, 64}, {"places", 300}, rows);
  if (form.is_for_speed())
    add({form.large / 300, 300}, {form.large / 600}, {form.large / 600, 300}, {"places", form.large / 300}, rows);
  graph::Scatter elements;
  elements.inserted_window_dims = {0, 1};
  elements.scatter_dims_to_operand_dims = {1, 0};
  elements.index_vector_dim = 1;
  add({5, 6}, {40, 2}, {40}, {"wild", 6}, elements);
  add({5, 6}, {40, 2}, {40}, {"wild", 6}, elements, "exact");
  graph::Scatter windows;
  windows.update_window_dims = {0, 2};
  windows.scatter_dims_to_operand_dims = {0};
  windows.index_vector_dim = 1;
  add({7, 5}, {4}, {3, 4, 2}, {"wild", 7}, windows);
  graph::Scatter batched;
  batched.update_window_dims = {};
  batched.inserted_window_dims = {1};
  batched.input_batching_dims = {0};
  batched.scatter_indices_batching_dims = {0};
  batched.scatter_dims_to_operand_dims = {1};
  batched.index_vector_dim = 2;
  add({3, 7}, {3, 4}, {3, 4}, {"wild", 7}, batched);
  return cases;
}

}  // namespace alate::conformance
