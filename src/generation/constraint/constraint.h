// A grammar over the tokens of a model, and texts that are held to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/threads/mutex.h"
#include "generation/constraint/grammar.h"
#include "generation/constraint/token_masks.h"
#include "generation/constraint/vocabulary.h"

namespace alate::generation {

/// What all texts of a grammar and a vocabulary have computed; bounded, with everything forgotten when it is full.
/// Thread-safe.
class Constraint {
 public:
  static constexpr std::size_t kUsualBytes = std::size_t{16} << 20;

  Constraint(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const Vocabulary> vocabulary,
             std::size_t most_bytes = kUsualBytes);

  const Grammar& grammar() const { return *grammar_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  friend class ConstrainedText;

  struct Cache {
    Cache(const GrammarTables& tables, const Vocabulary& vocabulary) : masks(tables, vocabulary) {}
    base::Mutex mutex;
    TokenMasks masks;  // under it
  };

  std::shared_ptr<Cache> current();
  std::shared_ptr<Cache> other_than(const std::shared_ptr<Cache>& full);

  std::shared_ptr<const Grammar> grammar_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::size_t most_bytes_;
  base::Mutex mutex_;
  std::shared_ptr<Cache> cache_;  // under it
};

/// A text that is held to a grammar. A copy goes on as the original would. Not thread-safe.
class ConstrainedText {
 public:
  explicit ConstrainedText(std::shared_ptr<Constraint> constraint);

  /// The tokens of the vocabulary that may follow, but for those that end a text. Throws invalid_argument for a grammar
  /// that is too ambiguous to be followed.
  std::shared_ptr<const TokenMask> allowed();
  /// Whether the text may end.
  bool is_complete() const { return is_complete_; }
  /// Whether it can only end.
  bool is_over() const { return is_over_; }
  /// Adds a token. Throws invalid_argument for one that is not allowed.
  void accept(std::int32_t token);

 private:
  void renew();
  void look_at_state();

  std::shared_ptr<Constraint> constraint_;
  std::shared_ptr<Constraint::Cache> cache_;
  Automaton::StateId state_ = Automaton::kStart;
  bool is_first_ = true, is_complete_ = false, is_over_ = false;
};

}  // namespace alate::generation
