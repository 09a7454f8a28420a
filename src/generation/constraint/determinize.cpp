#include "generation/constraint/determinize.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <map>
#include <utility>

namespace alate::generation {
namespace {

using Set = std::vector<std::uint32_t>;  // nodes of a rule's automaton, in order

constexpr std::size_t kMostNodes = 500'000;

// Adds what is reached without taking anything. Keeps only nodes that take something, and the end.
class Closure {
 public:
  Closure(const RuleAutomaton& rule, const std::vector<bool>& may_be_empty, CompileBudget& budget)
      : rule_(rule), may_be_empty_(may_be_empty), budget_(budget), seen_in_(rule.nodes.size(), 0) {}

  Set of(const Set& nodes) {
    ++round_;
    stack_.assign(nodes.begin(), nodes.end());
    Set kept;
    while (!stack_.empty()) {
      const std::uint32_t node = stack_.back();
      stack_.pop_back();
      if (seen_in_[node] == round_) continue;
      seen_in_[node] = round_;
      const RuleAutomaton::Node& of = rule_.nodes[node];
      budget_.spend(1 + of.empty.size() + of.calls.size());
      stack_.insert(stack_.end(), of.empty.begin(), of.empty.end());
      for (const auto& [called, to] : of.calls) {
        if (may_be_empty_[called]) stack_.push_back(to);
      }
      if (node == RuleAutomaton::kEnd || !of.bytes.empty() || !of.calls.empty() || !of.tokens.empty())
        kept.push_back(node);
    }
    std::ranges::sort(kept);
    return kept;
  }

 private:
  const RuleAutomaton& rule_;
  const std::vector<bool>& may_be_empty_;
  CompileBudget& budget_;
  std::vector<std::uint32_t> seen_in_;  // by node, the round
  std::uint32_t round_ = 0;
  Set stack_;
};

bool has_end(const Set& set) { return std::ranges::binary_search(set, RuleAutomaton::kEnd); }

class Determinizer {
 public:
  Determinizer(const RuleAutomaton& rule, const std::vector<bool>& may_be_empty, CompileBudget& budget,
               std::size_t& node_count)
      : rule_(rule), budget_(budget), node_count_(node_count), closure_(rule, may_be_empty, budget) {
    made_.least = rule.least;
    made_.most = rule.most;
  }

  DeterministicRule make() {
    const Set start = closure_.of({RuleAutomaton::kStart});
    if (has_end(start)) {
      add_node(start);
      made_.nodes.front().is_final = false;
    } else {
      number_of(start);
    }
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      const Set set = sets_[i];
      add_bytes(i, set);
      add_calls(i, set);
      add_tokens(i, set);
    }
    return std::move(made_);
  }

 private:
  std::uint32_t add_node(const Set& set) {
    if (++node_count_ > kMostNodes) budget_.refuse("is too large");
    sets_.push_back(set);
    made_.nodes.emplace_back().is_final = has_end(set);
    return static_cast<std::uint32_t>(made_.nodes.size() - 1);
  }
  std::uint32_t number_of(const Set& set) {
    budget_.spend(10 + 4 * set.size());
    const auto found = numbers_.find(set);
    if (found != numbers_.end()) return found->second;
    const std::uint32_t number = add_node(set);
    numbers_.emplace(set, number);
    return number;
  }
  std::uint32_t target(Set& nodes) {
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return number_of(closure_.of(nodes));
  }

  void add_bytes(std::size_t number, const Set& set) {
    std::bitset<257> is_border;
    std::size_t edges = 0;
    for (const std::uint32_t node : set) {
      for (const ByteMachine::Edge& edge : rule_.nodes[node].bytes) {
        is_border.set(edge.first);
        is_border.set(std::size_t{edge.last} + 1);
        ++edges;
      }
    }
    budget_.spend(edges);
    if (edges == 0) return;
    // Between two borders all bytes lead to the same nodes.
    std::array<Set, 256> by_first_byte;
    for (const std::uint32_t node : set) {
      for (const ByteMachine::Edge& edge : rule_.nodes[node].bytes) {
        for (std::size_t byte = edge.first; byte <= edge.last; ++byte) {
          if (is_border.test(byte)) by_first_byte[byte].push_back(edge.to);
        }
        budget_.spend(static_cast<std::uint64_t>(edge.last - edge.first) / 16);
      }
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (by_first_byte[byte].empty()) continue;
      std::size_t last = byte;
      while (last < 255 && !is_border.test(last + 1)) ++last;
      const std::uint32_t to = target(by_first_byte[byte]);
      std::vector<GrammarTables::ByteEdge>& made = made_.nodes[number].bytes;
      if (!made.empty() && made.back().to == to && std::size_t{made.back().last} + 1 == byte) {
        made.back().last = static_cast<std::uint8_t>(last);
      } else {
        made.push_back({static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(last), to});
      }
    }
  }
  void add_calls(std::size_t number, const Set& set) {
    std::map<std::uint32_t, Set> by_rule;
    for (const std::uint32_t node : set) {
      for (const auto& [rule, to] : rule_.nodes[node].calls) by_rule[rule].push_back(to);
    }
    for (auto& [rule, nodes] : by_rule) {
      const std::uint32_t to = target(nodes);
      made_.nodes[number].calls.push_back({rule, to});
    }
  }
  void add_tokens(std::size_t number, const Set& set) {
    std::map<std::uint32_t, Set> by_token;
    for (const std::uint32_t node : set) {
      for (const auto& [token, to] : rule_.nodes[node].tokens) by_token[token].push_back(to);
    }
    for (auto& [token, nodes] : by_token) {
      const std::uint32_t to = target(nodes);
      made_.nodes[number].tokens.push_back({static_cast<std::int32_t>(token), to});
    }
  }

  const RuleAutomaton& rule_;
  CompileBudget& budget_;
  std::size_t& node_count_;
  Closure closure_;
  std::map<Set, std::uint32_t> numbers_;
  std::vector<Set> sets_;  // by node
  DeterministicRule made_;
};

}  // namespace

std::vector<bool> find_empty_rules(std::vector<RuleAutomaton>& rules, CompileBudget& budget) {
  std::vector<bool> may_be_empty(rules.size(), false);
  std::vector<std::vector<std::uint32_t>> callers(rules.size());
  std::vector<std::uint32_t> queue;
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    for (const RuleAutomaton::Node& node : rules[rule].nodes) {
      for (const auto& [called, to] : node.calls) {
        if (callers[called].empty() || callers[called].back() != rule) callers[called].push_back(rule);
      }
    }
    queue.push_back(rule);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t rule = queue[i];
    if (may_be_empty[rule]) continue;
    const bool is_empty = has_end(Closure(rules[rule], may_be_empty, budget).of({RuleAutomaton::kStart}));
    if (is_empty) rules[rule].least = 0;
    if (!is_empty && rules[rule].least > 0) continue;
    may_be_empty[rule] = true;
    queue.insert(queue.end(), callers[rule].begin(), callers[rule].end());
    budget.spend(callers[rule].size());
  }
  // A body may have become empty after its repetition was found to be.
  for (RuleAutomaton& rule : rules) {
    if (rule.least > 0 && has_end(Closure(rule, may_be_empty, budget).of({RuleAutomaton::kStart}))) rule.least = 0;
  }
  return may_be_empty;
}

DeterministicRule determinize(const RuleAutomaton& rule, const std::vector<bool>& may_be_empty, CompileBudget& budget,
                              std::size_t& node_count) {
  return Determinizer(rule, may_be_empty, budget, node_count).make();
}

}  // namespace alate::generation
