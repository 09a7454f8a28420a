#include <algorithm>
#include <set>

#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/filters/tests.h"
#include "tokenizers/chat_templates/syntax/parser.h"

namespace alate::tokenizers::chat_templates {
namespace {

constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
    {"==", Comparison::equal},         {"!=", Comparison::not_equal}, {"<", Comparison::less},
    {"<=", Comparison::less_or_equal}, {">", Comparison::greater},    {">=", Comparison::greater_or_equal}};

}  // namespace

ExpressionPtr Parser::new_expression(ExpressionKind kind) const {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->line = current().line;
  return expression;
}

void Parser::add_operand(Expression& parent, ExpressionPtr operand) const {
  if (operand != nullptr) {
    parent.height = std::max(parent.height, operand->height + 1);
    if (parent.height > kMaxHeight) fail("an expression is too long");
  }
  parent.operands.push_back(std::move(operand));
}

void Parser::take_arguments(Expression& parent, CallArguments arguments) const {
  const auto count = [&](const ExpressionPtr& argument) {
    if (argument != nullptr) parent.height = std::max(parent.height, argument->height + 1);
  };
  for (const ExpressionPtr& argument : arguments.positional) count(argument);
  for (const auto& [name, argument] : arguments.named) count(argument);
  count(arguments.unpacked_list);
  count(arguments.unpacked_mapping);
  if (parent.height > kMaxHeight) fail("an expression is too long");
  parent.arguments = std::move(arguments);
}

ExpressionPtr Parser::binary(ExpressionKind kind, ExpressionPtr left, ExpressionPtr right) const {
  ExpressionPtr expression = new_expression(kind);
  expression->line = left->line;
  add_operand(*expression, std::move(left));
  add_operand(*expression, std::move(right));
  return expression;
}

ExpressionPtr Parser::parse_expression(bool with_conditional) {
  const Nesting nesting(*this);
  return with_conditional ? parse_conditional() : parse_or();
}

ExpressionPtr Parser::parse_tuple(bool is_target, bool with_conditional, Ends ends, bool in_parentheses,
                                  bool with_namespace) {
  ExpressionPtr tuple = new_expression(ExpressionKind::tuple);
  bool is_tuple = false;
  for (;;) {
    const bool at_end = current().kind == TokenKind::output_end || current().kind == TokenKind::statement_end ||
                        is_sign(")") || is_any_name(ends);
    if (at_end) break;
    add_operand(*tuple, is_target ? parse_primary(with_namespace) : parse_expression(with_conditional));
    if (!skip_sign(",")) break;
    is_tuple = true;
  }
  if (is_tuple) return tuple;
  if (!tuple->operands.empty()) return std::move(tuple->operands.front());
  if (!in_parentheses) fail("expected an expression, got " + describe_current());
  return tuple;
}

ExpressionPtr Parser::parse_conditional() {
  ExpressionPtr value = parse_or();
  while (skip_name("if")) {
    ExpressionPtr conditional = new_expression(ExpressionKind::conditional);
    add_operand(*conditional, std::move(value));
    add_operand(*conditional, parse_or());
    ExpressionPtr otherwise;
    if (skip_name("else")) {
      const Nesting nesting(*this);
      otherwise = parse_conditional();
    }
    add_operand(*conditional, std::move(otherwise));
    value = std::move(conditional);
  }
  return value;
}

ExpressionPtr Parser::parse_or() {
  ExpressionPtr left = parse_and();
  if (!is_name("or")) return left;
  ExpressionPtr all = new_expression(ExpressionKind::disjunction);
  add_operand(*all, std::move(left));
  while (skip_name("or")) add_operand(*all, parse_and());
  return all;
}

ExpressionPtr Parser::parse_and() {
  ExpressionPtr left = parse_not();
  if (!is_name("and")) return left;
  ExpressionPtr all = new_expression(ExpressionKind::conjunction);
  add_operand(*all, std::move(left));
  while (skip_name("and")) add_operand(*all, parse_not());
  return all;
}

