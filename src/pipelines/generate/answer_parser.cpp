#include "pipelines/generate/answer_parser.h"

#include <utility>

namespace alate::pipelines {

struct AnswerParser::State {
  std::shared_ptr<const AnswerSyntax> syntax;
};

AnswerParser::AnswerParser(std::shared_ptr<const AnswerSyntax> syntax)
    : state_(std::make_unique<State>(State{std::move(syntax)})) {}
AnswerParser::~AnswerParser() = default;
AnswerParser::AnswerParser(AnswerParser&&) noexcept = default;
AnswerParser& AnswerParser::operator=(AnswerParser&&) noexcept = default;

void AnswerParser::add(std::string_view text, std::vector<AnswerPiece>& pieces) {
  if (!text.empty()) pieces.push_back({.text = std::string(text)});
}
void AnswerParser::finish(std::vector<AnswerPiece>& /*pieces*/) {}
std::size_t AnswerParser::calls() const { return 0; }

}  // namespace alate::pipelines
