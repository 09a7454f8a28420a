#include <algorithm>

#include "alate/error.h"
#include "graph/checked_sizes.h"
#include "graph/dims.h"

namespace alate::graph {

DimValues::DimValues(const DimTable& table)
    : table_(&table), entries_(table.entries()), values_(entries_.size(), kUnbound) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i]->kind != DimEntry::Kind::name) forms_.push_back(static_cast<DimId>(i));
  }
}

void DimValues::set(DimId id, std::int64_t value, std::string_view what) {
  const NamedDim& dim = entries_.at(static_cast<std::size_t>(id))->name;
  std::int64_t& bound = values_[static_cast<std::size_t>(id)];
  if (bound != kUnbound && bound != value) {
    throw make_error(ErrorCode::invalid_argument, what, ": dim '", dim.name, "' is ", value, " here but ", bound,
                     " in an earlier input");
  }
  if (value < dim.min || (dim.max && value > *dim.max)) {
    throw make_error(ErrorCode::invalid_argument, what, ": dim '", dim.name, "' is ", value, ", outside its bounds ",
                     dim.min, " to ", dim.max ? std::to_string(*dim.max) : std::string("any"));
  }
  if (bound == value) return;
  bound = value;
  if (!forms_.empty()) compute_forms();
}

std::optional<std::int64_t> DimValues::value_of(const DimForm& form) const {
  std::int64_t sum = form.plus;
  for (const DimForm::Term& term : form.terms) {
    const std::int64_t value = values_[static_cast<std::size_t>(term.atom)];
    if (value == kUnbound) return std::nullopt;
    sum = checked_sum(sum, checked_product(term.factor, value));
  }
  return sum;
}

std::optional<std::int64_t> DimValues::value_of(const DimEntry& entry) const {
  const std::optional<std::int64_t> first = value_of(entry.first), second = value_of(entry.second);
  if (!first || !second) return std::nullopt;
  switch (entry.kind) {
    case DimEntry::Kind::name: break;
    case DimEntry::Kind::sum: return *first;
    case DimEntry::Kind::quotient: return floor_quotient(*first, entry.divisor);
    case DimEntry::Kind::product: return checked_product(*first, *second);
    case DimEntry::Kind::smaller: return std::min(*first, *second);
    case DimEntry::Kind::larger: return std::max(*first, *second);
  }
  return std::nullopt;
}

// An entry reads only earlier ones.
void DimValues::compute_forms() {
  std::erase_if(forms_, [&](DimId id) {
    const std::optional<std::int64_t> value = value_of(*entries_[static_cast<std::size_t>(id)]);
    if (value) values_[static_cast<std::size_t>(id)] = *value;
    return value.has_value();
  });
  std::erase_if(expected_, [&](const Expected& expected) {
    const std::int64_t value = values_[static_cast<std::size_t>(expected.id)];
    if (value == kUnbound) return false;
    if (value != expected.extent) {
      throw make_error(ErrorCode::invalid_argument, expected.what, ": an extent of ",
                       table_->to_string(Dim::of_id(expected.id)), ", which is ", value, ", is ", expected.extent,
                       " here");
    }
    return true;
  });
}

void DimValues::bind(const Shape& shape, const Shape& found, std::string_view what) {
  const auto fail = [&] {
    throw make_error(ErrorCode::invalid_argument, what, ": expected ", table_->to_string(shape), ", got ",
                     alate::to_string(found));
  };
  if (shape.dtype != found.dtype || shape.rank() != found.rank()) fail();
  bool has_forms = false;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape.dims[i].is_number()) {
      if (shape.dims[i] != found.dims[i]) fail();
      continue;
    }
    const DimId id = shape.dims[i].id();
    if (entries_.at(static_cast<std::size_t>(id))->kind == DimEntry::Kind::name) {
      set(id, found.dims[i].number(), what);
    } else {
      expected_.push_back({id, found.dims[i].number(), std::string(what)});
      has_forms = true;
    }
  }
  if (has_forms) compute_forms();
}

std::int64_t DimValues::operator()(Dim dim) const {
  if (dim.is_number()) return dim.number();
  const std::int64_t value = values_.at(static_cast<std::size_t>(dim.id()));
  if (value == kUnbound)
    throw make_error(ErrorCode::invalid_argument, "dim '", table_->to_string(dim), "' has no value: no input has it");
  if (value < 0)
    throw make_error(ErrorCode::invalid_argument, "dim '", table_->to_string(dim), "' is ", value,
                     ", and a size cannot be negative");
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
