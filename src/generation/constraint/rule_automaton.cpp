#include "generation/constraint/rule_automaton.h"

#include <algorithm>

#include "generation/constraint/utf8_ranges.h"

namespace alate::generation {
namespace {

using Kind = ExpressionNode::Kind;

constexpr std::size_t kMostNodes = 400'000;
constexpr std::size_t kMostWrittenOut = 64;  // nodes of a repetition that does not become a rule
constexpr std::uint32_t kUnlimited = GrammarBuilder::kUnlimited;

}  // namespace

RuleAutomata::RuleAutomata(GrammarBuilder::Parts& parts, Expression root)
    : parts_(parts), sizes_(parts.nodes.size(), 0) {
  rules.push_back({.name = "root"});
  bodies_.push_back(root);
  for (; current_ < rules.size(); ++current_) add(bodies_[current_], RuleAutomaton::kStart, RuleAutomaton::kEnd);
}

std::uint32_t RuleAutomata::number_of_rule(std::uint32_t rule) {
  const auto [found, is_new] = numbers_.try_emplace(rule, static_cast<std::uint32_t>(rules.size()));
  if (is_new) {
    const GrammarRule& definition = parts_.rules[rule];
    if (!definition.body)
      throw make_error(ErrorCode::invalid_argument, parts_.budget.what(), " has no rule ", definition.name);
    rules.push_back({.name = definition.name});
    bodies_.push_back(*definition.body);
  }
  return found->second;
}

std::uint32_t RuleAutomata::number_of_repetition(const ExpressionNode& node) {
  const auto [found, is_new] = repetitions_.try_emplace({node.parts.front().number, node.least, node.most},
                                                        static_cast<std::uint32_t>(rules.size()));
  if (is_new) {
    rules.push_back({.least = node.least, .most = node.most, .name = rules[current_].name});
    bodies_.push_back(node.parts.front());
  }
  return found->second;
}

std::uint32_t RuleAutomata::add_node() {
  if (++nodes_ > kMostNodes) parts_.budget.refuse("is too large");
  parts_.budget.spend(5);
  rules[current_].nodes.emplace_back();
  return static_cast<std::uint32_t>(rules[current_].nodes.size() - 1);
}

// About how many nodes it gets, at most 1 beyond what is written out.
std::size_t RuleAutomata::size_of(Expression expression) {
  std::uint32_t& known = sizes_[expression.number];
  if (known != 0) return known;
  const ExpressionNode& node = parts_.nodes[expression.number];
  std::size_t size = 1;
  if (node.kind == Kind::text) size += node.literal.size();
  if (node.kind == Kind::set) size += 2 * parts_.sets[node.index].ranges().size();
  if (node.kind == Kind::graph) size += kMostWrittenOut;
  if (node.kind == Kind::machine) size += parts_.machines[node.index].edges.size();
  for (const Expression part : node.parts) {
    if (size > kMostWrittenOut) break;
    size += size_of(part);
  }
  if (node.kind == Kind::repeat && size <= kMostWrittenOut) {
    const std::uint32_t times = node.most == kUnlimited ? node.least : node.most;
    if (size * std::max<std::uint64_t>(times, 1) <= kMostWrittenOut) size *= std::max<std::uint32_t>(times, 1);
  }
  known = static_cast<std::uint32_t>(std::min(size, kMostWrittenOut + 1));
  return known;
}

void RuleAutomata::add(Expression expression, std::uint32_t from, std::uint32_t to) {
  const ExpressionNode& node = parts_.nodes[expression.number];
  switch (node.kind) {
    case Kind::text:
    case Kind::set: return add_bytes(node, from, to);
    case Kind::sequence: {
      for (std::size_t i = 0; i + 1 < node.parts.size(); ++i) {
        const std::uint32_t between = add_node();
        add(node.parts[i], from, between);
        from = between;
      }
      if (node.parts.empty()) return edge(from, to);
      return add(node.parts.back(), from, to);
    }
    case Kind::choice:
      for (const Expression part : node.parts) add(part, from, to);
      return;
    case Kind::repeat: return add_repetition(node, from, to);
    case Kind::rule: {
      const std::uint32_t rule = number_of_rule(node.index);
      rules[current_].nodes[from].calls.emplace_back(rule, to);
      return;
    }
    case Kind::token: rules[current_].nodes[from].tokens.emplace_back(node.index, to); return;
    case Kind::machine: return add_machine(parts_.machines[node.index], from, to);
    case Kind::graph: return add_graph(parts_.graphs[node.index], from, to);
  }
}

void RuleAutomata::add_bytes(const ExpressionNode& node, std::uint32_t from, std::uint32_t to) {
  if (node.kind == Kind::set) {
    for_each_utf8_sequence(parts_.sets[node.index], [&](const Utf8Sequence& sequence) {
      std::uint32_t at = from;
      for (std::size_t i = 0; i < sequence.count; ++i) {
        const std::uint32_t next = i + 1 < sequence.count ? add_node() : to;
        rules[current_].nodes[at].bytes.push_back({sequence.bytes[i].first, sequence.bytes[i].last, next});
        at = next;
      }
      parts_.budget.spend(1);
    });
    return;
  }
  for (std::size_t i = 0; i < node.literal.size(); ++i) {
    const std::uint32_t next = i + 1 < node.literal.size() ? add_node() : to;
    const auto byte = static_cast<std::uint8_t>(node.literal[i]);
    rules[current_].nodes[from].bytes.push_back({byte, byte, next});
    from = next;
  }
  if (node.literal.empty()) edge(from, to);
}

void RuleAutomata::add_repetition(const ExpressionNode& node, std::uint32_t from, std::uint32_t to) {
  const Expression part = node.parts.front();
  if (node.most == 0) return edge(from, to);
  // So that no edge leads back to `from` or on from `to`, which other parts use too.
  const auto add_loop = [&](std::uint32_t begin) {
    const std::uint32_t again = add_node();
    edge(begin, again);
    const std::uint32_t end = add_node();
    add(part, again, end);
    edge(end, again);
    edge(again, to);
  };
  if (node.most == kUnlimited && node.least == 0) return add_loop(from);
  const std::uint32_t times = node.most == kUnlimited ? node.least : node.most;
  if (times > 1 && size_of(part) * std::uint64_t{times} > kMostWrittenOut) {
    const std::uint32_t rule = number_of_repetition(node);
    rules[current_].nodes[from].calls.emplace_back(rule, to);
    return;
  }
  for (std::uint32_t i = 0; i < times; ++i) {
    if (i >= node.least) edge(from, to);
    const std::uint32_t next = add_node();
    add(part, from, next);
    from = next;
  }
  if (node.most == kUnlimited) return add_loop(from);
  edge(from, to);
}

void RuleAutomata::add_machine(const ByteMachine& machine, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t first = static_cast<std::uint32_t>(rules[current_].nodes.size());
  for (std::size_t i = 0; i < machine.edges.size(); ++i) add_node();
  edge(from, first);
  for (std::size_t i = 0; i < machine.edges.size(); ++i) {
    const auto node = first + static_cast<std::uint32_t>(i);
    parts_.budget.spend(machine.edges[i].size());
    for (const ByteMachine::Edge& edge : machine.edges[i])
      rules[current_].nodes[node].bytes.push_back({edge.first, edge.last, first + edge.to});
    if (machine.is_final[i]) edge(node, to);
  }
}

void RuleAutomata::add_graph(const ExpressionGraph& graph, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t first = static_cast<std::uint32_t>(rules[current_].nodes.size());
  for (std::size_t i = 0; i < graph.edges.size(); ++i) add_node();
  edge(from, first);
  edge(first + 1, to);
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    const auto node = first + static_cast<std::uint32_t>(i);
    for (const ExpressionGraph::Edge& edge_of : graph.edges[i]) {
      if (edge_of.takes) {
        add(*edge_of.takes, node, first + edge_of.to);
      } else {
        edge(node, first + edge_of.to);
      }
    }
  }
}

}  // namespace alate::generation
