#include "models/weights.h"

#include <algorithm>
#include <array>
#include <utility>

#include "alate/error.h"

namespace alate::models {
namespace {

// TensorFlow's names of a norm's weights, in checkpoints that were converted from it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOldNames = {
    {{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}}};

std::string in_old_spelling(std::string_view name) {
  for (const auto& [now, then] : kOldNames) {
    if (name.ends_with(now)) return std::string(name.substr(0, name.size() - now.size())) + std::string(then);
  }
  return {};
}

std::string to_text(const std::vector<std::int64_t>& extents) {
  std::string text = "[";
  for (const std::int64_t extent : extents) text += (text.size() > 1 ? "," : "") + std::to_string(extent);
  return text + "]";
}

}  // namespace

Weights::Weights(const formats::SafetensorsModel& file, std::string prefix) : file_(file), prefix_(std::move(prefix)) {}

std::string Weights::stored_name(std::string_view name) const {
  for (const std::string& spelling : {std::string(name), in_old_spelling(name)}) {
    if (spelling.empty()) continue;
    if (file_.contains(spelling)) return spelling;
    if (file_.contains(prefix_ + spelling)) return prefix_ + spelling;
  }
  return {};
}

std::vector<std::int64_t> Weights::extents(std::string_view name) const {
  const std::string stored = stored_name(name);
  if (stored.empty())
    throw make_error(ErrorCode::not_found, "the model's weights lack '", name, "' (also looked for as '", prefix_, name,
                     "'): the file is of another architecture or incomplete");
  std::vector<std::int64_t> extents;
  for (const Dim dim : file_.find(stored)->shape.dims) extents.push_back(dim.number());
  return extents;
}

std::int64_t Weights::rows(std::string_view name) const {
  const std::vector<std::int64_t> found = extents(name);
  if (found.size() == 2 && found[0] > 0) return found[0];
  throw make_error(ErrorCode::corrupt, "weight '", name, "' has shape ", to_text(found),
                   " where a matrix with rows is wanted: the file is of another architecture");
}

graph::Value Weights::get(graph::Builder& b, std::string_view name, std::vector<std::int64_t> wanted) {
  const std::vector<std::int64_t> found = extents(name);
  if (found != wanted) {
    throw make_error(ErrorCode::corrupt, "weight '", name, "' has shape ", to_text(found), " but config.json asks for ",
                     to_text(wanted), ": the files do not belong together");
  }
  const std::string stored = stored_name(name);
  used_.insert(stored);
  Tensor tensor = file_.tensor(stored);
  const DType dtype = tensor.dtype();
  if (!graph::contains(graph::kFloats, dtype)) {
    throw make_error(ErrorCode::unsupported, "weight '", name, "' is stored as ", to_string(dtype),
                     ", which this architecture does not read: ", to_string(dtype));
  }
  graph::ConstantPtr constant = graph::make_constant(stored, std::move(tensor), file_.identity(stored));
  if (dtype != DType::f32) {
    constant = graph::make_constant(graph::Op::convert, graph::Convert{.dtype = DType::f32},
                                    {DType::f32, {wanted.begin(), wanted.end()}}, {std::move(constant)});
  }
  return b.constant(std::move(constant));
}

std::vector<std::string> Weights::unused() const {
  std::vector<std::string> names;
  for (const std::string_view name : file_.names()) {
    if (!used_.contains(name)) names.emplace_back(name);
  }
  return names;
}

Fingerprint Weights::fingerprint() const {
  FingerprintBuilder builder;
  for (const std::string_view name : file_.names()) builder.add(file_.identity(name));
  return builder.finish();
}

}  // namespace alate::models
