// Ops that move elements and compute nothing.
#include <numeric>

#include "tests/conformance/cases.h"

namespace alate::conformance {
namespace {

using graph::Dims;
using graph::Numbers;

class CaseList {
 public:
  explicit CaseList(const Form& form) : form_(form) {}
  void add(const std::vector<Dims>& dims, graph::Attributes attributes) {
    cases_.push_back({.op = form_.op.op,
                      .operands = operands_of(form_.dtype, dims, {dims.empty() ? "numbers" : "bits"}),
                      .attributes = std::move(attributes)});
  }
  Cases take() { return std::move(cases_); }

 private:
  const Form& form_;
  Cases cases_;
};

}  // namespace

Cases iota_cases(const Form& form) {
  CaseList list(form);
  list.add({}, graph::Iota{form.dtype, {5}, 0});
  list.add({}, graph::Iota{form.dtype, {2, 7, 3}, 1});
  list.add({}, graph::Iota{form.dtype, {2, 7, 3}, 2});
  list.add({}, graph::Iota{form.dtype, {4, 0}, 0});
  list.add({}, graph::Iota{form.dtype, {0}, 0});
  list.add({}, graph::Iota{form.dtype, {300}, 0});  // wraps in bytes, rounds in bf16
  list.add({}, graph::Iota{form.dtype, {Dim::of_id(5), 3}, 0});
  list.add({}, graph::Iota{form.dtype, {3, 70001}, 1});
  return list.take();
}

Cases reshape_cases(const Form& form) {
  CaseList list(form);
  list.add({{2, 3}}, graph::Reshape{{6}});
  list.add({{4, 3, 5}}, graph::Reshape{{2, 2, 15}});
  list.add({{}}, graph::Reshape{{1, 1}});
  list.add({{1}}, graph::Reshape{{}});
  list.add({{0, 3}}, graph::Reshape{{7, 0, 2}});
  list.add({{Dim::of_id(5), 4}}, graph::Reshape{{Dim::of_id(5), 2, 2}});
  list.add({{form.large}}, graph::Reshape{{1, form.large, 1}});
  return list.take();
}

Cases transpose_cases(const Form& form) {
  CaseList list(form);
  list.add({{3, 5}}, graph::Permutation{{1, 0}});
  list.add({{2, 3, 5}}, graph::Permutation{{2, 0, 1}});
  list.add({{2, 3, 5, 7}}, graph::Permutation{{0, 2, 1, 3}});
  list.add({{2, 3, 5, 7}}, graph::Permutation{{3, 1, 0, 2}});
  list.add({{2, 1, 3, 1, 2}}, graph::Permutation{{4, 3, 2, 1, 0}});
  list.add({{}}, graph::Permutation{{}});
  list.add({{9}}, graph::Permutation{{0}});
  list.add({{3, 0}}, graph::Permutation{{1, 0}});
  list.add({{67, 129}}, graph::Permutation{{1, 0}});
  const std::int64_t side = form.large > 1000000 ? 4096 : 363;
  list.add({{side, form.large / side}}, graph::Permutation{{1, 0}});
  list.add({{17, 33, 65}}, graph::Permutation{{0, 2, 1}});
  return list.take();
}

Cases broadcast_in_dim_cases(const Form& form) {
  CaseList list(form);
  list.add({{3}}, graph::BroadcastInDim{{2, 3}, {1}});
  list.add({{3}}, graph::BroadcastInDim{{3, 2}, {0}});
  list.add({{}}, graph::BroadcastInDim{{2, 3}, {}});
  list.add({{}}, graph::BroadcastInDim{{}, {}});
  list.add({{1, 3}}, graph::BroadcastInDim{{4, 3}, {0, 1}});
  list.add({{2, 3}}, graph::BroadcastInDim{{3, 5, 2}, {2, 0}});
  list.add({{1}}, graph::BroadcastInDim{{0, 4}, {1}});
  list.add({{0}}, graph::BroadcastInDim{{3, 0}, {1}});
  list.add({{2, 1, 5}}, graph::BroadcastInDim{{2, 7, 5}, {0, 1, 2}});
  list.add({{1, Dim::of_id(5)}}, graph::BroadcastInDim{{Dim::of_id(3), Dim::of_id(5)}, {0, 1}});
  list.add({{257}}, graph::BroadcastInDim{{form.large / 257, 257}, {1}});
  list.add({{form.large / 257}}, graph::BroadcastInDim{{form.large / 257, 257}, {0}});
  return list.take();
}

Cases concatenate_cases(const Form& form) {
  CaseList list(form);
  list.add({{2, 3}, {2, 4}}, graph::Axis{1});
  list.add({{2, 3}, {4, 3}, {1, 3}}, graph::Axis{0});
  list.add({{5}}, graph::Axis{0});
  list.add({{0}, {3}, {0}}, graph::Axis{0});
  list.add({{2, 0}, {2, 0}}, graph::Axis{0});
  list.add({{2, 3, 5}, {2, 1, 5}}, graph::Axis{1});
  list.add(std::vector<Dims>(20, {1, 3}), graph::Axis{0});
  list.add({{form.large}, {form.large / 2}}, graph::Axis{0});
  list.add({{form.large / 100, 64}, {form.large / 100, 33}}, graph::Axis{1});
  return list.take();
}

Cases slice_cases(const Form& form) {
  CaseList list(form);
  list.add({{9}}, graph::Slice{{2}, {7}, {}});
  list.add({{9}}, graph::Slice{{1}, {9}, {3}});
  list.add({{4, 9}}, graph::Slice{{1, 0}, {4, 9}, {2, 2}});
  list.add({{4, 9}}, graph::Slice{{0, 3}, {4, 3}, {1, 1}});
  list.add({{}}, graph::Slice{{}, {}, {}});
  list.add({{0, 3}}, graph::Slice{{0, 1}, {0, 2}, {1, 1}});
  list.add({{Dim::of_id(5), 6}}, graph::Slice{{0, 2}, {Dim::of_id(5), 5}, {1, 2}});
  list.add({{3, 5, 7, 2}}, graph::Slice{{1, 1, 1, 0}, {3, 4, 6, 2}, {1, 2, 3, 1}});
  list.add({{5}}, graph::Slice{{4}, {5}, {100}});
  list.add({{form.large}}, graph::Slice{{1}, {form.large}, {2}});
  list.add({{form.large / 129, 129}}, graph::Slice{{0, 1}, {form.large / 129, 128}, {1, 1}});
  return list.take();
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

}  // namespace alate::conformance
