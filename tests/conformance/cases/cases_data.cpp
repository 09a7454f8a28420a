// Ops that only move elements.
#include <numeric>

#include "tests/conformance/cases/cases.h"

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
  if (form.is_for_speed()) list.add({}, graph::Iota{form.dtype, {form.large}, 0});
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
  const std::int64_t side = form.is_for_speed() ? 4096 : 363;
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

Cases pad_cases(const Form& form) {
  CaseList list(form);
  list.add({{2, 3}, {}}, graph::Pad{{1, 0}, {0, 2}, {0, 0}});
  list.add({{2, 3}, {}}, graph::Pad{{1, 1}, {1, 1}, {2, 1}});
  list.add({{5}, {}}, graph::Pad{{-1}, {-2}, {0}});
  list.add({{5}, {}}, graph::Pad{{-2}, {3}, {1}});
  list.add({{5}, {}}, graph::Pad{{-3}, {-2}, {0}});
  list.add({{0, 2}, {}}, graph::Pad{{2, 0}, {1, 0}, {3, 0}});
  list.add({{}, {}}, graph::Pad{{}, {}, {}});
  list.add({{2, 3, 5}, {}}, graph::Pad{{0, 2, -1}, {1, 0, 2}, {1, 0, 3}});
  list.add({{Dim::of_id(5), 3}, {}}, graph::Pad{{0, 1}, {0, 1}, {}});
  list.add({{form.large / 100, 100}, {}}, graph::Pad{{1, 1}, {1, 1}, {0, 0}});
  return list.take();
}

Cases reverse_cases(const Form& form) {
  CaseList list(form);
  list.add({{3, 5}}, graph::Axes{{1}});
  list.add({{3, 5}}, graph::Axes{{0}});
  list.add({{2, 3, 5}}, graph::Axes{{2, 0}});
  list.add({{3, 5}}, graph::Axes{{}});
  list.add({{}}, graph::Axes{{}});
  list.add({{0, 5}}, graph::Axes{{0, 1}});
  list.add({{1025}}, graph::Axes{{0}});
  list.add({{form.large / 65, 65}}, graph::Axes{{1}});
  return list.take();
}

}  // namespace alate::conformance
