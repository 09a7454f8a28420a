// Conversations with a language model.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/chat_template.h"
#include "alate/generation.h"

namespace alate {

/// What came of a message.
struct ChatAnswer : Generation {
  /// What the model wrote between <think> and </think> before its answer; it is not in `text`.
  std::string reasoning;
};

/// Are called on the thread of the call with pieces of an answer as soon as they are final. Both may be empty.
struct ChatSinks {
  std::function<void(std::string_view)> text = {}, reasoning = {};
};

/// A conversation that grows. What it has in common with the turn before is not computed again. Not thread-safe: one
/// thread at a time may use a conversation. Several conversations may share a generator, each on a thread of its own.
class Chat {
 public:
  Chat(TextGenerator generator, ChatTemplate chat_template);
  /// The generator's folder has the template. Throws as ChatTemplate::load.
  explicit Chat(const TextGenerator& generator);
  ~Chat();
  Chat(Chat&&) noexcept;
  Chat& operator=(Chat&&) noexcept;

  /// What the conversation begins with; begins it anew if it has begun.
  void set_system(std::string content);
  /// Forgets all messages but the system's.
  void clear();
  /// Forgets the latest turn; false if there is none.
  bool drop_latest();
  /// Forgets the oldest turn, a message of the user with its answer; false if there is no more than one.
  bool drop_oldest();

  /// Whether the model is to reason before it answers, for templates that have `enable_thinking`; absent: as the
  /// template has it.
  void set_thinking(std::optional<bool> thinks);

  /// Adds a message of the user and the model's answer, shown piece by piece. What the model reasoned is no part of the
  /// conversation afterwards. An answer that is cancelled stays as far as it came, if some of it was shown; after any
  /// other error the conversation is as it was before. Throws as ChatTemplate::render and TextGenerator::generate.
  ChatAnswer ask(std::string_view content, const GenerationOptions& options, const ChatSinks& sinks,
                 const RunControl& control = {});
  ChatAnswer ask(std::string_view content, const GenerationOptions& options,
                 const std::function<void(std::string_view)>& shown = {}, const RunControl& control = {}) {
    return ask(content, options, ChatSinks{.text = shown}, control);
  }
  /// The tokens of the prompt that `ask` would make of this message: where they are not fewer than the generator's
  /// context, there is no room for an answer. Throws as ChatTemplate::render.
  std::size_t prompt_tokens(std::string_view content) const;

  std::span<const ChatMessage> messages() const;
  const TextGenerator& generator() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate
