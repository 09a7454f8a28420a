#include <algorithm>
#include <set>

#include "alate/error.h"
#include "formats/json.h"
#include "tokenizers/chat_templates/syntax/parser.h"
#include "tokenizers/chat_templates/syntax/resolve_names.h"

namespace alate::tokenizers::chat_templates {

Token Parser::take() {
  Token token = current();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::is_any_name(std::initializer_list<std::string_view> names) const {
  return std::ranges::any_of(names, [&](std::string_view name) { return is_name(name); });
}

bool Parser::skip_sign(std::string_view sign) {
  if (!is_sign(sign)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  take();
  return true;
}

std::string Parser::describe_current() const {
  switch (current().kind) {
    case TokenKind::end: return "the end of the template";
    case TokenKind::statement_end: return "the end of the statement";
    case TokenKind::output_end: return "the end of the output";
    case TokenKind::statement_begin: return "'{%'";
    case TokenKind::output_begin: return "'{{'";
    case TokenKind::data: return "text";
    case TokenKind::text: return "a string";
    case TokenKind::integer:
    case TokenKind::real: return "a number";
    default: return formats::quoted_name(current().text);
  }
}

void Parser::expect_sign(std::string_view sign) {
  if (!skip_sign(sign)) fail("expected '" + std::string(sign) + "', got " + describe_current());
}

void Parser::expect_name(std::string_view name) {
  if (!skip_name(name)) fail("expected '" + std::string(name) + "', got " + describe_current());
}

std::string Parser::expect_any_name() {
  if (current().kind != TokenKind::name) fail("expected a name, got " + describe_current());
  return take().text;
}

void Parser::expect(TokenKind kind) {
  if (current().kind != kind) {
    fail("expected the end of the " + std::string(kind == TokenKind::output_end ? "output" : "statement") + ", got " +
         describe_current());
  }
  take();
}

Statement Parser::new_statement(StatementKind kind) const {
  Statement statement;
  statement.kind = kind;
  statement.line = current().line;
  return statement;
}

Statements Parser::parse_template() {
  Statements statements = parse_until({});
  if (current().kind != TokenKind::end) fail("unexpected " + describe_current());
  return statements;
}

// Up to one of the tags `ends`, whose name is then the current token; or the end of the template.
Statements Parser::parse_until(Ends ends) {
  const Nesting nesting(*this);
  Statements statements;
  const auto output = [&]() -> Statement& {
    if (statements.empty() || statements.back().kind != StatementKind::output) {
      statements.push_back(new_statement(StatementKind::output));
    }
    return statements.back();
  };
  while (current().kind != TokenKind::end) {
    if (current().kind == TokenKind::data) {
      ExpressionPtr data = new_expression(ExpressionKind::data);
      data->constant = constant_text(take().text);
      output().expressions.push_back(std::move(data));
    } else if (current().kind == TokenKind::output_begin) {
      Statement& statement = output();
      take();
      statement.expressions.push_back(parse_tuple(false, true, {}, false, false));
      expect(TokenKind::output_end);
    } else {
      take();
      if (current().kind != TokenKind::name) fail("expected the name of a tag, got " + describe_current());
      if (is_any_name(ends)) return statements;
      statements.push_back(parse_statement());
      expect(TokenKind::statement_end);
    }
  }
  return statements;
}

// The rest of an opening tag, and what follows up to one of `ends`.
Statements Parser::parse_body(Ends ends) {
  skip_sign(":");
  expect(TokenKind::statement_end);
  Statements body = parse_until(ends);
  if (current().kind == TokenKind::end) {
    fail("the template ends where {% " + std::string(*(ends.end() - 1)) + " %} is expected");
  }
  return body;
}

Statement Parser::parse_statement() {
  const std::string& tag = current().text;
  if (tag == "for") return parse_for();
  if (tag == "if") return parse_if();
  if (tag == "set") return parse_set();
  if (tag == "macro") return parse_macro();
  if (tag == "call") return parse_call_block();
  if (tag == "generation") return parse_generation();
  if (tag == "filter") return parse_filter_block();
  if (tag == "with") return parse_with();
  if (tag == "print") return parse_print();
  if (tag == "break") return parse_loop_control(StatementKind::break_loop);
  if (tag == "continue") return parse_loop_control(StatementKind::continue_loop);
  if (tag == "block") return parse_block();
  if (tag == "autoescape") return parse_autoescape();
  if (tag == "extends" || tag == "include" || tag == "import" || tag == "from") return parse_other_template();
  fail("unknown tag " + formats::quoted_name(tag));
}

Statement Parser::parse_for() {
  Statement loop = new_statement(StatementKind::for_loop);
  take();
  loop.targets.push_back(parse_target({"in"}, false));
  expect_name("in");
  loop.expression = parse_tuple(false, false, {"recursive"}, false, false);
  if (skip_name("if")) loop.test = parse_expression();
  loop.is_recursive = skip_name("recursive");
  ++loops_;
  loop.body = parse_body({"else", "endfor"});
  --loops_;
  if (take().text == "else") {
    loop.otherwise = parse_body({"endfor"});
    take();
  }
  return loop;
}

Statement Parser::parse_if() {
  Statement condition = new_statement(StatementKind::condition);
  take();
  for (;;) {
    condition.expressions.push_back(parse_tuple(false, false, {}, false, false));
    condition.branches.push_back(parse_body({"elif", "else", "endif"}));
    const std::string tag = take().text;
    if (tag == "elif") continue;
    condition.branches.emplace_back();
    if (tag == "else") {
      condition.branches.back() = parse_body({"endif"});
      take();
    }
    return condition;
  }
}

void Parser::mark_target(Expression& target) const {
  switch (target.kind) {
    case ExpressionKind::name:
    case ExpressionKind::namespace_target: break;
    case ExpressionKind::tuple:
    case ExpressionKind::list:
      for (const ExpressionPtr& part : target.operands) mark_target(*part);
      break;
    default: fail("this cannot be assigned to");
  }
  target.is_target = true;
}

ExpressionPtr Parser::parse_target(Ends ends, bool with_namespace) {
  ExpressionPtr target = parse_tuple(true, true, ends, false, with_namespace);
  mark_target(*target);
  return target;
}

Statement Parser::parse_set() {
  Statement set = new_statement(StatementKind::set);
  take();
  set.targets.push_back(parse_target({}, true));
  if (skip_sign("=")) {
    set.expression = parse_tuple(false, true, {}, false, false);
    return set;
  }
  set.kind = StatementKind::set_block;
  set.expression = parse_filter(nullptr, false);
  set.body = parse_body({"endset"});
  take();
  return set;
}

void Parser::parse_parameters(MacroDefinition& macro) {
  expect_sign("(");
  std::set<std::string> names;
  while (!is_sign(")")) {
    if (!macro.parameters.empty()) expect_sign(",");
    std::string name = expect_any_name();
    if (!names.insert(name).second) fail("a parameter has the name of another");
    if (skip_sign("=")) {
      macro.defaults.push_back(parse_expression());
    } else if (!macro.defaults.empty()) {
      fail("a parameter without a default follows one with a default");
    }
    macro.parameters.push_back(std::move(name));
  }
  expect_sign(")");
}

Statement Parser::parse_macro() {
  Statement statement = new_statement(StatementKind::macro);
  take();
  statement.macro = std::make_unique<MacroDefinition>();
  statement.macro->name = expect_any_name();
  parse_parameters(*statement.macro);
  const int loops = std::exchange(loops_, 0);
  statement.body = parse_body({"endmacro"});
  loops_ = loops;
  take();
  return statement;
}

Statement Parser::parse_call_block() {
  Statement statement = new_statement(StatementKind::call_block);
  take();
  statement.macro = std::make_unique<MacroDefinition>();
  if (is_sign("(")) parse_parameters(*statement.macro);
  statement.expression = parse_expression();
  if (statement.expression->kind != ExpressionKind::call) fail("{% call %} needs a call");
  const int loops = std::exchange(loops_, 0);
  statement.body = parse_body({"endcall"});
  loops_ = loops;
  take();
  return statement;
}

Statement Parser::parse_generation() {
  Statement statement = new_statement(StatementKind::generation);
  take();
  statement.macro = std::make_unique<MacroDefinition>();
  const int loops = std::exchange(loops_, 0);
  statement.body = parse_body({"endgeneration"});
  loops_ = loops;
  take();
  return statement;
}

Statement Parser::parse_filter_block() {
  Statement statement = new_statement(StatementKind::filter_block);
  take();
  statement.expression = parse_filter(nullptr, true);
  statement.body = parse_body({"endfilter"});
  take();
  return statement;
}

Statement Parser::parse_with() {
  Statement statement = new_statement(StatementKind::with);
  take();
  while (current().kind != TokenKind::statement_end) {
    if (!statement.targets.empty()) expect_sign(",");
    statement.targets.push_back(parse_target({}, false));
    expect_sign("=");
    statement.expressions.push_back(parse_expression());
  }
  statement.body = parse_body({"endwith"});
  take();
  return statement;
}

Statement Parser::parse_block() {
  Statement statement = new_statement(StatementKind::block);
  take();
  const std::string name = expect_any_name();
  if (!blocks_.insert(name).second) fail("the block " + formats::quoted_name(name) + " is defined twice");
  statement.is_scoped = skip_name("scoped");
  if (skip_name("required")) fail("the block " + formats::quoted_name(name) + " is to be defined by another template");
  statement.macro = std::make_unique<MacroDefinition>();
  const int loops = std::exchange(loops_, 0);
  statement.body = parse_body({"endblock"});
  loops_ = loops;
  take();
  skip_name(name);
  return statement;
}

Statement Parser::parse_autoescape() {
  Statement statement = new_statement(StatementKind::autoescape);
  take();
  statement.expression = parse_expression();
  statement.body = parse_body({"endautoescape"});
  take();
  return statement;
}

bool Parser::skip_context() {
  const bool is_there =
      (is_name("with") || is_name("without")) && following().kind == TokenKind::name && following().text == "context";
  if (is_there) take(), take();
  return is_there;
}

void Parser::parse_imported_names(Statement& statement) {
  expect_name("import");
  do {
    if (!statement.targets.empty() && skip_context()) return;
    const Token name = current();
    if (name.kind == TokenKind::name && name.text.starts_with('_')) {
      fail("names that begin with an underscore cannot be imported");
    }
    expect_any_name();
    ExpressionPtr target = new_expression(ExpressionKind::name);
    target->name = skip_name("as") ? expect_any_name() : name.text;
    mark_target(*target);
    statement.targets.push_back(std::move(target));
    if (skip_context()) return;
  } while (skip_sign(","));
}

Statement Parser::parse_other_template() {
  Statement statement = new_statement(StatementKind::other_template);
  statement.tag = take().text;
  statement.expression = parse_expression();
  if (statement.tag == "include") {
    if (is_name("ignore") && following().kind == TokenKind::name && following().text == "missing") take(), take();
    skip_context();
  } else if (statement.tag == "import") {
    expect_name("as");
    ExpressionPtr target = new_expression(ExpressionKind::name);
    target->name = expect_any_name();
    mark_target(*target);
    statement.targets.push_back(std::move(target));
    skip_context();
  } else if (statement.tag == "from") {
    parse_imported_names(statement);
  }
  return statement;
}

Statement Parser::parse_print() {
  Statement statement = new_statement(StatementKind::output);
  take();
  while (current().kind != TokenKind::statement_end) {
    if (!statement.expressions.empty()) expect_sign(",");
    statement.expressions.push_back(parse_expression());
  }
  return statement;
}

Statement Parser::parse_loop_control(StatementKind kind) {
  if (loops_ == 0) fail("{% " + current().text + " %} outside of a loop");
  Statement statement = new_statement(kind);
  take();
  return statement;
}

Syntax parse_template(std::string_view text, std::string_view what) {
  Syntax syntax;
  syntax.body = Parser(tokenize_template(text, what), what).parse_template();
  resolve_names(syntax, what);
  return syntax;
}

}  // namespace alate::tokenizers::chat_templates
