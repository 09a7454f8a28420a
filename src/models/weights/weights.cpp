#include "models/weights/weights.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "alate/error.h"
#include "graph/interpreter.h"
#include "models/weights/restored_weights.h"

namespace alate::models {
namespace {

// TensorFlow's names for a norm's weights, found in converted checkpoints, and torch's for a matrix with adapters.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOldNames = {
    {{"LayerNorm.weight", "LayerNorm.gamma"},
     {"LayerNorm.bias", "LayerNorm.beta"},
     {".weight", ".parametrizations.weight.original"}}};

// Prefixes of language models within models that see images too: of files of now, and of older ones.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOldPrefixes = {
    {{"model.language_model.", "language_model.model."}, {"model.language_model.", "language_model."}}};

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

Weights::Weights(const formats::WeightSource& source, std::string prefix, WeightSettings settings,
                 const TensorsByName* instead)
    : source_(source), prefix_(std::move(prefix)), settings_(std::move(settings)), instead_(instead) {}

const Tensor* Weights::replacement(std::string_view stored) const {
  if (instead_ == nullptr) return nullptr;
  const auto found = instead_->find(stored);
  return found == instead_->end() ? nullptr : &found->second;
}

bool Weights::holds(std::string_view stored) const {
  return replacement(stored) != nullptr || source_.contains(stored);
}

Shape Weights::stored_shape(std::string_view stored) const {
  if (const Tensor* other = replacement(stored)) return other->shape();
  const formats::WeightInfo info = *source_.info(stored);
  return info.encoding ? info.shape : settings_.quantization.shape_of(stored, info.shape);
}

formats::WeightChange Weights::change_of(std::string_view stored) const {
  return replacement(stored) != nullptr ? formats::WeightChange() : source_.info(stored)->change;
}

std::optional<tensor::EncodingKind> Weights::encoding_of(std::string_view stored) const {
  return replacement(stored) != nullptr ? std::nullopt : source_.info(stored)->encoding;
}

graph::ConstantPtr Weights::leaf(const std::string& stored) {
  used_.insert(stored);
  if (const Tensor* other = replacement(stored)) return graph::make_constant(stored, *other);
  Tensor tensor = source_.tensor(stored);
  const Shape shape = stored_shape(stored);
  if (shape.dtype != DType::u4 || tensor.dtype() == DType::u4)
    return with_halves(graph::make_constant(stored, std::move(tensor), source_.identity(stored)),
                       change_of(stored).paired_heads, stored);
  const auto bytes = std::make_shared<const Tensor>(std::move(tensor));
  return graph::make_constant(stored, Tensor::borrow(shape, bytes->bytes().data(), bytes), source_.identity(stored));
}

Tensor Weights::floats(std::string_view stored) const {
  const Tensor* other = replacement(stored);
  const Tensor tensor = other != nullptr ? *other : source_.tensor(stored);
  const formats::WeightChange change = change_of(stored);
  const bool is_as_stored = change.paired_heads == 0 && !change.has_one_added;
  if (is_as_stored && tensor.dtype() == DType::f32 && !encoding_of(stored)) return tensor;
  const std::string name(stored);
  return graph::materialize(
      *restored_floats(with_halves(graph::make_constant(name, tensor), change.paired_heads, name), name));
}

graph::ConstantPtr Weights::restored_floats(graph::ConstantPtr stored_rows, const std::string& stored) const {
  const Shape shape{DType::f32, stored_shape(stored).dims};
  graph::ConstantPtr floats = std::move(stored_rows);
  if (const auto encoding = encoding_of(stored)) {
    floats = graph::make_constant(graph::Op::dequantize, graph::Dequantize{.encoding = *encoding}, shape,
                                  {std::move(floats)});
  } else if (floats->shape.dtype != DType::f32) {
    floats = graph::make_constant(graph::Op::convert, graph::Convert{.dtype = DType::f32}, shape, {std::move(floats)});
  }
  return change_of(stored).has_one_added ? without_one(std::move(floats)) : floats;
}

std::string Weights::spelled_name(std::string_view name) const {
  for (const std::string& spelling : {std::string(name), in_old_spelling(name)}) {
    if (spelling.empty()) continue;
    if (holds(spelling)) return spelling;
    if (holds(prefix_ + spelling)) return prefix_ + spelling;
    for (const auto& [now, then] : kOldPrefixes) {
      if (prefix_ == now && holds(std::string(then) + spelling)) return std::string(then) + spelling;
    }
  }
  return {};
}

std::string Weights::stored_name(std::string_view name) const {
  std::string found = spelled_name(name);
  for (const auto& [one, other] : ties_) {
    if (!found.empty()) break;
    if (name == one) found = spelled_name(other);
    if (name == other) found = spelled_name(one);
  }
  return found;
}

std::vector<std::int64_t> Weights::extents(std::string_view name) const {
  const std::string stored = stored_name(name);
  if (stored.empty())
    throw make_error(ErrorCode::not_found, "the model's weights lack '", name, "' (also looked for as '", prefix_, name,
                     "'): the file is of another architecture or incomplete");
  std::vector<std::int64_t> extents;
  for (const Dim dim : stored_shape(stored).dims) extents.push_back(dim.number());
  return extents;
}

std::int64_t Weights::rows(std::string_view name) const {
  const std::vector<std::int64_t> found = extents(name);
  if (found.size() == 2 && found[0] > 0) return found[0];
  throw make_error(ErrorCode::corrupt, "weight '", name, "' has shape ", to_text(found),
                   " where a matrix with rows is wanted: the file is of another architecture");
}

std::string Weights::require(std::string_view name, const std::vector<std::int64_t>& wanted) const {
  const std::vector<std::int64_t> found = extents(name);
  if (found != wanted) {
    throw make_error(ErrorCode::corrupt, "weight '", name, "' has shape ", to_text(found), " but config.json asks for ",
                     to_text(wanted), ": the files do not belong together");
  }
  return stored_name(name);
}

graph::Value Weights::get(graph::Builder& b, std::string_view name, const std::vector<std::int64_t>& wanted) {
  return b.constant(in_float32(require(name, wanted)));
}

graph::ConstantPtr Weights::in_float32(const std::string& stored, std::int64_t groups) {
  if (is_stored_in_8_bits(stored) || is_stored_unsigned(stored)) {
    const Shape shape{DType::f32, stored_shape(stored).dims};
    const StoredRows rows = is_stored_unsigned(stored) ? unsigned_rows(stored) : stored_rows(stored, groups);
    return graph::make_constant(
        graph::Op::dequantize, graph::Dequantize{.blocks = rows.blocks, .has_zero_points = rows.zero_points != nullptr},
        shape, rows.operands());
  }
  graph::ConstantPtr constant = leaf(stored);
  if (!encoding_of(stored) && !graph::contains(graph::kFloats, constant->shape.dtype)) {
    throw make_error(ErrorCode::unsupported, "weight '", stored, "' is stored as ", to_string(constant->shape.dtype),
                     ", which this architecture does not read: ", to_string(constant->shape.dtype));
  }
  return restored_floats(std::move(constant), stored);
}

std::vector<std::string> Weights::unused() const {
  std::vector<std::string> names;
  for (const std::string_view name : source_.names()) {
    if (!used_.contains(name)) names.emplace_back(name);
  }
  return names;
}

}  // namespace alate::models
