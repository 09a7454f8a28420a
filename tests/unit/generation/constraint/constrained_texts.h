// Texts and grammars for tests of constrained output.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "alate/output_format.h"
#include "generation/constraint/automaton.h"
#include "generation/constraint/compile_format.h"
#include "generation/constraint/constraint.h"
#include "generation/constraint/grammar.h"
#include "generation/constraint/grammar_tables.h"
#include "tests/unit/base/expect_error.h"

namespace alate::generation {

using Kind = OutputFormat::Kind;

inline std::shared_ptr<const Grammar> compiled(Kind kind, std::string_view definition) {
  return compile_format({kind, std::string(definition)}, base::Cancellation::never());
}

/// How far a text follows a grammar.
enum class Fit { no, begins, whole };

inline Fit fit(const Grammar& grammar, std::string_view text) {
  Automaton automaton(grammar.tables());
  Automaton::StateId state = Automaton::kStart;
  for (const char byte : text) state = automaton.step(state, static_cast<std::uint8_t>(byte));
  if (state == Automaton::kDead) return Fit::no;
  return automaton.state(state).is_complete ? Fit::whole : Fit::begins;
}

inline bool fits(const Grammar& grammar, std::string_view text) { return fit(grammar, text) == Fit::whole; }

/// All bytes as tokens, in order, and then these.
inline std::shared_ptr<const Vocabulary> vocabulary_with(const std::vector<std::string>& further) {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  texts.insert(texts.end(), further.begin(), further.end());
  return std::make_shared<const Vocabulary>(texts);
}

inline bool has_token(const TokenMask& mask, std::size_t token) { return (mask[token / 32] >> token % 32 & 1) != 0; }

/// The call throws invalid_argument with a message that the regular expression finds.
template <typename Call>
void expect_refused(const Call& call, const std::string& message) {
  const Error error = base::error_of(call);
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.message();
  EXPECT_TRUE(std::regex_search(error.message(), std::regex(message))) << error.message();
}

}  // namespace alate::generation
