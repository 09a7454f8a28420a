#include "alate/chat.h"

#include <utility>

#include "alate/error.h"
#include "base/threads/controlled_call.h"
#include "pipelines/generate/answer_parser.h"
#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/text_batch.h"

namespace alate {

struct Chat::State {
  State(TextGenerator of, ChatTemplate with) : generator(std::move(of)), chat_template(std::move(with)) {}

  std::size_t first() const { return !messages.empty() && messages.front().role == "system" ? 1 : 0; }
  // The text of the conversation so far, for the model to go on with.
  std::string rendered() const {
    const std::string_view variables = !thinks   ? ""
                                       : *thinks ? R"({"enable_thinking":true})"
                                                 : R"({"enable_thinking":false})";
    return chat_template.render(messages, {.variables = variables, .add_generation_prompt = true}).text;
  }

  TextGenerator generator;
  ChatTemplate chat_template;
  std::vector<ChatMessage> messages;
  std::optional<bool> thinks;
};

Chat::Chat(TextGenerator generator, ChatTemplate chat_template)
    : state_(std::make_unique<State>(std::move(generator), std::move(chat_template))) {}
Chat::Chat(const TextGenerator& generator) : Chat(generator, ChatTemplate::load(generator.state().template_source)) {}
Chat::~Chat() = default;
Chat::Chat(Chat&&) noexcept = default;
Chat& Chat::operator=(Chat&&) noexcept = default;

void Chat::set_system(std::string content) {
  state_->messages.clear();
  if (!content.empty()) state_->messages.push_back({"system", std::move(content)});
}

void Chat::clear() { state_->messages.resize(state_->first()); }

bool Chat::drop_oldest() {
  std::vector<ChatMessage>& messages = state_->messages;
  const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(state_->first());
  if (messages.end() - begin <= 2) return false;
  messages.erase(begin, begin + 2);
  return true;
}

bool Chat::drop_latest() {
  std::vector<ChatMessage>& messages = state_->messages;
  if (messages.size() < state_->first() + 2) return false;
  messages.resize(messages.size() - 2);
  return true;
}

void Chat::set_thinking(std::optional<bool> thinks) { state_->thinks = thinks; }

std::size_t Chat::prompt_tokens(std::string_view content) const {
  state_->messages.push_back({"user", std::string(content)});
  std::string prompt;
  try {
    prompt = state_->rendered();
  } catch (...) {
    state_->messages.pop_back();
    throw;
  }
  state_->messages.pop_back();
  return pipelines::prompt_tokens(state_->generator.state(), prompt, false, base::Cancellation::never()).size();
}

ChatAnswer Chat::ask(std::string_view content, const GenerationOptions& options, const ChatSinks& sinks,
                     const RunControl& control) {
  State& state = *state_;
  const TextGenerator::State& model = state.generator.state();
  const std::size_t before = state.messages.size();
  std::string answer, reasoning;
  const auto show = [&](std::vector<pipelines::AnswerPiece>& pieces) {
    for (const pipelines::AnswerPiece& piece : pieces) {
      const bool is_reasoning = piece.kind == pipelines::AnswerPiece::Kind::reasoning;
      (is_reasoning ? reasoning : answer) += piece.text;
      const auto& sink = is_reasoning ? sinks.reasoning : sinks.text;
      if (sink) sink(piece.text);
    }
    pieces.clear();
  };
  try {
    return base::run_controlled(control, [&](const base::ControlledCall& call) {
      state.messages.push_back({"user", std::string(content)});
      const std::string prompt = state.rendered();
      const auto syntax = std::make_shared<const pipelines::AnswerSyntax>(model.model.tokenizer, prompt);
      pipelines::AnswerParser parser(syntax);
      std::vector<pipelines::AnswerPiece> pieces;
      // The template writes the special tokens.
      const std::shared_ptr<pipelines::GrowingText> texts[] = {std::make_shared<pipelines::GrowingText>(
          model, pipelines::prompt_tokens(model, prompt, false, call.cancellation()), options, std::uint64_t{0})};
      texts[0]->show_special_tokens(syntax->shown_ids());
      pipelines::TextListener listener;
      listener.shown = [&](std::size_t, std::string_view piece) {
        parser.add(piece, pieces);
        show(pieces);
      };
      ChatAnswer made{std::move(pipelines::grow_texts(model, texts, listener, call).front()), {}};
      parser.finish(pieces);
      show(pieces);
      made.text = answer;
      made.reasoning = std::move(reasoning);
      state.messages.push_back({"assistant", made.text});
      return made;
    });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled && !answer.empty()) {
      state.messages.push_back({"assistant", answer});
    } else {
      state.messages.resize(before);
    }
    throw;
  } catch (...) {
    state.messages.resize(before);
    throw;
  }
}

std::span<const ChatMessage> Chat::messages() const { return state_->messages; }
const TextGenerator& Chat::generator() const { return state_->generator; }

}  // namespace alate
