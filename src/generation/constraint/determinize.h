// The rules of a grammar as deterministic automata.
#pragma once

#include <cstdint>
#include <vector>

#include "generation/constraint/compile_budget.h"
#include "generation/constraint/grammar_tables.h"
#include "generation/constraint/rule_automaton.h"

namespace alate::generation {

/// A rule in which each byte, call and token leads to one node. The start, node 0, is not final: the empty text is left
/// out, and where a call may be empty there is a way around it.
struct DeterministicRule {
  struct Node {
    std::vector<GrammarTables::ByteEdge> bytes;
    std::vector<GrammarTables::CallEdge> calls;
    std::vector<GrammarTables::TokenEdge> tokens;
    bool is_final = false;
  };
  std::vector<Node> nodes;
  std::uint32_t least = 1, most = 1;
};

/// Which rules have the empty text. A repetition of one that has it needs no least number any more.
std::vector<bool> find_empty_rules(std::vector<RuleAutomaton>& rules, CompileBudget& budget);

/// By subsets (Rabin, Scott 1959). `node_count` counts the nodes of all rules.
DeterministicRule determinize(const RuleAutomaton& rule, const std::vector<bool>& may_be_empty, CompileBudget& budget,
                              std::size_t& node_count);

}  // namespace alate::generation
