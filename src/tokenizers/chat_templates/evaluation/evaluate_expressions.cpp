// Expressions.
#include <utility>

#include "tokenizers/chat_templates/evaluation/evaluator.h"
#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/filters/tests.h"
#include "tokenizers/chat_templates/methods/attributes.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"

namespace alate::tokenizers::chat_templates {

Value Evaluator::evaluate(const Expression& expression) {
  const Nesting nesting(*this);
  budget().work();
  set_line(expression.line);
  switch (expression.kind) {
    case ExpressionKind::data:
    case ExpressionKind::constant: return expression.constant;
    case ExpressionKind::name: return evaluate_name(expression);
    case ExpressionKind::namespace_target: break;
    case ExpressionKind::list:
    case ExpressionKind::tuple: return evaluate_sequence(expression);
    case ExpressionKind::mapping: return evaluate_mapping(expression);
    case ExpressionKind::attribute: return attribute_of(*this, evaluate(*expression.operands.front()), expression.name);
    case ExpressionKind::item: return evaluate_item(expression);
    case ExpressionKind::slice: return evaluate_slice(expression);
    case ExpressionKind::call: return evaluate_call(expression, nullptr);
    case ExpressionKind::filter: return evaluate_filter(expression, nullptr);
    case ExpressionKind::test: return evaluate_test(expression);
    case ExpressionKind::negation: return Value::boolean(!truth(*this, evaluate(*expression.operands.front())));
    case ExpressionKind::minus: return negated(*this, evaluate(*expression.operands.front()));
    case ExpressionKind::plus: return posited(*this, evaluate(*expression.operands.front()));
    case ExpressionKind::arithmetic: return evaluate_arithmetic(expression);
    case ExpressionKind::concatenation: return evaluate_concatenation(expression);
    case ExpressionKind::comparison: return evaluate_comparison(expression);
    case ExpressionKind::conjunction:
    case ExpressionKind::disjunction: return evaluate_junction(expression);
    case ExpressionKind::conditional: return evaluate_conditional(expression);
  }
  throw Error(ErrorCode::internal, "a chat template evaluates a target");
}

Value Evaluator::evaluate_name(const Expression& expression) {
  const Value& value = slot(expression.variable);
  return value.is_missing() ? make_undefined(budget(), "'" + expression.name + "' is undefined") : value;
}

Value Evaluator::evaluate_sequence(const Expression& expression) {
  Values items;
  items.reserve(expression.operands.size());
  for (const ExpressionPtr& operand : expression.operands) items.push_back(evaluate(*operand));
  return expression.kind == ExpressionKind::tuple ? make_tuple(budget(), std::move(items))
                                                  : make_list(budget(), std::move(items));
}

Value Evaluator::evaluate_mapping(const Expression& expression) {
  MappingBuilder entries(*this);
  for (std::size_t i = 0; i + 1 < expression.operands.size(); i += 2) {
    const Value key = evaluate(*expression.operands[i]);
    entries.set(key, evaluate(*expression.operands[i + 1]));
  }
  return entries.take();
}

Value Evaluator::evaluate_item(const Expression& expression) {
  const Value value = evaluate(*expression.operands[0]);
  const Value key = evaluate(*expression.operands[1]);
  return item_of(*this, value, key);
}

Value Evaluator::evaluate_slice(const Expression& expression) {
  const Value value = evaluate(*expression.operands[0]);
  const auto bound = [&](std::size_t i) {
    return expression.operands[i] == nullptr ? Value::none() : evaluate(*expression.operands[i]);
  };
  const Value start = bound(1), stop = bound(2), step = bound(3);
  return slice_of(*this, value, start, stop, step);
}

// The caller of a call block comes before what ** adds.
Arguments Evaluator::evaluate_arguments(const CallArguments& arguments, const Value* caller) {
  Arguments values;
  values.positional.reserve(arguments.positional.size());
  for (const ExpressionPtr& argument : arguments.positional) values.positional.push_back(evaluate(*argument));
  for (const auto& [name, argument] : arguments.named) values.named.emplace_back(name, evaluate(*argument));
  if (caller != nullptr) values.named.emplace_back("caller", *caller);
  if (arguments.unpacked_list != nullptr) {
    for (Value& value : all_items(*this, evaluate(*arguments.unpacked_list))) {
      values.positional.push_back(std::move(value));
    }
  }
  if (arguments.unpacked_mapping != nullptr) {
    const Value mapping = evaluate(*arguments.unpacked_mapping);
    if (!mapping.is_mapping()) fail("what follows ** must be a mapping, not '", type_name(mapping), "'");
    budget().work(mapping.mapping().entries().size() * (values.named.size() + 1));
    for (const auto& [key, value] : mapping.mapping().entries()) {
      if (!key.is_text()) fail("keywords must be strings");
      budget().work(values.named.size() * key.bytes().size() / 64);
      for (const auto& [name, other] : values.named) {
        if (name == key.bytes()) fail("the argument ", name, " is given twice");
      }
    }
    for (const auto& [key, value] : mapping.mapping().entries()) {
      budget().work(key.bytes().size() / 32);
      values.named.emplace_back(key.bytes(), value);
    }
  }
  return values;
}

Value Evaluator::evaluate_call(const Expression& expression, const Value* caller) {
  const Value callee = evaluate(*expression.operands.front());
  Arguments arguments = evaluate_arguments(expression.arguments, caller);
  set_line(expression.line);
  return call(callee, std::move(arguments));
}

Value Evaluator::evaluate_filter(const Expression& expression, const Value* body) {
  const Nesting nesting(*this);
  const ExpressionPtr& operand = expression.operands.front();
  Value input;
  if (operand == nullptr) {
    input = *body;
  } else if (body != nullptr && operand->kind == ExpressionKind::filter) {
    input = evaluate_filter(*operand, body);
  } else {
    input = evaluate(*operand);
  }
  Arguments arguments = evaluate_arguments(expression.arguments);
  set_line(expression.line);
  return apply_filter(*this, expression.filter, expression.name, input, std::move(arguments));
}

Value Evaluator::evaluate_test(const Expression& expression) {
  const Value input = evaluate(*expression.operands.front());
  Arguments arguments = evaluate_arguments(expression.arguments);
  set_line(expression.line);
  return Value::boolean(apply_test(*this, expression.test, expression.name, input, std::move(arguments)));
}

Value Evaluator::evaluate_arithmetic(const Expression& expression) {
  const Value left = evaluate(*expression.operands[0]);
  const Value right = evaluate(*expression.operands[1]);
  set_line(expression.line);
  return calculate(*this, expression.arithmetic, left, right);
}

Value Evaluator::evaluate_concatenation(const Expression& expression) {
  Values parts;
  for (const ExpressionPtr& operand : expression.operands) parts.push_back(evaluate(*operand));
  Builder out(budget());
  for (const Value& part : parts) append_text(*this, out, part);
  return make_text(budget(), out.take());
}

Value Evaluator::evaluate_comparison(const Expression& expression) {
  Value left = evaluate(*expression.operands[0]);
  for (std::size_t i = 0; i < expression.comparisons.size(); ++i) {
    Value right = evaluate(*expression.operands[i + 1]);
    set_line(expression.line);
    if (!compare(*this, expression.comparisons[i], left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Evaluator::evaluate_junction(const Expression& expression) {
  const bool stops_at = expression.kind == ExpressionKind::disjunction;
  Value value;
  for (const ExpressionPtr& operand : expression.operands) {
    value = evaluate(*operand);
    if (&operand != &expression.operands.back() && truth(*this, value) == stops_at) return value;
  }
  return value;
}

Value Evaluator::evaluate_conditional(const Expression& expression) {
  if (truth(*this, evaluate(*expression.operands[1]))) return evaluate(*expression.operands[0]);
  if (expression.operands[2] != nullptr) return evaluate(*expression.operands[2]);
  return Value::undefined("the inline if-expression on line " + std::to_string(expression.line) +
                          " evaluated to false and no else section was defined.");
}

void Evaluator::check_targets(const Expression& target) {
  if (target.kind == ExpressionKind::namespace_target && slot(target.variable).as<Namespace>() == nullptr) {
    fail("cannot assign attribute on non-namespace object");
  }
  for (const ExpressionPtr& part : target.operands) check_targets(*part);
}

Value Evaluator::value_of(const Expression& target) {
  if (target.kind == ExpressionKind::name) return slot(target.variable);
  Values parts;
  for (const ExpressionPtr& part : target.operands) parts.push_back(value_of(*part));
  return target.kind == ExpressionKind::list ? make_list(budget(), std::move(parts))
                                             : make_tuple(budget(), std::move(parts));
}

void Evaluator::assign(const Expression& target, const Value& value) {
  const Nesting nesting(*this);
  if (target.kind == ExpressionKind::name) {
    slot(target.variable) = value;
    return;
  }
  if (target.kind == ExpressionKind::namespace_target) {
    Namespace* space = slot(target.variable).as<Namespace>();
    if (space == nullptr) fail("cannot assign attribute on non-namespace object");
    space->set(*this, target.attribute, value);
    return;
  }
  const Values values = all_items(*this, value);
  if (values.size() != target.operands.size()) {
    fail(values.size() < target.operands.size() ? "not enough" : "too many", " values to unpack (expected ",
         target.operands.size(), ", got ", values.size(), ")");
  }
  for (std::size_t i = 0; i < values.size(); ++i) assign(*target.operands[i], values[i]);
}

}  // namespace alate::tokenizers::chat_templates
