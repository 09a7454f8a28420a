#include "graph/dims.h"

#include "alate/error.h"

namespace alate::graph {

Dim DimTable::named(std::string_view name, std::int64_t min, std::optional<std::int64_t> max, bool paddable) {
  NamedDim wanted{std::string(name), min, max, paddable};
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i].name != name) continue;
    if (!(dims_[i] == wanted)) {
      throw make_error(ErrorCode::invalid_argument, "dim '", name,
                       "' is already in the table with other bounds: use the same bounds everywhere");
    }
    return Dim::of_id(static_cast<DimId>(i));
  }
  dims_.push_back(std::move(wanted));
  return Dim::of_id(static_cast<DimId>(dims_.size() - 1));
}

std::optional<Dim> DimTable::find(std::string_view name) const {
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i].name == name) return Dim::of_id(static_cast<DimId>(i));
  }
  return std::nullopt;
}

std::string DimTable::to_string(Dim dim) const {
  if (dim.is_number()) return std::to_string(dim.number());
  if (static_cast<std::size_t>(dim.id()) >= dims_.size()) return "?" + std::to_string(dim.id());
  return (*this)[dim.id()].name;
}

std::string DimTable::to_string(const Shape& shape) const {
  std::string text(alate::to_string(shape.dtype));
  text += '[';
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    if (i > 0) text += ',';
    text += to_string(shape.dims[i]);
  }
  return text + ']';
}

void DimValues::set(DimId id, std::int64_t value, std::string_view what) {
  const NamedDim& dim = (*table_)[id];
  std::int64_t& bound = values_[static_cast<std::size_t>(id)];
  if (bound != kUnbound && bound != value) {
    throw make_error(ErrorCode::invalid_argument, what, ": dim '", dim.name, "' is ", value, " here but ", bound,
                     " in an earlier input");
  }
  if (value < dim.min || (dim.max && value > *dim.max)) {
    throw make_error(ErrorCode::invalid_argument, what, ": dim '", dim.name, "' is ", value, ", outside its bounds ",
                     dim.min, " to ", dim.max ? std::to_string(*dim.max) : std::string("any"));
  }
  bound = value;
}

void DimValues::bind(const Shape& shape, const Shape& found, std::string_view what) {
  const auto fail = [&] {
    throw make_error(ErrorCode::invalid_argument, what, ": expected ", table_->to_string(shape), ", got ",
                     alate::to_string(found));
  };
  if (shape.dtype != found.dtype || shape.rank() != found.rank()) fail();
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (!shape.dims[i].is_number()) {
      set(shape.dims[i].id(), found.dims[i].number(), what);
    } else if (shape.dims[i] != found.dims[i]) {
      fail();
    }
  }
}

std::int64_t DimValues::operator()(Dim dim) const {
  if (dim.is_number()) return dim.number();
  const std::int64_t value = values_.at(static_cast<std::size_t>(dim.id()));
  if (value == kUnbound)
    throw make_error(ErrorCode::invalid_argument, "dim '", (*table_)[dim.id()].name, "' has no value: no input has it");
  return value;
}

Shape DimValues::operator()(const Shape& shape) const {
  Shape bound{shape.dtype, {}};
  bound.dims.reserve(shape.rank());
  for (const Dim dim : shape.dims) bound.dims.emplace_back((*this)(dim));
  return bound;
}

std::vector<std::int64_t> DimValues::operator()(std::span<const Dim> dims) const {
  std::vector<std::int64_t> values;
  values.reserve(dims.size());
  for (const Dim dim : dims) values.push_back((*this)(dim));
  return values;
}

}  // namespace alate::graph
