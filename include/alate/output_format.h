// What a generated text must look like.
#pragma once

#include <cstdint>
#include <string>

namespace alate {

/// A text that fits is all that can be generated: in each step, tokens after which no such text is left are forbidden,
/// and the model's own end tokens until the text is complete. A text that ends for another reason (its length, a stop
/// text) may be incomplete.
struct OutputFormat {
  enum class Kind : std::uint8_t {
    text,         // anything
    json,         // a JSON object
    json_schema,  // JSON that a schema describes; docs/constrained-output.md lists what schemas may say
    regex,        // the whole text matches a regular expression
    grammar,      // a grammar in GBNF, the notation of llama.cpp, of which `root` is the text
  };
  Kind kind = Kind::text;
  std::string definition = {};  // the schema, expression or grammar

  friend bool operator==(const OutputFormat&, const OutputFormat&) = default;
};

}  // namespace alate
