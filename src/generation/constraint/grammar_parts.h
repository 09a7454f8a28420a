// What a GrammarBuilder has: expressions as they are put together, and rules that expressions refer to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generation/constraint/compile_budget.h"
#include "generation/constraint/grammar.h"
#include "tokenizers/regex/code_point_set.h"

namespace alate::generation {

/// A finite automaton over bytes, of which the nodes are numbers and 0 is the start.
struct ByteMachine {
  struct Edge {
    std::uint8_t first, last;
    std::uint32_t to;
  };
  std::vector<std::vector<Edge>> edges;  // by node
  std::vector<bool> is_final;
};

/// Expressions on the edges between nodes, which are numbers: from node 0 to node 1.
struct ExpressionGraph {
  struct Edge {
    std::optional<Expression> takes;  // none: nothing
    std::uint32_t to;
  };
  std::vector<std::vector<Edge>> edges{2};  // by node

  std::uint32_t add_node() {
    edges.emplace_back();
    return static_cast<std::uint32_t>(edges.size() - 1);
  }
  void connect(std::uint32_t from, std::uint32_t to, std::optional<Expression> takes = {}) {
    edges[from].push_back({takes, to});
  }
};

struct ExpressionNode {
  enum class Kind : std::uint8_t {
    text,      // `literal`
    set,       // one code point of sets[index], in UTF-8
    sequence,  // of `parts`
    choice,    // of `parts`
    repeat,    // parts[0], `least` to `most` times
    rule,      // rules[index]
    token,     // the token with the id `index`
    machine,   // what machines[index] accepts
    graph,     // a way through graphs[index]
  };
  Kind kind = Kind::text;
  std::uint32_t index = 0, least = 0, most = 0;
  std::string literal = {};
  std::vector<Expression> parts = {};
};

/// An expression with a name, which may refer to itself.
struct GrammarRule {
  std::string name;  // for errors
  std::optional<Expression> body = {};
};

struct GrammarBuilder::Parts {
  static constexpr std::size_t kMostExpressions = 400'000;
  static constexpr std::size_t kMostRules = 50'000;

  explicit Parts(base::Cancellation cancellation) : budget(cancellation) {}

  Expression add(ExpressionNode node);
  Expression add_set(const tokenizers::CodePointSet& set);
  Expression add_machine(ByteMachine machine);
  Expression add_graph(ExpressionGraph graph);
  /// No text at all.
  Expression nothing() { return add_set({}); }
  /// A rule that is defined later, and by then may be used.
  Expression declare(std::string name);
  void define(Expression rule, Expression body) { rules[nodes[rule.number].index].body = body; }
  /// The expression as a rule: however often it is used, it is compiled once.
  Expression shared(Expression body, std::string name);

  CompileBudget budget;
  std::vector<ExpressionNode> nodes;
  std::vector<tokenizers::CodePointSet> sets;
  std::vector<ByteMachine> machines;
  std::vector<ExpressionGraph> graphs;
  std::vector<GrammarRule> rules;
  std::map<std::string, Expression, std::less<>> known;  // parts of JSON texts that several expressions use, by name
};

}  // namespace alate::generation
