#include "graph/dims.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <shared_mutex>

#include "alate/error.h"
#include "graph/checked_sizes.h"
#include "graph/dim_text.h"

namespace alate::graph {
namespace {

using Kind = DimEntry::Kind;

// What a message or a graph's text may say of one size.
constexpr std::size_t kMostLeaves = 256;
// A form takes a hundred times the memory of its text, and each run computes all of them.
constexpr std::size_t kMostForms = std::size_t{1} << 14;

// Where a bound does not fit there is none.
std::int64_t bound_sum(std::int64_t a, std::int64_t b, std::int64_t without) {
  std::int64_t sum = 0;
  return a == without || b == without || __builtin_add_overflow(a, b, &sum) ? without : sum;
}

// `at` times `factor`, where `at` is a lower bound if `is_lower`; `factor` may be negative.
std::int64_t bound_product(std::int64_t at, std::int64_t factor, std::int64_t without) {
  std::int64_t product = 0;
  if (factor == 0) return 0;
  const bool is_unbounded = at == Interval::kLowest || at == Interval::kHighest;
  return is_unbounded || __builtin_mul_overflow(at, factor, &product) ? without : product;
}

Interval operator+(const Interval& a, const Interval& b) {
  return {bound_sum(a.least, b.least, Interval::kLowest), bound_sum(a.most, b.most, Interval::kHighest)};
}

Interval operator*(const Interval& x, std::int64_t factor) {
  const std::int64_t low = factor < 0 ? x.most : x.least, high = factor < 0 ? x.least : x.most;
  return {bound_product(low, factor, Interval::kLowest), bound_product(high, factor, Interval::kHighest)};
}

// Only of intervals without negative values something is known.
Interval operator*(const Interval& a, const Interval& b) {
  if (a.least < 0 || b.least < 0) return {};
  const bool is_bounded = a.most != Interval::kHighest && b.most != Interval::kHighest;
  return {bound_product(a.least, b.least, Interval::kHighest),
          is_bounded ? bound_product(a.most, b.most, Interval::kHighest) : Interval::kHighest};
}

Interval quotient_bounds(const Interval& x, std::int64_t by) {
  return {x.least == Interval::kLowest ? x.least : floor_quotient(x.least, by),
          x.most == Interval::kHighest ? x.most : floor_quotient(x.most, by)};
}

void append_form(std::vector<std::int64_t>& key, const DimForm& form) {
  key.push_back(static_cast<std::int64_t>(form.terms.size()));
  for (const DimForm::Term& term : form.terms) {
    key.push_back(term.factor);
    key.push_back(term.atom);
  }
  key.push_back(form.plus);
}

std::vector<std::int64_t> key_of(const DimEntry& entry) {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(entry.kind), entry.divisor};
  append_form(key, entry.first);
  append_form(key, entry.second);
  return key;
}

}  // namespace

Dim DimTable::named(std::string_view name, std::int64_t min, std::optional<std::int64_t> max, bool paddable) {
  NamedDim wanted{std::string(name), min, max, paddable};
  const std::unique_lock lock(mutex_);
  const auto found = names_.find(name);
  if (found == names_.end()) {
    const auto id = static_cast<DimId>(entries_.size());
    DimEntry entry;
    entry.bounds = {min, max.value_or(Interval::kHighest)};
    entry.name = std::move(wanted);
    entries_.push_back(std::move(entry));
    names_.emplace(std::string(name), id);
    return Dim::of_id(id);
  }
  if (!(entries_[static_cast<std::size_t>(found->second)].name == wanted)) {
    throw make_error(ErrorCode::invalid_argument, "dim '", name,
                     "' is already in the table with other bounds: use the same bounds everywhere");
  }
  return Dim::of_id(found->second);
}

