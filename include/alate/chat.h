// Conversations with a language model.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alate/chat_template.h"
#include "alate/generation.h"

namespace alate {

/// A conversation that grows. What it has in common with the turn before is not computed again. Not thread-safe;
/// several conversations may share a generator.
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
  /// Forgets the oldest turn, a message of the user with its answer; false if there is no more than one.
  bool drop_oldest();

  /// Adds a message of the user and the model's answer, `shown` piece by piece as by TextGenerator::generate. An answer
  /// that is cancelled stays as far as it came, if some of it was shown; after any other error the conversation is as
  /// it was before. Throws as ChatTemplate::render and TextGenerator::generate.
  Generation ask(std::string_view content, const GenerationOptions& options,
                 const std::function<void(std::string_view)>& shown = {}, const RunControl& control = {});

  std::span<const ChatMessage> messages() const;
  const TextGenerator& generator() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate
