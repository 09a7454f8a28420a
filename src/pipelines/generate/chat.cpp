#include "alate/chat.h"

#include <utility>

#include "alate/error.h"
#include "base/threads/controlled_call.h"
#include "pipelines/generate/text_batch.h"

namespace alate {

struct Chat::State {
  State(TextGenerator of, ChatTemplate with) : generator(std::move(of)), chat_template(std::move(with)) {}

  std::size_t first() const { return !messages.empty() && messages.front().role == "system" ? 1 : 0; }

  TextGenerator generator;
  ChatTemplate chat_template;
  std::vector<ChatMessage> messages;
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

Generation Chat::ask(std::string_view content, const GenerationOptions& options,
                     const std::function<void(std::string_view)>& shown, const RunControl& control) {
  State& state = *state_;
  const TextGenerator::State& model = state.generator.state();
  const std::size_t before = state.messages.size();
  std::string answer;
  const auto show = [&](std::string_view piece) {
    answer += piece;
    if (shown) shown(piece);
  };
  try {
    return base::run_controlled(control, [&](const base::ControlledCall& call) {
      state.messages.push_back({"user", std::string(content)});
      const std::string prompt = state.chat_template.render(state.messages, {.add_generation_prompt = true}).text;
      // The template writes the special tokens.
      std::vector<std::int32_t> ids = pipelines::prompt_tokens(model, prompt, false, call.cancellation());
      Generation made = pipelines::grow_text(model, std::move(ids), options, show, call);
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
