// A conversation at a terminal, or with lines of a pipe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/chat.h"
#include "apps/alate/common_options.h"
#include "apps/alate/output.h"
#include "apps/alate/texts/line_reader.h"

namespace alate::app {

/// How reasoning models answer.
enum class ThinkMode {
  usual,   // as the model's template has it; reasoning is shown, dimmed
  on,      // it reasons, and that is shown
  off,     // it answers at once
  hidden,  // it reasons, and that is not shown
};
/// Nothing for other words than "on", "off", "hide".
std::optional<ThinkMode> parse_think_mode(std::string_view word);

struct ConversationOptions {
  GenerationOptions generation;
  bool shows_stats = false;
  ThinkMode think = ThinkMode::usual;
  OutputFormat format = OutputFormat::text;  // json, jsonl: an object for each answer
};

/// Answers go to the output; all else is for a person and goes to standard error. At a terminal Ctrl-C stops an answer,
/// and not the program. One thread.
class Conversation {
 public:
  Conversation(Chat chat, ConversationOptions options, Output& output);

  /// Until the input or the person ends it. Throws what an answer ends with where nobody types.
  void run();
  /// Answers one message. Throws what it ends with.
  void answer_once(const std::string& message) { answer(message); }

 private:
  // A line that begins with a slash.
  struct Command;
  static const std::vector<Command>& commands();

  void say(std::string_view text) const;
  std::optional<std::string> next_line(std::string_view prompt);
  std::optional<std::string> next_message();
  bool make_room(const std::string& message);
  void answer(const std::string& message);
  void write_answer(const ChatAnswer& answer);
  void say_stats(const ChatAnswer& answer) const;
  void set_think(ThinkMode mode);

  void obey(const std::string& line);
  void show_help(const std::string& rest);
  void clear(const std::string& rest);
  void undo(const std::string& rest);
  void drop(const std::string& rest);
  void set_system(const std::string& rest);
  void set_option(const std::string& rest);
  void switch_think(const std::string& rest);
  void switch_stats(const std::string& rest);
  void end(const std::string& rest);

  Chat chat_;
  ConversationOptions options_;
  const bool is_typed_, is_read_;  // at a terminal
  bool is_over_ = false;
  Output& output_;
  LineReader lines_;
};

}  // namespace alate::app
