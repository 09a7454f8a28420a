// Grammars of texts: put together from expressions, and compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/cancellation.h"
#include "formats/json.h"

namespace alate::generation {

struct GrammarTables;

/// A compiled grammar. Immutable and thread-safe; two grammars of the same rules are equal, so that what was computed
/// for one serves the other.
class Grammar {
 public:
  explicit Grammar(std::unique_ptr<const GrammarTables> tables);
  ~Grammar();
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  const GrammarTables& tables() const { return *tables_; }

 private:
  std::unique_ptr<const GrammarTables> tables_;
};

/// A part of a GrammarBuilder, which stands for a set of texts. Cheap to copy; it may occur in several others.
struct Expression {
  std::uint32_t number = 0;
};

/// What a free text turns into something else at.
struct Trigger {
  Expression begin;  // text() or token()
  Expression then;   // follows it
};

/// Puts expressions together. Functions that read a definition throw invalid_argument, with `what` as its name, for
/// what they do not understand and for what is too large. Not thread-safe.
class GrammarBuilder {
 public:
  static constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

  explicit GrammarBuilder(base::Cancellation cancellation = base::Cancellation::never());
  ~GrammarBuilder();
  GrammarBuilder(const GrammarBuilder&) = delete;
  GrammarBuilder& operator=(const GrammarBuilder&) = delete;

  /// This text, valid UTF-8; it may be empty.
  Expression text(std::string_view literal);
  /// The token with this id, whatever its text: for special tokens, which no other expression allows.
  Expression token(std::int32_t id);
  /// All of them in order.
  Expression sequence(std::span<const Expression> parts);
  Expression sequence(std::initializer_list<Expression> parts) {
    return sequence(std::span(parts.begin(), parts.size()));
  }
  /// One of them; at least one is given.
  Expression choice(std::span<const Expression> parts);
  Expression choice(std::initializer_list<Expression> parts) { return choice(std::span(parts.begin(), parts.size())); }
  Expression optional(Expression part) { return repeat(part, 0, 1); }
  /// From `least` to `most` of them, one after the other.
  Expression repeat(Expression part, std::uint32_t least, std::uint32_t most = kUnlimited);

  /// A JSON text that the schema describes. The schema is its own document: references begin at its root.
  Expression json_schema(const formats::Json& schema, std::string_view what);
  /// Any JSON object, any JSON value; nested as deep as kMostJsonLevels.
  Expression json_object();
  Expression json_value();
  /// A text of which the expression matches all.
  Expression regex(std::string_view pattern, std::string_view what);
  /// A text of the rule `root` of a grammar in GBNF.
  Expression gbnf(std::string_view grammar, std::string_view what);

  /// Any text, also an empty one, in which none of the texts occurs. Special tokens are not in it.
  Expression free_text(std::span<const std::string> without = {});
  /// Free text up to the first trigger, if there is one, and then what follows that trigger: the text before is not
  /// held to anything. With `is_required` a trigger must come; with `repeats` free text and further triggers may
  /// follow.
  Expression triggered(std::span<const Trigger> triggers, bool is_required, bool repeats = false);

  /// The grammar of texts that are `root`. Throws invalid_argument, with `what` as the grammar's name, if no text is,
  /// for left recursion, and if it is too large; cancelled. The builder is used up.
  std::shared_ptr<const Grammar> build(Expression root, std::string_view what);

  struct Parts;  // grammar_parts.h
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

inline constexpr std::size_t kMostJsonLevels = 24;

}  // namespace alate::generation
