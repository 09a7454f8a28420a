// The time of masks of constrained output, with a real vocabulary: bench_token_masks TOKENIZER, a folder or file.
// For each format a text is written that fits it, as its tokenizer divides it: the first time, when masks are computed,
// and again, when they are known. Times are of a token: its mask, and going on with it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/tokenizer.h"
#include "generation/constraint/compile_format.h"
#include "generation/constraint/constraint.h"

using namespace alate;
using namespace alate::generation;

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

struct Case {
  Case(const char* called, OutputFormat::Kind kind, const char* definition, std::string written)
      : name(called), format{kind, definition}, text(std::move(written)) {}

  const char* name;
  OutputFormat format;
  std::string text;
};

// A list of objects as models write them.
std::string people(std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    text += std::string(i == 0 ? "" : ", ") + R"({"name": "Ada Lovelace )" + std::to_string(i) +
            R"(", "email": "ada.)" + std::to_string(i * 37) + R"(@example.org", "born": "1815-12-10", "height": 1.6)" +
            std::to_string(i % 10) +
            R"(, "tags": ["mathematics", "poetical science", "né"], "friend": {"name": "Charles",)" +
            R"( "friend": null}})";
  }
  return text + "]";
}

constexpr const char* kSchema = R"({"type": "array", "items": {"$ref": "#/$defs/person"}, "$defs": {"person": {
  "type": "object", "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 200},
  "email": {"type": "string", "format": "email"}, "born": {"type": "string", "format": "date"},
  "height": {"type": "number", "minimum": 0.4, "maximum": 2.8},
  "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 20},
  "friend": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "null"}]}}, "required": ["name"]}}})";

constexpr const char* kGrammar = R"gbnf(root ::= sum "\n"
sum ::= product (" "? [-+] " "? product)*
product ::= term (" "? [*/] " "? term)*
term ::= [0-9]+ | "(" sum ")" | [a-z]+)gbnf";

std::vector<Case> cases() {
  std::vector<Case> all;
  all.emplace_back("a JSON object", OutputFormat::Kind::json, "", "{\"people\": " + people(8) + "}");
  all.emplace_back("a JSON schema", OutputFormat::Kind::json_schema, kSchema, people(8));
  all.emplace_back("a regular expression", OutputFormat::Kind::regex,
                   "([A-Z][a-z]+ )*[A-Z][a-z]+: [0-9]{1,3}(\\.[0-9]+)?\\n(- [^\\n]{1,200}\\n)*",
                   "Ada Lovelace: 42.5\n- She wrote the first program, for a machine that was never built.\n");
  all.emplace_back("a grammar", OutputFormat::Kind::grammar, kGrammar,
                   "(12 + 7) * (x - 3 * (4 + width / 2)) - 100 * (5 + (6 + (7 + 8)))\n");
  return all;
}

struct Times {
  std::vector<double> tokens;  // in microseconds

  void print(const char* name) {
    std::ranges::sort(tokens);
    double sum = 0;
    for (const double time : tokens) sum += time;
    std::printf("    %-8s mean %8.2f us  median %8.2f us  p99 %8.2f us  max %8.2f us  (%zu tokens)\n", name,
                sum / static_cast<double>(tokens.size()), tokens[tokens.size() / 2], tokens[tokens.size() * 99 / 100],
                tokens.back(), tokens.size());
  }
};

Times write(const std::shared_ptr<Constraint>& constraint, const std::vector<std::int32_t>& ids) {
  Times times;
  ConstrainedText text(constraint);
  for (const std::int32_t id : ids) {
    const auto begin = Clock::now();
    const auto mask = text.allowed();
    text.accept(id);
    times.tokens.push_back(Microseconds(Clock::now() - begin).count());
  }
  if (!text.is_complete()) std::printf("    the text is not complete\n");
  return times;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: bench_token_masks TOKENIZER\n");
    return 2;
  }
  try {
    const Tokenizer tokenizer = Tokenizer::load(arguments[1]);
    auto begin = Clock::now();
    const std::vector<std::string> texts = token_texts(tokenizer, tokenizer.vocabulary_size(), {});
    const auto vocabulary = std::make_shared<const Vocabulary>(texts, drops_first_space(tokenizer, texts));
    std::printf("%zu tokens, %zu nodes of their tree, made in %.1f ms\n", vocabulary->size(),
                vocabulary->nodes().size(), Microseconds(Clock::now() - begin).count() / 1000);
    for (const Case& one : cases()) {
      begin = Clock::now();
      const auto grammar = compile_format(one.format, base::Cancellation::never());
      const double compiled = Microseconds(Clock::now() - begin).count() / 1000;
      begin = Clock::now();
      const auto constraint = std::make_shared<Constraint>(grammar, vocabulary);
      std::printf("%s: compiled in %.2f ms, prepared in %.2f ms\n", one.name, compiled,
                  Microseconds(Clock::now() - begin).count() / 1000);
      const std::vector<std::int32_t> ids =
          tokenizer.encode(one.text, {.add_special_tokens = false, .with_offsets = false, .with_tokens = false}).ids;
      write(constraint, ids).print("first");
      write(constraint, ids).print("again");
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
