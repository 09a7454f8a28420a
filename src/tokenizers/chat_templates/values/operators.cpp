#include "tokenizers/chat_templates/values/operators.h"

#include <cmath>
#include <limits>

#include "tokenizers/chat_templates/text/text_search.h"
#include "tokenizers/chat_templates/values/object.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"

namespace alate::tokenizers::chat_templates {
namespace {

using Kind = Value::Kind;

[[noreturn]] void refuse_operands(Rendering& run, std::string_view sign, const Value& left, const Value& right) {
  for (const Value* value : {&left, &right}) {
    if (value->is_undefined()) run.fail(value->undefined_message());
  }
  run.fail("unsupported operand types for ", sign, ": '", type_name(left), "' and '", type_name(right), "'");
}

constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "//", "%", "**"};

void check_overflow(Rendering& run, bool overflow) {
  if (overflow) run.fail_limit("an integer of the chat template has more than 127 bits");
}

Integer floor_quotient(Integer left, Integer right) {
  const Integer quotient = left / right;
  return quotient * right != left && (left < 0) != (right < 0) ? quotient - 1 : quotient;
}

double floor_remainder(double left, double right) {
  double remainder = std::fmod(left, right);
  if (remainder != 0) return (remainder < 0) != (right < 0) ? remainder + right : remainder;
  return std::copysign(0.0, right);
}

// As CPython's float_divmod: the quotient of what is left without the remainder, rounded to a whole number.
double floor_quotient(double left, double right) {
  const double quotient = (left - floor_remainder(left, right)) / right;
  if (quotient == 0) return std::copysign(0.0, left / right);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

Value power(Rendering& run, const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral() && right.integer() >= 0) {
    Integer base = left.integer(), exponent = right.integer(), result = 1;
    bool overflow = false;
    while (exponent > 0) {
      if ((exponent & 1) != 0) overflow |= __builtin_mul_overflow(result, base, &result);
      exponent >>= 1;
      if (exponent > 0 && base != 0 && base != 1 && base != -1) overflow |= __builtin_mul_overflow(base, base, &base);
      if (exponent > 0 && base == -1) base = 1;
      if (overflow) break;
    }
    check_overflow(run, overflow);
    return Value::integer(result);
  }
  const double base = left.number(), exponent = right.number();
  if (base == 0 && exponent < 0) run.fail("0.0 cannot be raised to a negative power");
  if (base < 0 && std::floor(exponent) != exponent && std::isfinite(exponent) && std::isfinite(base)) {
    run.fail("a negative number to a fractional power is no real number");
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) run.fail("numerical result out of range");
  return Value::real(result);
}

Value calculate_integers(Rendering& run, Arithmetic operation, Integer left, Integer right) {
  Integer result = 0;
  const bool is_simple =
      operation == Arithmetic::add || operation == Arithmetic::subtract || operation == Arithmetic::multiply;
  if (is_simple) {
    check_overflow(run, operation == Arithmetic::add        ? __builtin_add_overflow(left, right, &result)
                        : operation == Arithmetic::subtract ? __builtin_sub_overflow(left, right, &result)
                                                            : __builtin_mul_overflow(left, right, &result));
    return Value::integer(result);
  }
  if (right == 0) {
    run.fail(operation == Arithmetic::divide ? "division by zero" : "integer division or modulo by zero");
  }
  if (operation == Arithmetic::divide) return Value::real(static_cast<double>(left) / static_cast<double>(right));
  if (right == -1) {  // the quotient of the smallest integer does not fit
    if (operation == Arithmetic::modulo) return Value::integer(0);
    check_overflow(run, __builtin_sub_overflow(Integer{0}, left, &result));
    return Value::integer(result);
  }
  const Integer quotient = floor_quotient(left, right);
  return Value::integer(operation == Arithmetic::floor_divide ? quotient : left - quotient * right);
}

Value calculate_reals(Rendering& run, Arithmetic operation, double left, double right) {
  switch (operation) {
    case Arithmetic::add: return Value::real(left + right);
    case Arithmetic::subtract: return Value::real(left - right);
    case Arithmetic::multiply: return Value::real(left * right);
    default: break;
  }
  if (right == 0) run.fail(operation == Arithmetic::divide ? "float division by zero" : "float floor division by zero");
  if (operation == Arithmetic::divide) return Value::real(left / right);
  return Value::real(operation == Arithmetic::floor_divide ? floor_quotient(left, right)
                                                           : floor_remainder(left, right));
}

Value repeated(Rendering& run, const Value& value, Integer count) {
  const std::uint64_t times = count <= 0                   ? 0
                              : count > (Integer{1} << 62) ? std::uint64_t{1} << 62
                                                           : static_cast<std::uint64_t>(count);
  if (value.is_text()) {
    Builder out(run.budget());
    out.append_repeated(value.bytes(), times);
    return make_text(run.budget(), out.take(), value.text().is_markup);
  }
  const Values& items = value.sequence().items;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(items.size() * sizeof(Value), times, &bytes)) bytes = ~std::uint64_t{0} >> 1;
  { const Charge check(run.budget(), bytes); }  // before any is copied
  Values all;
  all.reserve(items.size() * (items.empty() ? 0 : times));
  for (std::uint64_t i = 0; i < times && !items.empty(); ++i) all.insert(all.end(), items.begin(), items.end());
  return value.is_tuple() ? make_tuple(run.budget(), std::move(all)) : make_list(run.budget(), std::move(all));
}

