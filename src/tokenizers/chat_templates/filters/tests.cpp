#include "tokenizers/chat_templates/filters/tests.h"

#include <algorithm>

#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"

namespace alate::tokenizers::chat_templates {
namespace {

using Kind = Value::Kind;

// Tests of the value alone.
template <bool (*Holds)(Rendering&, const Value&)>
bool plain(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "the test", std::move(arguments), {});
  return Holds(run, input);
}

// Tests that compare with one other value.
template <Comparison How>
bool compared(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "the test", std::move(arguments), {"other"}, 1);
  return compare(run, How, input, given[0]);
}

bool remainder_is(Rendering& run, const Value& input, const Value& divisor, Integer remainder) {
  return equals(run, calculate(run, Arithmetic::modulo, input, divisor), Value::integer(remainder));
}

bool is_odd(Rendering& run, const Value& value) { return remainder_is(run, value, Value::integer(2), 1); }
bool is_even(Rendering& run, const Value& value) { return remainder_is(run, value, Value::integer(2), 0); }
bool is_defined(Rendering&, const Value& value) { return !value.is_undefined(); }
bool is_undefined(Rendering&, const Value& value) { return value.is_undefined(); }
bool is_none(Rendering&, const Value& value) { return value.is_none(); }
bool is_boolean(Rendering&, const Value& value) { return value.is(Kind::boolean); }
bool is_true(Rendering&, const Value& value) { return value.is(Kind::boolean) && value.boolean(); }
bool is_false(Rendering&, const Value& value) { return value.is(Kind::boolean) && !value.boolean(); }
bool is_integer(Rendering&, const Value& value) { return value.is(Kind::integer); }
bool is_float(Rendering&, const Value& value) { return value.is(Kind::real); }
bool is_number(Rendering&, const Value& value) { return value.is_number(); }
bool is_string(Rendering&, const Value& value) { return value.is_text(); }
bool is_mapping(Rendering&, const Value& value) { return value.is_mapping(); }
bool is_escaped(Rendering&, const Value& value) { return value.is_text() && value.text().is_markup; }
bool is_callable(Rendering&, const Value& value) {
  return value.is_undefined() || (value.is_object() && value.object().is_callable());
}
bool is_iterable(Rendering& run, const Value& value) { return try_iterate(run, value) != nullptr; }
bool is_sequence(Rendering&, const Value& value) {
  return value.is_text() || value.is_sequence() || value.is_mapping() || value.is_undefined() ||
         value.as<Range>() != nullptr;
}

bool text_is(Rendering& run, const Value& value, std::string_view method) {
  const Value text = as_text(run, value);
  return truth(run, run.call(*text_method(run, text, method), {}));
}
bool is_lower_text(Rendering& run, const Value& value) { return text_is(run, value, "islower"); }
bool is_upper_text(Rendering& run, const Value& value) { return text_is(run, value, "isupper"); }

bool is_filter(Rendering& run, const Value& value) {
  require_hashable(run, value);
  return value.is_text() && find_filter(value.bytes()) != nullptr;
}
bool is_test(Rendering& run, const Value& value) {
  require_hashable(run, value);
  return value.is_text() && find_test(value.bytes()) != nullptr;
}

bool is_divisible(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "divisibleby", std::move(arguments), {"num"}, 1);
  return remainder_is(run, input, given[0], 0);
}

// Whether both are one object: of values without identity, equal ones of one type.
bool is_same(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "sameas", std::move(arguments), {"other"}, 1);
  const Value& other = given[0];
  if (input.kind() != other.kind()) return false;
  switch (input.kind()) {
    case Kind::sequence: return &input.sequence() == &other.sequence();
    case Kind::mapping: return &input.mapping() == &other.mapping();
    case Kind::object: return &input.object() == &other.object();
    case Kind::undefined: return false;
    default: return equals(run, input, other);
  }
}

constexpr Test kTests[] = {
    // sorted
    {"!=", compared<Comparison::not_equal>},
    {"<", compared<Comparison::less>},
    {"<=", compared<Comparison::less_or_equal>},
    {"==", compared<Comparison::equal>},
    {">", compared<Comparison::greater>},
    {">=", compared<Comparison::greater_or_equal>},
    {"boolean", plain<is_boolean>},
    {"callable", plain<is_callable>},
    {"defined", plain<is_defined>},
    {"divisibleby", is_divisible},
    {"eq", compared<Comparison::equal>},
    {"equalto", compared<Comparison::equal>},
    {"escaped", plain<is_escaped>},
    {"even", plain<is_even>},
    {"false", plain<is_false>},
    {"filter", plain<is_filter>},
    {"float", plain<is_float>},
    {"ge", compared<Comparison::greater_or_equal>},
    {"greaterthan", compared<Comparison::greater>},
    {"gt", compared<Comparison::greater>},
    {"in", compared<Comparison::in>},
    {"integer", plain<is_integer>},
    {"iterable", plain<is_iterable>},
    {"le", compared<Comparison::less_or_equal>},
    {"lessthan", compared<Comparison::less>},
    {"lower", plain<is_lower_text>},
    {"lt", compared<Comparison::less>},
    {"mapping", plain<is_mapping>},
    {"ne", compared<Comparison::not_equal>},
    {"none", plain<is_none>},
    {"number", plain<is_number>},
    {"odd", plain<is_odd>},
    {"sameas", is_same},
    {"sequence", plain<is_sequence>},
    {"string", plain<is_string>},
    {"test", plain<is_test>},
    {"true", plain<is_true>},
    {"undefined", plain<is_undefined>},
    {"upper", plain<is_upper_text>},
};

}  // namespace

const Test* find_test(std::string_view name) {
  const Test* found = std::ranges::lower_bound(kTests, name, {}, &Test::name);
  return found != std::end(kTests) && found->name == name ? found : nullptr;
}

bool apply_test(Rendering& run, const Test* test, std::string_view name, const Value& input, Arguments arguments) {
  if (test == nullptr) run.fail("there is no test ", name);
  run.budget().work();
  return test->holds(run, input, std::move(arguments));
}

}  // namespace alate::tokenizers::chat_templates
