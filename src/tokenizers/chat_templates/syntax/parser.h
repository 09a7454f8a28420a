// From tokens to the syntax tree; names are not resolved yet.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizers/chat_templates/syntax/lexer.h"
#include "tokenizers/chat_templates/syntax/syntax.h"

namespace alate::tokenizers::chat_templates {

/// The precedence and the ends of expressions are Jinja's. Statements are in parse_statements.cpp, expressions in
/// parse_expressions.cpp.
class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string_view what) : tokens_(std::move(tokens)), what_(what) {}

  Statements parse_template();

 private:
  // Recursion of the parser itself; what it builds may be higher, up to kMaxHeight.
  static constexpr int kMaxDepth = 120;
  static constexpr std::uint32_t kMaxHeight = 600;
  class Nesting;

  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token take();
  bool is_sign(std::string_view sign) const { return current().kind == TokenKind::sign && current().text == sign; }
  bool is_name(std::string_view name) const { return current().kind == TokenKind::name && current().text == name; }
  bool is_any_name(std::initializer_list<std::string_view> names) const;
  bool skip_sign(std::string_view sign);
  bool skip_name(std::string_view name);
  void expect_sign(std::string_view sign);
  void expect_name(std::string_view name);
  std::string expect_any_name();
  void expect(TokenKind kind);
  [[noreturn]] void fail(std::string_view message) const { throw_syntax_error(what_, current().line, message); }
  std::string describe_current() const;

  using Ends = std::initializer_list<std::string_view>;
  Statements parse_until(Ends ends);
  Statements parse_body(Ends ends);
  Statement parse_statement();
  Statement parse_for();
  Statement parse_if();
  Statement parse_set();
  Statement parse_macro();
  Statement parse_call_block();
  Statement parse_generation();
  Statement parse_filter_block();
  Statement parse_with();
  Statement parse_block();
  Statement parse_autoescape();
  Statement parse_other_template();
  void parse_imported_names(Statement& statement);
  bool skip_context();
  Statement parse_print();
  Statement parse_loop_control(StatementKind kind);
  void parse_parameters(MacroDefinition& macro);
  Statement new_statement(StatementKind kind) const;

  ExpressionPtr parse_target(Ends ends, bool with_namespace);
  void mark_target(Expression& target) const;

  ExpressionPtr parse_expression(bool with_conditional = true);
  ExpressionPtr parse_tuple(bool is_target, bool with_conditional, Ends ends, bool in_parentheses, bool with_namespace);
  ExpressionPtr parse_conditional();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_comparison();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concatenation();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool with_filter);
  ExpressionPtr parse_primary(bool with_namespace);
  ExpressionPtr parse_list();
  ExpressionPtr parse_mapping();
  ExpressionPtr parse_postfix(ExpressionPtr expression);
  ExpressionPtr parse_filters_and_tests(ExpressionPtr expression);
  ExpressionPtr parse_subscript(ExpressionPtr expression);
  ExpressionPtr parse_inside_brackets(std::vector<ExpressionPtr>& slice);
  ExpressionPtr parse_call(ExpressionPtr expression);
  ExpressionPtr parse_filter(ExpressionPtr expression, bool is_first);
  ExpressionPtr parse_test(ExpressionPtr expression);
  CallArguments parse_arguments();

  ExpressionPtr new_expression(ExpressionKind kind) const;
  /// Takes over an operand, and its height.
  void add_operand(Expression& parent, ExpressionPtr operand) const;
  void take_arguments(Expression& parent, CallArguments arguments) const;
  ExpressionPtr binary(ExpressionKind kind, ExpressionPtr left, ExpressionPtr right) const;

  std::vector<Token> tokens_;
  std::string_view what_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;  // around the statement, inside the innermost macro
  std::set<std::string> blocks_;
};

class Parser::Nesting {
 public:
  explicit Nesting(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ > kMaxDepth) parser_.fail("the template nests too deeply");
  }
  ~Nesting() { --parser_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Parser& parser_;
};

}  // namespace alate::tokenizers::chat_templates
