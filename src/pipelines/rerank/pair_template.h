// Pairs as conversations: the text that a chat template makes of a query and a document, as sentence-transformers'
// CrossEncoder renders it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "alate/chat_template.h"

namespace alate::pipelines {

/// Immutable; cheap to copy; thread-safe.
class PairTemplate {
 public:
  /// The folder's chat template, if it writes messages of the roles "query" and "document"; nothing for one that does
  /// not, which is for chat. Throws corrupt for a template that is not well-formed, and resource_exhausted for one that
  /// goes beyond the limits of templates.
  static std::optional<PairTemplate> of_folder(const std::filesystem::path& folder);
  /// That of Qwen3-Reranker's documentation: an instruction, the query and the document, to be judged by yes or no.
  static PairTemplate qwen3();

  /// `prompt` is the system's message; empty: none, and a template may then have an instruction of its own. Throws as
  /// ChatTemplate::render.
  std::string render(std::string_view query, std::string_view document, std::string_view prompt) const;

 private:
  PairTemplate(ChatTemplate chat, bool lists_parts) : chat_(std::move(chat)), lists_parts_(lists_parts) {}
  bool carries_both() const;

  ChatTemplate chat_;
  bool lists_parts_ = false;    // contents are lists of parts of a type
  std::string variables_;       // of every rendering, as JSON
  bool begins_answer_ = false;  // add_generation_prompt
};

/// A rendered pair, and the bytes of it that are the document's.
struct RenderedPair {
  std::string text;
  std::size_t begin = 0, end = 0;
};

/// The pairs of one query. Thread-safe.
class TemplatePairs {
 public:
  /// Throws as PairTemplate::render.
  TemplatePairs(PairTemplate pair_template, std::string query, std::string prompt);
  RenderedPair of(std::string_view document) const;
  /// What is written around each document.
  std::size_t bytes_around() const { return before_.size() + after_.size(); }

 private:
  PairTemplate template_;
  std::string query_, prompt_;
  std::string before_, after_;  // what is written around a document
};

}  // namespace alate::pipelines
