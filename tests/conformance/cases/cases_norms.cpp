// Norms of batches, channels and rows, and rotary embeddings.
#include "tests/conformance/cases/cases.h"

namespace alate::conformance {
namespace {

using graph::Dims;

// x, then `vectors` rows of one number for each place of `axis`; variances are not negative.
void add_batch_norm(Cases& cases, const Form& form, std::size_t vectors, bool has_gradient, std::size_t variance) {
  std::vector<std::pair<Dims, std::int64_t>> shapes = {{{3, 4, 5}, 1}, {{2, 3, 4, 5}, 3}, {{5, 3}, 0},
                                                       {{9}, 0},       {{2, 1}, 1},       {{0, 3}, 1},
                                                       {{3, 0}, 1},    {{17, 33, 9}, 1}};
  if (form.is_for_speed()) shapes.push_back({{8, 64, form.large / 512}, 1});
  for (const auto& [dims, axis] : shapes) {
    for (const double epsilon : {1e-5, 0.5}) {
      std::vector<Dims> all = {dims};
      all.insert(all.end(), vectors, {dims[static_cast<std::size_t>(axis)]});
      if (has_gradient) all.push_back(dims);
      Case subject{
          .op = form.op.op, .operands = operands_of(form.dtype, all), .attributes = graph::BatchNorm{epsilon, axis}};
      if (variance != 0) subject.operands[variance].values = {"positive"};
      cases.push_back(subject);
    }
  }
}

}  // namespace

Cases batch_norm_inference_cases(const Form& form) {
  Cases cases;
  add_batch_norm(cases, form, 4, false, 4);
  return cases;
}

Cases batch_norm_training_cases(const Form& form) {
  Cases cases;
  add_batch_norm(cases, form, 2, false, 0);
  return cases;
}

Cases batch_norm_gradient_cases(const Form& form) {
  Cases cases;
  add_batch_norm(cases, form, 3, true, 3);
  return cases;
}

Cases rms_norm_cases(const Form& form) {
  Cases cases;
  for (const Dims& dims :
       {Dims{3, 5}, Dims{2, 3, 7}, Dims{1, 1}, Dims{0, 4}, Dims{33}, Dims{5, 1025}, Dims{form.large / 384, 384}}) {
    cases.push_back({.op = form.op.op,
                     .operands = operands_of(form.dtype, {dims, {dims.back()}}),
                     .attributes = graph::Norm{1e-5}});
  }
  return cases;
}

Cases group_norm_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const Dims& dims, std::int64_t groups, std::int64_t axis) {
    const Dim channels = dims[static_cast<std::size_t>(axis)];
    cases.push_back({.op = form.op.op,
                     .operands = operands_of(form.dtype, {dims, {channels}, {channels}}),
                     .attributes = graph::GroupNorm{groups, 1e-5, axis}});
  };
  add({2, 6, 5}, 3, 1);
  add({2, 6, 4, 3}, 1, 1);
  add({2, 5, 6}, 2, 2);
  add({2, 6}, 6, 1);
  add({0, 4, 3}, 2, 1);
  add({1, 32, 33, 5}, 8, 1);
  if (form.is_for_speed()) add({4, 64, form.large / 256}, 32, 1);
  return cases;
}

Cases rope_cases(const Form& form) {
  Cases cases;
  const auto add = [&](const Dims& leading, std::int64_t heads, std::int64_t width, std::int64_t half, DType tables) {
    for (const bool interleaved : {false, true}) {
      Dims dims = leading;
      dims.insert(dims.end(), {heads, width});
      Case subject{.op = form.op.op, .operands = operands_of(form.dtype, {dims})};
      Case direct = subject;
      subject.operands.push_back({.shape = {DType::i32, leading}, .values = {"wild", 9}});
      Dims by_token = leading;
      by_token.push_back(half);
      for (int table = 0; table < 2; ++table) {
        subject.operands.push_back({.shape = {tables, {9, half}}, .values = {"units"}});
        direct.operands.push_back({.shape = {tables, by_token}, .values = {"units"}});
      }
      subject.attributes = graph::Rope{true, interleaved};
      direct.attributes = graph::Rope{false, interleaved};
      cases.push_back(subject);
      cases.push_back(direct);
    }
  };
  add({2, 3}, 4, 8, 4, form.dtype);
  add({5}, 2, 10, 3, form.dtype);  // part of the width
  add({3}, 1, 7, 3, DType::f32);
  add({0}, 2, 4, 2, form.dtype);
  add({3}, 2, 4, 0, form.dtype);
  add({}, 2, 4, 2, form.dtype);
  add({2, 65}, 3, 64, 32, DType::f32);
  if (form.is_for_speed()) add({4, form.large / 16384}, 32, 128, 64, DType::f32);
  return cases;
}

}  // namespace alate::conformance
