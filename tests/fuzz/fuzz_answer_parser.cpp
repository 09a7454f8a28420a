// An answer in the format of one of the families: the first byte chooses it, the second the pieces in which the answer
// comes. However it is cut, it consists of the same; calls are numbered, named and begin before their arguments; and
// what is given out is in proportion to the answer.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alate/tokenizer.h"
#include "formats/json.h"
#include "pipelines/generate/answer_parser.h"
#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/call_sink.h"

namespace {

using alate::pipelines::AnswerPiece;
using Pieces = std::vector<AnswerPiece>;

void check(bool holds) {
  if (!holds) std::abort();
}

constexpr std::string_view kTokenizer =
    R"({"added_tokens":[{"id":1,"content":"<|python_tag|>","special":true,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false},
                        {"id":2,"content":"[TOOL_CALLS]","special":true,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false},
                        {"id":3,"content":"[THINK]","special":true,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false}],
        "model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}})";
constexpr std::string_view kTools =
    R"([{"type":"function","function":{"name":"f","parameters":{"properties":{"s":{"type":"string"},"n":{"type":"integer"}}}}}])";

// Without tools, with those of each format; every second one after a prompt that has begun to reason.
std::vector<std::shared_ptr<const alate::pipelines::AnswerSyntax>> syntaxes() {
  const alate::Tokenizer tokenizer = alate::Tokenizer::from_json(kTokenizer, "tokenizer");
  const alate::formats::Json tools = alate::formats::parse_json(kTools, "tools");
  std::vector<std::shared_ptr<const alate::pipelines::AnswerSyntax>> all{nullptr};
  for (const std::string_view prompt : {"", "<think>"}) {
    all.push_back(std::make_shared<const alate::pipelines::AnswerSyntax>(tokenizer, prompt));
    for (const auto& format : alate::pipelines::call_formats())
      all.push_back(std::make_shared<const alate::pipelines::AnswerSyntax>(tokenizer, prompt, &format, tools));
  }
  return all;
}

void add_joined(Pieces& joined, const Pieces& pieces) {
  for (const AnswerPiece& piece : pieces) {
    check(piece.text.size() > 0);
    if (!joined.empty() && joined.back().kind == piece.kind && joined.back().call == piece.call &&
        piece.kind != AnswerPiece::Kind::tool_call) {
      joined.back().text += piece.text;
    } else {
      joined.push_back(piece);
    }
  }
}

Pieces read(const std::shared_ptr<const alate::pipelines::AnswerSyntax>& syntax, std::string_view answer,
            std::size_t step) {
  alate::pipelines::AnswerParser parser(syntax);
  Pieces joined;
  for (std::size_t at = 0; at < answer.size(); at += step) {
    Pieces pieces;
    parser.add(answer.substr(at, step), pieces);
    add_joined(joined, pieces);
  }
  Pieces rest;
  parser.finish(rest);
  add_joined(joined, rest);
  std::size_t calls = 0, bytes = 0;
  for (const AnswerPiece& piece : joined) {
    bytes += piece.text.size();
    if (piece.kind == AnswerPiece::Kind::tool_call) {
      check(piece.call == calls && alate::pipelines::is_tool_name(piece.text));
      ++calls;
    } else if (piece.kind == AnswerPiece::Kind::tool_arguments) {
      check(piece.call + 1 == calls);
    }
  }
  check(calls == parser.calls());
  check(bytes <= 8 * answer.size() + 64);  // a byte may become an escape
  return joined;
}

bool are_equal(const Pieces& one, const Pieces& other) {
  if (one.size() != other.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i].kind != other[i].kind || one[i].call != other[i].call || one[i].text != other[i].text) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto all = syntaxes();
  if (size < 2) return 0;
  const auto& syntax = all[data[0] % all.size()];
  const std::string_view answer(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Pieces whole = read(syntax, answer, answer.size() + 1);
  check(are_equal(read(syntax, answer, 1), whole));
  check(are_equal(read(syntax, answer, 1 + data[1] % 16), whole));
  return 0;
}
