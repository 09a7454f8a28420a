#include "generation/constraint/grammar.h"

#include <algorithm>
#include <utility>

#include "formats/utf8.h"
#include "generation/constraint/compile_grammar.h"
#include "generation/constraint/free_text.h"
#include "generation/constraint/gbnf.h"
#include "generation/constraint/grammar_parts.h"
#include "generation/constraint/grammar_tables.h"
#include "generation/constraint/json_schema.h"
#include "generation/constraint/json_text.h"
#include "generation/constraint/regex_grammar.h"

namespace alate::generation {

using Kind = ExpressionNode::Kind;

Grammar::Grammar(std::unique_ptr<const GrammarTables> tables) : tables_(std::move(tables)) {}
Grammar::~Grammar() = default;

Expression GrammarBuilder::Parts::add(ExpressionNode node) {
  if (nodes.size() >= kMostExpressions) budget.refuse("has too many parts");
  budget.spend(10 + node.literal.size() + node.parts.size());
  nodes.push_back(std::move(node));
  return {static_cast<std::uint32_t>(nodes.size() - 1)};
}

Expression GrammarBuilder::Parts::add_set(const tokenizers::CodePointSet& set) {
  budget.spend(set.ranges().size());
  sets.push_back(set);
  return add({.kind = Kind::set, .index = static_cast<std::uint32_t>(sets.size() - 1)});
}

Expression GrammarBuilder::Parts::add_machine(ByteMachine machine) {
  machines.push_back(std::move(machine));
  return add({.kind = Kind::machine, .index = static_cast<std::uint32_t>(machines.size() - 1)});
}

Expression GrammarBuilder::Parts::add_graph(ExpressionGraph graph) {
  budget.spend(graph.edges.size());
  graphs.push_back(std::move(graph));
  return add({.kind = Kind::graph, .index = static_cast<std::uint32_t>(graphs.size() - 1)});
}

Expression GrammarBuilder::Parts::declare(std::string name) {
  if (rules.size() >= kMostRules) budget.refuse("has too many rules");
  rules.push_back({.name = std::move(name)});
  return add({.kind = Kind::rule, .index = static_cast<std::uint32_t>(rules.size() - 1)});
}

Expression GrammarBuilder::Parts::shared(Expression body, std::string name) {
  const Expression rule = declare(std::move(name));
  define(rule, body);
  return rule;
}

GrammarBuilder::GrammarBuilder(base::Cancellation cancellation) : parts_(std::make_unique<Parts>(cancellation)) {}
GrammarBuilder::~GrammarBuilder() = default;

Expression GrammarBuilder::text(std::string_view literal) {
  if (formats::valid_utf8_prefix(literal) != literal.size())
    throw Error(ErrorCode::invalid_argument, "a text of the grammar is not valid UTF-8");
  return parts_->add({.kind = Kind::text, .literal = std::string(literal)});
}

Expression GrammarBuilder::token(std::int32_t id) {
  if (id < 0) throw make_error(ErrorCode::invalid_argument, "a token of the grammar has the negative id ", id);
  return parts_->add({.kind = Kind::token, .index = static_cast<std::uint32_t>(id)});
}

Expression GrammarBuilder::sequence(std::span<const Expression> parts) {
  if (parts.size() == 1) return parts.front();
  return parts_->add({.kind = Kind::sequence, .parts = {parts.begin(), parts.end()}});
}

Expression GrammarBuilder::choice(std::span<const Expression> parts) {
  if (parts.empty()) throw Error(ErrorCode::invalid_argument, "the grammar has a choice of nothing");
  if (parts.size() == 1) return parts.front();
  return parts_->add({.kind = Kind::choice, .parts = {parts.begin(), parts.end()}});
}

Expression GrammarBuilder::repeat(Expression part, std::uint32_t least, std::uint32_t most) {
  if (least > most)
    throw make_error(ErrorCode::invalid_argument, "the grammar has a repetition of at least ", least, " and at most ",
                     most, " times");
  return parts_->add({.kind = Kind::repeat, .least = least, .most = most, .parts = {part}});
}

Expression GrammarBuilder::json_schema(const formats::Json& schema, std::string_view what) {
  parts_->budget.set_what(what);
  return schema_expression(*this, schema, what);
}
Expression GrammarBuilder::json_object() { return any_json_object(*this); }
Expression GrammarBuilder::json_value() { return any_json_value(*this); }
Expression GrammarBuilder::regex(std::string_view pattern, std::string_view what) {
  parts_->budget.set_what(what);
  return regex_expression(*this, pattern, what);
}
Expression GrammarBuilder::gbnf(std::string_view grammar, std::string_view what) {
  parts_->budget.set_what(what);
  return gbnf_expression(*this, grammar, what);
}

Expression GrammarBuilder::free_text(std::span<const std::string> without) {
  return parts_->add_machine(text_without(without));
}

Expression GrammarBuilder::triggered(std::span<const Trigger> triggers, bool is_required, bool repeats) {
  std::vector<std::string> without;
  std::vector<Expression> branches;
  for (const Trigger& trigger : triggers) {
    const ExpressionNode& begin = parts_->nodes[trigger.begin.number];
    if (begin.kind == Kind::text) without.push_back(begin.literal);
    branches.push_back(sequence({trigger.begin, trigger.then}));
  }
  const Expression before = free_text(without);
  if (branches.empty()) return before;
  if (!repeats) return sequence({before, repeat(choice(branches), is_required ? 1 : 0, 1)});
  const Expression part = sequence({choice(branches), before});
  return sequence({before, repeat(part, is_required ? 1 : 0)});
}

std::shared_ptr<const Grammar> GrammarBuilder::build(Expression root, std::string_view what) {
  parts_->budget.set_what(what);
  return std::make_shared<const Grammar>(compile_grammar(*parts_, root));
}

}  // namespace alate::generation
