// The syntax tree of a template; immutable once names are resolved.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
struct Filter;  // filters.h
struct Test;    // tests.h

/// Where a variable is: in the function `hops` outwards of the current one.
struct Variable {
  std::uint32_t hops = 0;
  std::uint32_t slot = 0;
};

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr unpacked_list, unpacked_mapping;  // *values, **values
};

enum class ExpressionKind : std::uint8_t {
  data,  // text between tags
  constant,
  name,              // `name`, at `variable`
  namespace_target,  // `name.attribute` as a target
  list,
  tuple,
  mapping,    // operands: key, value, key, value …
  attribute,  // operand.name
  item,       // operand[operand]
  slice,      // operand[operand:operand:operand], the last three may be null
  call,       // operand(arguments)
  filter,     // operand | name(arguments); a null operand is the body of a block
  test,       // operand is name(arguments)
  negation,   // not operand
  minus,
  plus,
  arithmetic,
  concatenation,  // operand ~ operand ~ …
  comparison,     // operand < operand < …
  conjunction,    // operand and operand and …
  disjunction,
  conditional,  // operand if operand else operand (which may be null), in the order value, condition, otherwise
};

struct Expression {
  ExpressionKind kind;
  Arithmetic arithmetic = Arithmetic::add;
  bool is_target = false;  // of an assignment
  std::uint32_t line = 0;
  std::uint32_t height = 1;  // of the tree below
  Variable variable;
  Value constant;
  std::string name, attribute;
  std::vector<ExpressionPtr> operands;
  std::vector<Comparison> comparisons;
  CallArguments arguments;
  const Filter* filter = nullptr;  // null if there is none of the name: an error when it is used
  const Test* test = nullptr;
};

/// What a scope's variables are when it is entered.
struct Load {
  enum class Source : std::uint8_t { parameter, lookup, outer, undefined };
  std::uint32_t slot;
  Source source;
  Variable outer;    // Source::outer
  std::string name;  // Source::lookup: a variable of the rendering
};

struct Scope {
  std::vector<Load> loads;
};

/// A part of a template with variables of its own that outlive its scopes: the template, a macro, a body that is
/// passed to a call, a recursive loop, the condition of a loop.
struct FunctionLayout {
  std::uint32_t slots = 0;
  bool is_captured = false;  // has functions inside, which may use its variables later
};

struct Statement;
using Statements = std::vector<Statement>;

struct MacroDefinition {
  static constexpr std::uint32_t kUnused = ~std::uint32_t{0};
  std::string name;  // empty for the body of a call block
  std::vector<std::string> parameters;
  std::vector<std::uint32_t> parameter_slots;
  std::vector<ExpressionPtr> defaults;  // of the last parameters
  bool has_explicit_caller = false;
  std::uint32_t caller_slot = kUnused, kwargs_slot = kUnused, varargs_slot = kUnused;
  Scope scope;
  FunctionLayout layout;
};

enum class StatementKind : std::uint8_t {
  output,
  for_loop,
  condition,
  set,
  set_block,
  macro,
  call_block,
  generation,
  filter_block,
  with,
  block,           // runs once, where it stands
  autoescape,      // expression: whether; true is refused
  other_template,  // include, import and others: refused when it is run
  break_loop,
  continue_loop
};

struct Statement {
  StatementKind kind;
  std::string tag;  // other_template
  std::uint32_t line = 0;
  std::vector<ExpressionPtr> expressions;  // output: pieces; with: values; condition: one for each branch
  std::vector<ExpressionPtr> targets;      // for_loop, set, set_block: one; with: each
  ExpressionPtr expression;                // for_loop: what is iterated; set: the value; call_block: the call;
                                           // set_block, filter_block: the filter, may be null
  ExpressionPtr test;                      // for_loop: its condition, may be null
  std::vector<Statements> branches;        // condition: one more than expressions, the last is `else`
  Statements body, otherwise;
  Scope scope, otherwise_scope, test_scope;
  Variable variable;  // macro: where it is stored; block: the function whose variables it sees, as hops
  bool is_recursive = false, uses_loop = false;
  bool is_scoped = false;  // block: sees the variables of the place where it stands
  std::uint32_t loop_slot = 0;
  FunctionLayout layout;       // of a recursive loop
  FunctionLayout test_layout;  // of a loop's condition
  std::unique_ptr<MacroDefinition> macro;
};

/// Parsed text of a template.
struct Syntax {
  Statements body;
  Scope scope;
  FunctionLayout layout;
};

/// Throws corrupt with the line for a template that is not well-formed.
Syntax parse_template(std::string_view text, std::string_view what);

}  // namespace alate::tokenizers::chat_templates