Value concatenated(Rendering& run, const Value& left, const Value& right) {
  Values all;
  { const Charge check(run.budget(), (left.sequence().items.size() + right.sequence().items.size()) * sizeof(Value)); }
  all.reserve(left.sequence().items.size() + right.sequence().items.size());
  all.insert(all.end(), left.sequence().items.begin(), left.sequence().items.end());
  all.insert(all.end(), right.sequence().items.begin(), right.sequence().items.end());
  return left.is_tuple() ? make_tuple(run.budget(), std::move(all)) : make_list(run.budget(), std::move(all));
}

Value joined(Rendering& run, const Text& left, const Text& right) {
  const bool is_markup = left.is_markup || right.is_markup;
  Builder out(run.budget());
  for (const Text* part : {&left, &right}) {
    if (is_markup && !part->is_markup) {
      out.append(escaped_markup(run, part->bytes));
    } else {
      out.append(part->bytes);
    }
  }
  return make_text(run.budget(), out.take(), is_markup);
}

// -1, 0, 1; 2 for a NaN.
int order_of_numbers(const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral()) {
    const Integer a = left.integer(), b = right.integer();
    return a < b ? -1 : a > b ? 1 : 0;
  }
  // A long double has 64 bits of mantissa on x86; larger integers are compared rounded.
  const auto widened = [](const Value& value) {
    return value.is(Kind::real) ? static_cast<long double>(value.real()) : static_cast<long double>(value.integer());
  };
  const long double a = widened(left), b = widened(right);
  if (std::isnan(a) || std::isnan(b)) return 2;
  return a < b ? -1 : a > b ? 1 : 0;
}

bool equal_mappings(Rendering& run, const Mapping& left, const Mapping& right) {
  if (left.entries().size() != right.entries().size()) return false;
  for (const auto& [key, value] : left.entries()) {
    const Value* other = right.find(run, key);
    if (other == nullptr || !equals(run, value, *other)) return false;
  }
  return true;
}

}  // namespace

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined: return "Undefined";
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::text: return value.text().is_markup ? "Markup" : "str";
    case Kind::sequence: return value.is_tuple() ? "tuple" : "list";
    case Kind::mapping: return "dict";
    case Kind::object: return value.object().type_name();
  }
  return "object";
}

bool truth(Rendering& run, const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none: return false;
    case Kind::boolean: return value.boolean();
    case Kind::integer: return value.integer() != 0;
    case Kind::real: return value.real() != 0;
    case Kind::text: return !value.bytes().empty();
    case Kind::sequence: return !value.sequence().items.empty();
    case Kind::mapping: return !value.mapping().entries().empty();
    case Kind::object: {
      const std::optional<std::size_t> length = value.object().length(run);
      return !length || *length != 0;
    }
  }
  return true;
}

bool equals(Rendering& run, const Value& left, const Value& right) {
  run.budget().work();
  if (left.is_number() && right.is_number()) return order_of_numbers(left, right) == 0;
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none: return true;
    case Kind::text:
      run.budget().work(left.bytes().size() == right.bytes().size() ? left.bytes().size() / 64 : 0);
      return left.bytes() == right.bytes();
    case Kind::sequence: {
      const Values &a = left.sequence().items, &b = right.sequence().items;
      if (left.is_tuple() != right.is_tuple() || a.size() != b.size()) return false;
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (!equals(run, a[i], b[i])) return false;
      }
      return true;
    }
    case Kind::mapping: return equal_mappings(run, left.mapping(), right.mapping());
    case Kind::object: {
      if (&left.object() == &right.object()) return true;
      const Range *a = left.as<Range>(), *b = right.as<Range>();
      if (a == nullptr || b == nullptr || a->size() != b->size()) return false;
      return a->size() == 0 || (a->start() == b->start() && (a->size() == 1 || a->step() == b->step()));
    }
    default: return false;
  }
}

bool less(Rendering& run, const Value& left, const Value& right, std::string_view sign) {
  run.budget().work();
  if (left.is_number() && right.is_number()) return order_of_numbers(left, right) == -1;
  if (left.is_text() && right.is_text()) {  // UTF-8 has the order of code points
    run.budget().work(std::min(left.bytes().size(), right.bytes().size()) / 64);
    return left.bytes() < right.bytes();
  }
  if (left.is_sequence() && right.is_sequence() && left.is_tuple() == right.is_tuple()) {
    const Values &a = left.sequence().items, &b = right.sequence().items;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (!equals(run, a[i], b[i])) return less(run, a[i], b[i], sign);
    }
    return a.size() < b.size();
  }
  for (const Value* value : {&left, &right}) {
    if (value->is_undefined()) run.fail(value->undefined_message());
  }
  run.fail("'", sign, "' not supported between '", type_name(left), "' and '", type_name(right), "'");
}

