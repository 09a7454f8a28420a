#include "generation/constraint/compile_grammar.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "generation/constraint/determinize.h"
#include "generation/constraint/rule_automaton.h"

namespace alate::generation {
namespace {

using Rules = std::vector<DeterministicRule>;

// Which nodes of each rule a text can be completed from.
using Productive = std::vector<std::vector<bool>>;

bool is_productive(const DeterministicRule::Node& node, const std::vector<bool>& own, const Productive& productive) {
  if (node.is_final) return true;
  for (const auto& edge : node.bytes) {
    if (own[edge.to]) return true;
  }
  for (const auto& edge : node.tokens) {
    if (own[edge.to]) return true;
  }
  for (const auto& edge : node.calls) {
    if (own[edge.to] && productive[edge.rule].front()) return true;
  }
  return false;
}

Productive find_productive(const Rules& rules, CompileBudget& budget) {
  Productive productive;
  for (const DeterministicRule& rule : rules) productive.emplace_back(rule.nodes.size(), false);
  // Nodes are numbered from the start on and rules from the root, so that going backwards takes few rounds.
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t rule = rules.size(); rule-- > 0;) {
      for (std::size_t node = rules[rule].nodes.size(); node-- > 0;) {
        if (productive[rule][node]) continue;
        const DeterministicRule::Node& of = rules[rule].nodes[node];
        budget.spend(1 + of.bytes.size() + of.calls.size());
        if (!is_productive(of, productive[rule], productive)) continue;
        productive[rule][node] = has_changed = true;
      }
    }
  }
  return productive;
}

// Writes what is reached of the productive nodes.
class TableWriter {
 public:
  TableWriter(const Rules& rules, const Productive& productive) : rules_(rules), productive_(productive) {
    rule_numbers_.assign(rules.size(), kNone);
  }

  std::unique_ptr<GrammarTables> write() {
    number_of(0);
    for (std::size_t i = 0; i < order_.size(); ++i) write_rule(order_[i], static_cast<std::uint32_t>(i));
    return std::move(tables_);
  }
  // The rule of the builder that a rule of the tables was.
  const std::vector<std::uint32_t>& order() const { return order_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::uint32_t number_of(std::uint32_t rule) {
    if (rule_numbers_[rule] == kNone) {
      rule_numbers_[rule] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(rule);
    }
    return rule_numbers_[rule];
  }

  void write_rule(std::uint32_t rule, std::uint32_t number) {
    const DeterministicRule& from = rules_[rule];
    const std::vector<bool>& productive = productive_[rule];
    const auto first = static_cast<std::uint32_t>(tables_->nodes.size());
    std::vector<std::uint32_t> numbers(from.nodes.size(), kNone), reached = {0};
    numbers[0] = first;
    const auto number_of_node = [&](std::uint32_t node) {
      if (numbers[node] == kNone) {
        numbers[node] = first + static_cast<std::uint32_t>(reached.size());
        reached.push_back(node);
      }
      return numbers[node];
    };
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const DeterministicRule::Node& node = from.nodes[reached[i]];
      for (const auto& edge : node.bytes) {
        if (productive[edge.to]) tables_->bytes.push_back({edge.first, edge.last, number_of_node(edge.to)});
      }
      for (const auto& edge : node.calls) {
        if (productive[edge.to] && productive_[edge.rule].front())
          tables_->calls.push_back({number_of(edge.rule), number_of_node(edge.to)});
      }
      for (const auto& edge : node.tokens) {
        if (productive[edge.to]) tables_->tokens.push_back({edge.token, number_of_node(edge.to)});
      }
      tables_->nodes.push_back({.bytes_end = static_cast<std::uint32_t>(tables_->bytes.size()),
                                .calls_end = static_cast<std::uint32_t>(tables_->calls.size()),
                                .tokens_end = static_cast<std::uint32_t>(tables_->tokens.size()),
                                .rule = number,
                                .is_final = node.is_final});
    }
    tables_->rules.push_back({.start = first, .least = from.least, .most = from.most, .rank = 0});
  }

  const Rules& rules_;
  const Productive& productive_;
  std::unique_ptr<GrammarTables> tables_ = std::make_unique<GrammarTables>();
  std::vector<std::uint32_t> rule_numbers_, order_;
};

// Ranks rules by what they may begin with. A rule that is met again while what it begins with is looked at is its own
// beginning; its number, or the number of rules if there is none.
std::uint32_t rank_rules(GrammarTables& tables) {
  enum class Visit : std::uint8_t { none, open, done };
  const auto count = static_cast<std::uint32_t>(tables.rules.size());
  std::vector<Visit> visits(count, Visit::none);
  std::uint32_t rank = count;
  std::vector<std::pair<std::uint32_t, std::size_t>> stack;  // rule, and how many of its calls were followed
  for (std::uint32_t root = 0; root < count; ++root) {
    if (visits[root] != Visit::none) continue;
    stack.emplace_back(root, 0);
    visits[root] = Visit::open;
    while (!stack.empty()) {
      auto& [rule, followed] = stack.back();
      const auto calls = tables.calls_of(tables.rules[rule].start);
      if (followed == calls.size()) {
        visits[rule] = Visit::done;
        tables.rules[rule].rank = --rank;
        stack.pop_back();
        continue;
      }
      const std::uint32_t next = calls[followed++].rule;
      if (visits[next] == Visit::open) return next;
      if (visits[next] == Visit::done) continue;
      visits[next] = Visit::open;
      stack.emplace_back(next, 0);
    }
  }
  return count;
}

}  // namespace

std::unique_ptr<const GrammarTables> compile_grammar(GrammarBuilder::Parts& parts, Expression root) {
  CompileBudget& budget = parts.budget;
  std::vector<RuleAutomaton> automata = RuleAutomata(parts, root).rules;
  const std::vector<bool> may_be_empty = find_empty_rules(automata, budget);
  Rules rules;
  std::size_t nodes = 0;
  for (const RuleAutomaton& rule : automata) rules.push_back(determinize(rule, may_be_empty, budget, nodes));
  const Productive productive = find_productive(rules, budget);
  if (!productive.front().front() && !may_be_empty.front())
    throw make_error(ErrorCode::invalid_argument, budget.what(), " describes no text at all: nothing can fit it");
  TableWriter writer(rules, productive);
  std::unique_ptr<GrammarTables> tables = writer.write();
  tables->may_be_empty = may_be_empty.front();
  if (const std::uint32_t recursive = rank_rules(*tables); recursive < tables->rules.size())
    throw make_error(ErrorCode::invalid_argument, budget.what(), ": the rule ",
                     formats::quoted_name(automata[writer.order()[recursive]].name),
                     " may begin with itself (left recursion): write it so that something comes before, or as a "
                     "repetition");
  return tables;
}

}  // namespace alate::generation