std::optional<Dim> DimTable::find(std::string_view name) const {
  const std::shared_lock lock(mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? std::nullopt : std::optional(Dim::of_id(found->second));
}

std::vector<DimId> DimTable::names() const {
  const std::shared_lock lock(mutex_);
  std::vector<DimId> ids;
  for (const auto& [name, id] : names_) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

std::size_t DimTable::size() const {
  const std::shared_lock lock(mutex_);
  return entries_.size();
}

std::vector<const DimEntry*> DimTable::entries() const {
  const std::shared_lock lock(mutex_);
  std::vector<const DimEntry*> entries;
  entries.reserve(entries_.size());
  for (const DimEntry& entry : entries_) entries.push_back(&entry);
  return entries;
}

const DimEntry& DimTable::entry(DimId id) const {
  const std::shared_lock lock(mutex_);
  return entries_.at(static_cast<std::size_t>(id));
}

DimId DimTable::interned(DimEntry entry) {
  entry.leaves = 0;
  for (const DimForm* form : {&entry.first, &entry.second}) {
    for (const DimForm::Term& term : form->terms) entry.leaves += this->entry(term.atom).leaves;
    entry.leaves += form->plus != 0 ? 1 : 0;
  }
  if (entry.leaves > kMostLeaves)
    throw make_error(ErrorCode::resource_exhausted, "a size is a form over more than ", kMostLeaves,
                     " names and numbers");
  Key key = key_of(entry);
  const std::unique_lock lock(mutex_);
  if (const auto found = forms_.find(key); found != forms_.end()) return found->second;
  if (forms_.size() == kMostForms)
    throw make_error(ErrorCode::resource_exhausted, "a graph has more than ", kMostForms, " different forms of sizes");
  const auto id = static_cast<DimId>(entries_.size());
  entries_.push_back(std::move(entry));
  forms_.emplace(std::move(key), id);
  return id;
}

DimForm DimTable::form(Dim dim) const {
  if (dim.is_number()) return dim.number();
  const DimEntry& found = entry(dim.id());
  return found.kind == Kind::sum ? found.first : DimForm::of_atom(dim.id());
}

Dim DimTable::of(const DimForm& form) {
  if (form.is_number()) {
    if (form.plus < 0) throw make_error(ErrorCode::invalid_argument, "a size is negative: ", form.plus);
    return form.plus;
  }
  if (form.plus == 0 && form.terms.size() == 1 && form.terms.front().factor == 1)
    return Dim::of_id(form.terms.front().atom);
  DimEntry entry;
  entry.kind = Kind::sum;
  entry.first = form;
  entry.bounds = bounds(form);
  return Dim::of_id(interned(std::move(entry)));
}

DimForm DimTable::quotient(const DimForm& of, std::int64_t by) {
  // What can be divided by itself leaves the quotient: (2*a+3)/2 is a+1+1/2.
  DimForm whole(floor_quotient(of.plus, by)), rest(of.plus - whole.plus * by);
  std::int64_t common = by;
  for (const DimForm::Term& term : of.terms) {
    const std::int64_t times = floor_quotient(term.factor, by), left = term.factor - times * by;
    if (times != 0) whole.terms.push_back({times, term.atom});
    if (left != 0) rest.terms.push_back({left, term.atom});
    common = std::gcd(common, left);
  }
  if (rest.is_number()) return whole;
  // (2*a+3)/4 is (a+1)/2.
  by /= common;
  for (DimForm::Term& term : rest.terms) term.factor /= common;
  rest.plus = floor_quotient(rest.plus, common);
  if (by == 1) return whole + rest;
  // (a/2+3)/4 is (a+6)/8.
  if (rest.terms.size() == 1 && rest.terms.front().factor == 1) {
    const DimEntry& inner = entry(rest.terms.front().atom);
    if (inner.kind == Kind::quotient) {
      return whole +
             quotient(inner.first + checked_product(rest.plus, inner.divisor), checked_product(by, inner.divisor));
    }
  }
  DimEntry entry;
  entry.kind = Kind::quotient;
  entry.bounds = quotient_bounds(bounds(rest), by);
  if (entry.bounds.least == entry.bounds.most) return whole + entry.bounds.least;
  entry.first = std::move(rest);
  entry.divisor = by;
  return whole + DimForm::of_atom(interned(std::move(entry)));
}

DimForm DimTable::quotient_up(const DimForm& of, std::int64_t by) { return quotient(of + (by - 1), by); }

// Products of atoms are products of the shorter product and the last atom, in the order of their ids.
DimForm DimTable::atom_product(DimId a, DimId b) {
  std::vector<DimId> atoms;
  for (DimId id : {a, b}) {
    for (; entry(id).kind == Kind::product; id = entry(id).first.terms.front().atom)
      atoms.push_back(entry(id).second.terms.front().atom);
    atoms.push_back(id);
  }
  std::ranges::sort(atoms);
  DimForm product = DimForm::of_atom(atoms.front());
  for (std::size_t i = 1; i < atoms.size(); ++i) {
    DimEntry entry;
    entry.kind = Kind::product;
    entry.second = DimForm::of_atom(atoms[i]);
    entry.bounds = bounds(product) * bounds(entry.second);
    entry.first = std::move(product);
    product = DimForm::of_atom(interned(std::move(entry)));
  }
  return product;
}

DimForm DimTable::product(const DimForm& a, const DimForm& b) {
  DimForm sum = b * a.plus;
  for (const DimForm::Term& left : a.terms) {
    sum = sum + DimForm::of_atom(left.atom) * checked_product(left.factor, b.plus);
    for (const DimForm::Term& right : b.terms)
      sum = sum + atom_product(left.atom, right.atom) * checked_product(left.factor, right.factor);
  }
  return sum;
}

DimForm DimTable::smaller(const DimForm& a, const DimForm& b) {
  if (is_at_most(a, b)) return a;
  if (is_at_most(b, a)) return b;
  const Interval left = bounds(a), right = bounds(b);
  return comparison(Kind::smaller, a, b, {std::min(left.least, right.least), std::min(left.most, right.most)});
}

DimForm DimTable::larger(const DimForm& a, const DimForm& b) {
  if (is_at_most(a, b)) return b;
  if (is_at_most(b, a)) return a;
  const Interval left = bounds(a), right = bounds(b);
  return comparison(Kind::larger, a, b, {std::max(left.least, right.least), std::max(left.most, right.most)});
}

// The operands of both kinds are in one order.
DimForm DimTable::comparison(DimEntry::Kind kind, const DimForm& a, const DimForm& b, const Interval& bounds) {
  DimEntry entry;
  entry.kind = kind;
  entry.first = std::min(a, b);
  entry.second = std::max(a, b);
  entry.bounds = bounds;
  return DimForm::of_atom(interned(std::move(entry)));
}

Interval DimTable::bounds(const DimForm& form) const {
  Interval sum{form.plus, form.plus};
  for (const DimForm::Term& term : form.terms) sum = sum + entry(term.atom).bounds * term.factor;
  return sum;
}

bool DimTable::is_at_most(const DimForm& a, const DimForm& b) const { return bounds(b - a).least >= 0; }

std::string DimTable::to_string(Dim dim) const {
  if (dim.is_number()) return std::to_string(dim.number());
  if (static_cast<std::size_t>(dim.id()) >= size()) return "?" + std::to_string(dim.id());
  return to_string(form(dim));
}

std::string DimTable::to_string(const DimForm& form) const {
  return text_of(form, *this, [](std::string_view name) { return std::string(name); });
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

}  // namespace alate::graph