bool contains(Rendering& run, const Value& container, const Value& item) {
  if (container.is_text()) {
    if (!item.is_text()) run.fail("'in' of a string needs a string on its left, not '", type_name(item), "'");
    run.budget().work(TextSearch::characters(item.bytes(), container.bytes()) / 32);
    return TextSearch(item.bytes()).find(container.bytes()) != std::string_view::npos;
  }
  if (container.is_mapping()) {
    require_hashable(run, item);
    return container.mapping().find(run, item) != nullptr;
  }
  if (container.is_sequence()) {
    for (const Value& each : container.sequence().items) {
      if (equals(run, each, item)) return true;
    }
    return false;
  }
  const IteratorPtr values = try_iterate(run, container);
  if (values == nullptr) run.fail("'", type_name(container), "' is not iterable, so nothing can be in it");
  while (const std::optional<Value> each = values->next(run)) {
    if (equals(run, *each, item)) return true;
  }
  return false;
}

bool compare(Rendering& run, Comparison comparison, const Value& left, const Value& right) {
  const auto is_nan = [&] { return left.is_number() && right.is_number() && order_of_numbers(left, right) == 2; };
  switch (comparison) {
    case Comparison::equal: return equals(run, left, right);
    case Comparison::not_equal: return !equals(run, left, right);
    case Comparison::less: return less(run, left, right);
    case Comparison::greater: return less(run, right, left, ">");
    case Comparison::less_or_equal: return !is_nan() && !less(run, right, left, "<=");
    case Comparison::greater_or_equal: return !is_nan() && !less(run, left, right, ">=");
    case Comparison::in: return contains(run, right, left);
    case Comparison::not_in: return !contains(run, right, left);
  }
  return false;
}

Value calculate(Rendering& run, Arithmetic operation, const Value& left, const Value& right) {
  const auto sign = kSigns[static_cast<std::size_t>(operation)];
  if (operation == Arithmetic::modulo && left.is_text()) return format_percent(run, left.text(), right);
  if (left.is_number() && right.is_number()) {
    if (operation == Arithmetic::power) return power(run, left, right);
    if (left.is_integral() && right.is_integral()) {
      return calculate_integers(run, operation, left.integer(), right.integer());
    }
    return calculate_reals(run, operation, left.number(), right.number());
  }
  if (operation == Arithmetic::add) {
    if (left.is_text() && right.is_text()) return joined(run, left.text(), right.text());
    if (left.is_sequence() && right.is_sequence() && left.is_tuple() == right.is_tuple()) {
      return concatenated(run, left, right);
    }
  }
  if (operation == Arithmetic::multiply) {
    if ((left.is_text() || left.is_sequence()) && right.is_integral()) return repeated(run, left, right.integer());
    if ((right.is_text() || right.is_sequence()) && left.is_integral()) return repeated(run, right, left.integer());
  }
  refuse_operands(run, sign, left, right);
}

Value negated(Rendering& run, const Value& value) {
  if (value.is(Kind::real)) return Value::real(-value.real());
  if (value.is_integral()) return calculate_integers(run, Arithmetic::subtract, 0, value.integer());
  if (value.is_undefined()) run.fail(value.undefined_message());
  run.fail("bad operand type for unary -: '", type_name(value), "'");
}

Value posited(Rendering& run, const Value& value) {
  if (value.is(Kind::real)) return value;
  if (value.is_integral()) return Value::integer(value.integer());
  if (value.is_undefined()) run.fail(value.undefined_message());
  run.fail("bad operand type for unary +: '", type_name(value), "'");
}

void require_hashable(Rendering& run, const Value& value) {
  if (value.is_mapping() || value.is_list()) run.fail("unhashable type: '", type_name(value), "'");
  if (value.is_sequence()) {
    run.budget().work(value.sequence().items.size());
    for (const Value& item : value.sequence().items) require_hashable(run, item);
  }
  const MappingView* view = value.as<MappingView>();
  if (view != nullptr && view->part() != MappingView::Part::values) {
    run.fail("unhashable type: '", type_name(value), "'");
  }
}

std::string escaped_markup(Rendering& run, std::string_view text) {
  Builder out(run.budget());
  for (const char c : text) {
    switch (c) {
      case '&': out.append("&amp;"); break;
      case '<': out.append("&lt;"); break;
      case '>': out.append("&gt;"); break;
      case '"': out.append("&#34;"); break;
      case '\'': out.append("&#39;"); break;
      default: out.append(c);
    }
  }
  run.budget().work(text.size() / 8);
  return out.take();
}

}  // namespace alate::tokenizers::chat_templates