ExpressionPtr Parser::parse_not() {
  if (!is_name("not")) return parse_comparison();
  const Nesting nesting(*this);
  ExpressionPtr negation = new_expression(ExpressionKind::negation);
  take();
  add_operand(*negation, parse_not());
  return negation;
}

ExpressionPtr Parser::parse_comparison() {
  ExpressionPtr left = parse_sum();
  ExpressionPtr all;
  for (;;) {
    Comparison comparison = Comparison::in;
    if (is_name("not") && following().kind == TokenKind::name && following().text == "in") {
      take();
      take();
      comparison = Comparison::not_in;
    } else if (!skip_name("in")) {
      const auto* found = std::ranges::find_if(kComparisons, [&](const auto& each) { return is_sign(each.first); });
      if (found == std::end(kComparisons)) break;
      take();
      comparison = found->second;
    }
    if (all == nullptr) {
      all = new_expression(ExpressionKind::comparison);
      add_operand(*all, std::move(left));
    }
    add_operand(*all, parse_sum());
    all->comparisons.push_back(comparison);
  }
  return all == nullptr ? std::move(left) : std::move(all);
}

ExpressionPtr Parser::parse_sum() {
  ExpressionPtr left = parse_concatenation();
  while (is_sign("+") || is_sign("-")) {
    const Arithmetic operation = take().text == "+" ? Arithmetic::add : Arithmetic::subtract;
    left = binary(ExpressionKind::arithmetic, std::move(left), parse_concatenation());
    left->arithmetic = operation;
  }
  return left;
}

ExpressionPtr Parser::parse_concatenation() {
  ExpressionPtr left = parse_product();
  if (!is_sign("~")) return left;
  ExpressionPtr all = new_expression(ExpressionKind::concatenation);
  add_operand(*all, std::move(left));
  while (skip_sign("~")) add_operand(*all, parse_product());
  return all;
}

ExpressionPtr Parser::parse_product() {
  ExpressionPtr left = parse_power();
  while (is_sign("*") || is_sign("/") || is_sign("//") || is_sign("%")) {
    const std::string sign = take().text;
    left = binary(ExpressionKind::arithmetic, std::move(left), parse_power());
    left->arithmetic = sign == "*"    ? Arithmetic::multiply
                       : sign == "/"  ? Arithmetic::divide
                       : sign == "//" ? Arithmetic::floor_divide
                                      : Arithmetic::modulo;
  }
  return left;
}

// In the reference too, powers associate to the left and bind more loosely than a sign.
ExpressionPtr Parser::parse_power() {
  ExpressionPtr left = parse_unary(true);
  while (skip_sign("**")) {
    left = binary(ExpressionKind::arithmetic, std::move(left), parse_unary(true));
    left->arithmetic = Arithmetic::power;
  }
  return left;
}

ExpressionPtr Parser::parse_unary(bool with_filter) {
  const Nesting nesting(*this);
  ExpressionPtr expression;
  if (is_sign("-") || is_sign("+")) {
    expression = new_expression(is_sign("-") ? ExpressionKind::minus : ExpressionKind::plus);
    take();
    add_operand(*expression, parse_unary(false));
  } else {
    expression = parse_primary(false);
  }
  expression = parse_postfix(std::move(expression));
  return with_filter ? parse_filters_and_tests(std::move(expression)) : std::move(expression);
}

