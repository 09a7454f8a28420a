// Answers of models, as they come in pieces.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "pipelines/generate/answer_parser.h"
#include "pipelines/generate/answer_syntax.h"
#include "tests/unit/tokenizers/small_tokenizer.h"

namespace alate::tests {

/// A tokenizer that has these special tokens.
inline Tokenizer tokenizer_with(const std::vector<std::string>& special_tokens) {
  SmallTokenizer parts;
  formats::Json::Array added;
  std::int64_t id = 11;
  for (const std::string& token : special_tokens)
    added.push_back(formats::Json::Object{{"id", id++},
                                          {"content", token},
                                          {"special", true},
                                          {"single_word", false},
                                          {"lstrip", false},
                                          {"rstrip", false},
                                          {"normalized", false}});
  parts.added_tokens = formats::to_json_text(added);
  return parts.load();
}

/// get_weather with a city, days, and a note of any type; now without parameters.
inline formats::Json weather_tools() {
  return formats::parse_json(
      R"([{"type": "function", "function": {"name": "get_weather", "description": "", "parameters": {"type": "object",
           "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "note": {}}, "required": ["city"]}}},
          {"type": "function", "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}}}])",
      "tools");
}

inline const pipelines::CallFormat& format_named(std::string_view name) {
  const auto formats = pipelines::call_formats();
  return *std::ranges::find(formats, name, &pipelines::CallFormat::name);
}

/// The syntax of a model that calls the tools above in this format; empty: it may call none.
inline std::shared_ptr<const pipelines::AnswerSyntax> syntax_of(std::string_view format, std::string_view prompt = "",
                                                                const std::vector<std::string>& special_tokens = {}) {
  return std::make_shared<const pipelines::AnswerSyntax>(tokenizer_with(special_tokens), prompt,
                                                         format.empty() ? nullptr : &format_named(format),
                                                         format.empty() ? formats::Json() : weather_tools());
}

/// "kind:text" of each piece, neighbours joined.
inline std::vector<std::string> joined(const std::vector<pipelines::AnswerPiece>& pieces) {
  using Kind = pipelines::AnswerPiece::Kind;
  std::vector<std::string> parts;
  const pipelines::AnswerPiece* last = nullptr;
  for (const pipelines::AnswerPiece& piece : pieces) {
    if (last != nullptr && last->kind == piece.kind && last->call == piece.call && piece.kind != Kind::tool_call) {
      parts.back() += piece.text;
    } else {
      const std::string_view kind = piece.kind == Kind::text        ? "text"
                                    : piece.kind == Kind::reasoning ? "reasoning"
                                    : piece.kind == Kind::tool_call ? "call"
                                                                    : "arguments";
      parts.push_back(std::string(kind) + ":" + piece.text);
    }
    last = &piece;
  }
  return parts;
}

inline std::vector<std::string> read_cut(const std::shared_ptr<const pipelines::AnswerSyntax>& syntax,
                                         std::string_view answer, std::size_t cut) {
  pipelines::AnswerParser parser(syntax);
  std::vector<pipelines::AnswerPiece> pieces;
  parser.add(answer.substr(0, cut), pieces);
  parser.add(answer.substr(cut), pieces);
  parser.finish(pieces);
  const auto calls = std::ranges::count(pieces, pipelines::AnswerPiece::Kind::tool_call, &pipelines::AnswerPiece::kind);
  EXPECT_EQ(parser.calls(), static_cast<std::size_t>(calls));
  return joined(pieces);
}

/// What the answer consists of, which is the same wherever it is cut, and byte by byte.
inline std::vector<std::string> read_answer(const std::shared_ptr<const pipelines::AnswerSyntax>& syntax,
                                            std::string_view answer) {
  const std::vector<std::string> whole = read_cut(syntax, answer, answer.size());
  for (std::size_t cut = 0; cut < answer.size(); ++cut) EXPECT_EQ(read_cut(syntax, answer, cut), whole) << cut;
  pipelines::AnswerParser parser(syntax);
  std::vector<pipelines::AnswerPiece> pieces;
  for (const char byte : answer) parser.add({&byte, 1}, pieces);
  parser.finish(pieces);
  EXPECT_EQ(joined(pieces), whole);
  return whole;
}

}  // namespace alate::tests
