// Any bytes are a schema, expression or grammar that is compiled or refused. Of a compiled one, masks have exactly the
// tokens after which the automaton goes on, and a text that chooses among them is never stuck.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "generation/constraint/compile_format.h"
#include "generation/constraint/constraint.h"
#include "generation/constraint/grammar_tables.h"

using namespace alate;
using namespace alate::generation;

namespace {

std::shared_ptr<const Vocabulary> tokens() {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  for (const char* text :
       {"\": ", "{\"", "\",\"", "aa", "ab", "abc", "\n  ", "é", "\xC3\xA9\"", "00", "]}", "}}", "\\u", " a"})
    texts.emplace_back(text);
  return std::make_shared<const Vocabulary>(texts);
}

bool has(const TokenMask& mask, std::size_t token) { return (mask[token / 32] >> token % 32 & 1) != 0; }

void check_mask(const Grammar& grammar, const Vocabulary& vocabulary, std::string_view text) {
  Automaton automaton(grammar.tables());
  TokenMasks masks(grammar.tables(), vocabulary);
  Automaton::StateId state = Automaton::kStart, other = Automaton::kStart;
  for (const char byte : text) {
    state = automaton.step(state, static_cast<std::uint8_t>(byte));
    other = masks.after_token(other, static_cast<std::uint8_t>(byte), false);
    if ((state == Automaton::kDead) != (other == Automaton::kDead)) std::abort();
    if (state == Automaton::kDead) return;
  }
  const auto mask = masks.mask(other);
  for (std::size_t token = 0; token < vocabulary.size(); ++token) {
    Automaton::StateId after = state;
    for (const char byte : vocabulary.text(static_cast<std::int32_t>(token)))
      after = automaton.step(after, static_cast<std::uint8_t>(byte));
    if (has(*mask, token) != (after != Automaton::kDead)) std::abort();
  }
}

void check(OutputFormat::Kind kind, std::string_view definition, std::string_view choices) {
  static const std::shared_ptr<const Vocabulary> kTokens = tokens();
  try {
    const auto grammar = compile_format({kind, std::string(definition)}, base::Cancellation::never());
    ConstrainedText text(std::make_shared<Constraint>(grammar, kTokens, std::size_t{1} << 18));
    std::string written;
    for (const char choice : choices) {
      if (text.is_over()) break;
      const auto mask = text.allowed();
      std::vector<std::int32_t> allowed;
      for (std::size_t token = 0; token < kTokens->size(); ++token) {
        if (has(*mask, token)) allowed.push_back(static_cast<std::int32_t>(token));
      }
      if (allowed.empty()) std::abort();
      const std::int32_t token = allowed[static_cast<unsigned char>(choice) % allowed.size()];
      text.accept(token);
      written += kTokens->text(token);
    }
    check_mask(*grammar, *kTokens, std::string_view(written).substr(0, written.size() / 2));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 2048) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view choices = text.substr(size - std::min<std::size_t>(size / 4, 48));
  check(OutputFormat::Kind::json_schema, text, choices);
  check(OutputFormat::Kind::regex, text, choices);
  check(OutputFormat::Kind::grammar, text, choices);
  return 0;
}