ExpressionPtr Parser::parse_primary(bool with_namespace) {
  const Nesting nesting(*this);
  ExpressionPtr expression = new_expression(ExpressionKind::constant);
  switch (current().kind) {
    case TokenKind::name: {
      const std::string name = take().text;
      if (name == "true" || name == "True" || name == "false" || name == "False") {
        expression->constant = Value::boolean(name == "true" || name == "True");
      } else if (name == "none" || name == "None") {
        expression->constant = Value::none();
      } else {
        expression->kind = ExpressionKind::name;
        expression->name = name;
        if (with_namespace && skip_sign(".")) {
          expression->kind = ExpressionKind::namespace_target;
          expression->attribute = expect_any_name();
        }
      }
      return expression;
    }
    case TokenKind::text: {
      std::string text;
      while (current().kind == TokenKind::text) text += take().text;
      expression->constant = constant_text(std::move(text));
      return expression;
    }
    case TokenKind::integer:
    case TokenKind::real: expression->constant = take().number; return expression;
    case TokenKind::sign:
      if (is_sign("[")) return parse_list();
      if (is_sign("{")) return parse_mapping();
      if (skip_sign("(")) {
        expression = parse_tuple(false, true, {}, true, false);
        expect_sign(")");
        return expression;
      }
      break;
    default: break;
  }
  fail("unexpected " + describe_current());
}

ExpressionPtr Parser::parse_list() {
  ExpressionPtr list = new_expression(ExpressionKind::list);
  expect_sign("[");
  while (!is_sign("]")) {
    if (!list->operands.empty()) expect_sign(",");
    if (is_sign("]")) break;
    add_operand(*list, parse_expression());
  }
  expect_sign("]");
  return list;
}

ExpressionPtr Parser::parse_mapping() {
  ExpressionPtr mapping = new_expression(ExpressionKind::mapping);
  expect_sign("{");
  while (!is_sign("}")) {
    if (!mapping->operands.empty()) expect_sign(",");
    if (is_sign("}")) break;
    add_operand(*mapping, parse_expression());
    expect_sign(":");
    add_operand(*mapping, parse_expression());
  }
  expect_sign("}");
  return mapping;
}

ExpressionPtr Parser::parse_postfix(ExpressionPtr expression) {
  for (;;) {
    if (is_sign(".") || is_sign("[")) {
      expression = parse_subscript(std::move(expression));
    } else if (is_sign("(")) {
      expression = parse_call(std::move(expression));
    } else {
      return expression;
    }
  }
}

ExpressionPtr Parser::parse_filters_and_tests(ExpressionPtr expression) {
  for (;;) {
    if (is_sign("|")) {
      expression = parse_filter(std::move(expression), false);
    } else if (is_name("is")) {
      expression = parse_test(std::move(expression));
    } else if (is_sign("(")) {
      expression = parse_call(std::move(expression));
    } else {
      return expression;
    }
  }
}

ExpressionPtr Parser::parse_subscript(ExpressionPtr expression) {
  ExpressionPtr subscript = new_expression(ExpressionKind::item);
  add_operand(*subscript, std::move(expression));
  if (skip_sign(".")) {
    if (current().kind == TokenKind::name) {
      subscript->kind = ExpressionKind::attribute;
      subscript->name = take().text;
      return subscript;
    }
    if (current().kind != TokenKind::integer) fail("expected a name or a number");
    ExpressionPtr index = new_expression(ExpressionKind::constant);
    index->constant = take().number;
    add_operand(*subscript, std::move(index));
    return subscript;
  }
  expect_sign("[");
  ExpressionPtr indices = new_expression(ExpressionKind::tuple);
  std::vector<ExpressionPtr> slice;
  while (!is_sign("]")) {
    if (!indices->operands.empty() || !slice.empty()) expect_sign(",");
    if (!slice.empty()) fail("several slices in one subscript");
    ExpressionPtr index = parse_inside_brackets(slice);
    if (!slice.empty() && !indices->operands.empty()) fail("several slices in one subscript");
    if (index != nullptr) add_operand(*indices, std::move(index));
  }
  expect_sign("]");
  if (!slice.empty()) {
    subscript->kind = ExpressionKind::slice;
    for (ExpressionPtr& bound : slice) add_operand(*subscript, std::move(bound));
  } else {
    add_operand(*subscript, indices->operands.size() == 1 ? std::move(indices->operands.front()) : std::move(indices));
  }
  return subscript;
}

