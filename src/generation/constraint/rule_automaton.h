// The expressions of rules as nondeterministic automata.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "generation/constraint/grammar_parts.h"

namespace alate::generation {

/// Nodes and edges of one rule: bytes, calls of other rules, tokens, and edges that take nothing.
struct RuleAutomaton {
  struct Node {
    std::vector<std::uint32_t> empty;
    std::vector<ByteMachine::Edge> bytes;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;   // rule, to
    std::vector<std::pair<std::uint32_t, std::uint32_t>> tokens;  // id, to
  };
  static constexpr std::uint32_t kStart = 0, kEnd = 1;

  std::vector<Node> nodes{2};
  std::uint32_t least = 1, most = 1;  // how often it is passed through
  std::string name;                   // for errors
};

/// The rules that a root needs; the root is the first. Repetitions that are long become rules of their own, so that the
/// size is that of what was written.
class RuleAutomata {
 public:
  RuleAutomata(GrammarBuilder::Parts& parts, Expression root);

  std::vector<RuleAutomaton> rules;

 private:
  std::uint32_t number_of_rule(std::uint32_t rule);
  std::uint32_t number_of_repetition(const ExpressionNode& node);
  std::uint32_t add_node();
  void edge(std::uint32_t from, std::uint32_t to) { rules[current_].nodes[from].empty.push_back(to); }
  void add(Expression expression, std::uint32_t from, std::uint32_t to);
  void add_bytes(const ExpressionNode& node, std::uint32_t from, std::uint32_t to);
  void add_repetition(const ExpressionNode& node, std::uint32_t from, std::uint32_t to);
  void add_machine(const ByteMachine& machine, std::uint32_t from, std::uint32_t to);
  void add_graph(const ExpressionGraph& graph, std::uint32_t from, std::uint32_t to);
  std::size_t size_of(Expression expression);

  GrammarBuilder::Parts& parts_;
  std::uint32_t current_ = 0;
  std::vector<Expression> bodies_;                  // by rule
  std::map<std::uint32_t, std::uint32_t> numbers_;  // by rule of the builder
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> repetitions_;
  std::vector<std::uint32_t> sizes_;  // by expression; 0: not yet known
  std::size_t nodes_ = 0;
};

}  // namespace alate::generation
