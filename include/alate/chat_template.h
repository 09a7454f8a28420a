// Conversations as text: the chat template of a model's folder, rendered as Hugging Face's `apply_chat_template` does.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace alate {

/// A message of plain text.
struct ChatMessage {
  std::string role;
  std::string content;
};

/// What a template sees besides the messages. JSON texts are empty where there is nothing.
struct ChatOptions {
  std::string_view tools = {};      // JSON: a list of tools, each a JSON schema of a function
  std::string_view documents = {};  // JSON: a list of objects, for templates that answer from documents
  std::string_view variables = {};  // JSON: an object of further variables of the template; they replace special tokens
  bool add_generation_prompt = false;
  /// The field of the last message that the model is to continue, usually "content": the text ends where it ends.
  std::optional<std::string_view> continue_final_message = {};
  /// One of several named templates, or a template itself; none: "tool_use" if there are tools, otherwise "default".
  std::optional<std::string_view> chat_template = {};
};

struct RenderedChat {
  std::string text;
  /// The parts, as begin and end in bytes of the text, that a model is trained to generate, where the template marks
  /// them with {% generation %}.
  std::vector<std::pair<std::size_t, std::size_t>> generated;
};

/// The chat template of a model, with the special tokens that it writes; immutable, cheap to copy, thread-safe.
///
/// Templates are programs from strangers: their work, memory and output are limited in proportion to the conversation,
/// and they see nothing but their variables and the time. Rendering throws invalid_argument for a conversation that the
/// template refuses (with its message), for JSON of the wrong shape, and for errors in the template (with its line);
/// resource_exhausted for a template that does too much; corrupt for JSON that cannot be read.
class ChatTemplate {
 public:
  /// By name: bos_token, eos_token and so on.
  using SpecialTokens = std::map<std::string, std::string>;

  /// Loads the templates of a folder: chat_template.jinja and additional_chat_templates/*.jinja, else the chat_template
  /// of tokenizer_config.json, else chat_template.json, else its GGUF file; special tokens from tokenizer_config.json
  /// or the GGUF file. Without a template, that of its family where the other files show it (docs/tokenizers.md). Or a
  /// file: one of these three, or a template, with the tokenizer_config.json beside it. Throws not_found, saying where
  /// it has looked, if there is none; corrupt for files and templates that are not well-formed.
  static ChatTemplate load(const std::filesystem::path& folder_or_file);

  /// A template's text. `what` names it in errors. Throws corrupt if it is not well-formed.
  explicit ChatTemplate(std::string_view text, SpecialTokens special_tokens = {},
                        std::string_view what = "chat template");
  /// Several templates by name; the one called "default" is used where no other is asked for.
  ChatTemplate(const std::map<std::string, std::string>& texts, SpecialTokens special_tokens, std::string_view what);

  RenderedChat render(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;
  /// `messages` is JSON: a list of objects with a role, and content, tool calls and what else the template reads.
  RenderedChat render(std::string_view messages, const ChatOptions& options = {}) const;
  /// One JSON object: `messages` (or `conversation`), and the members of ChatOptions by name; all other members, and
  /// those of `chat_template_kwargs`, are further variables. `continue_final_message` may be true.
  RenderedChat render_request(std::string_view request) const;

  /// Whether a template of this name is there.
  bool has(std::string_view name) const;
  const SpecialTokens& special_tokens() const;

  struct Parts;

 private:
  explicit ChatTemplate(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace alate