// An index; or null, with the three bounds of a slice in `slice`.
ExpressionPtr Parser::parse_inside_brackets(std::vector<ExpressionPtr>& slice) {
  ExpressionPtr start;
  if (!is_sign(":")) {
    start = parse_expression();
    if (!is_sign(":")) return start;
  }
  take();
  const auto at_end = [&] { return is_sign("]") || is_sign(","); };
  slice.push_back(std::move(start));
  slice.push_back(is_sign(":") || at_end() ? nullptr : parse_expression());
  slice.push_back(skip_sign(":") && !at_end() ? parse_expression() : nullptr);
  return nullptr;
}

ExpressionPtr Parser::parse_call(ExpressionPtr expression) {
  ExpressionPtr call = new_expression(ExpressionKind::call);
  add_operand(*call, std::move(expression));
  take_arguments(*call, parse_arguments());
  return call;
}

CallArguments Parser::parse_arguments() {
  CallArguments arguments;
  expect_sign("(");
  bool needs_comma = false;
  const auto require = [&](bool holds) {
    if (!holds) fail("invalid order of arguments in a call");
  };
  std::set<std::string> names;
  while (!is_sign(")")) {
    if (needs_comma) {
      expect_sign(",");
      if (is_sign(")")) break;
    }
    if (skip_sign("*")) {
      require(arguments.unpacked_list == nullptr && arguments.unpacked_mapping == nullptr);
      arguments.unpacked_list = parse_expression();
    } else if (skip_sign("**")) {
      require(arguments.unpacked_mapping == nullptr);
      arguments.unpacked_mapping = parse_expression();
    } else if (current().kind == TokenKind::name && following().kind == TokenKind::sign && following().text == "=") {
      require(arguments.unpacked_mapping == nullptr);
      std::string name = take().text;
      take();
      if (!names.insert(name).second) fail("the argument " + name + " is given twice");
      arguments.named.emplace_back(std::move(name), parse_expression());
    } else {
      require(arguments.unpacked_list == nullptr && arguments.unpacked_mapping == nullptr && arguments.named.empty());
      arguments.positional.push_back(parse_expression());
    }
    needs_comma = true;
  }
  expect_sign(")");
  return arguments;
}

ExpressionPtr Parser::parse_filter(ExpressionPtr expression, bool is_first) {
  while (is_sign("|") || is_first) {
    if (!is_first) take();
    is_first = false;
    ExpressionPtr filter = new_expression(ExpressionKind::filter);
    filter->name = expect_any_name();
    while (skip_sign(".")) filter->name += "." + expect_any_name();
    filter->filter = find_filter(filter->name);
    add_operand(*filter, std::move(expression));
    if (is_sign("(")) take_arguments(*filter, parse_arguments());
    expression = std::move(filter);
  }
  return expression;
}

ExpressionPtr Parser::parse_test(ExpressionPtr expression) {
  take();
  const bool is_negated = skip_name("not");
  ExpressionPtr test = new_expression(ExpressionKind::test);
  test->name = expect_any_name();
  while (skip_sign(".")) test->name += "." + expect_any_name();
  test->test = find_test(test->name);
  add_operand(*test, std::move(expression));
  const TokenKind kind = current().kind;
  if (is_sign("(")) {
    take_arguments(*test, parse_arguments());
  } else if ((kind == TokenKind::name || kind == TokenKind::text || kind == TokenKind::integer ||
              kind == TokenKind::real || is_sign("[") || is_sign("{")) &&
             !is_any_name({"else", "or", "and"})) {
    if (is_name("is")) fail("tests cannot be chained with is");
    CallArguments arguments;
    arguments.positional.push_back(parse_postfix(parse_primary(false)));
    take_arguments(*test, std::move(arguments));
  }
  if (!is_negated) return test;
  ExpressionPtr negation = new_expression(ExpressionKind::negation);
  add_operand(*negation, std::move(test));
  return negation;
}

}  // namespace alate::tokenizers::chat_templates
