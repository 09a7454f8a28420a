#include "alate/redact.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "pipelines/redact/redact_run.h"
#include "tokenizers/unicode/canonical_text.h"
#include "tokenizers/unicode/grapheme_clusters.h"
#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct Bytes {
  std::size_t begin = 0, end = 0;
};

// Without the spaces at its ends, within the text, and with all of each character that it has a part of.
Bytes trimmed(std::string_view text, const tokenizers::GraphemeClusters& clusters, const Entity& entity) {
  Bytes bytes{std::min(entity.byte_start, text.size()), std::min(entity.byte_end, text.size())};
  while (bytes.begin < bytes.end && is_space(text[bytes.begin])) ++bytes.begin;
  while (bytes.end > bytes.begin && is_space(text[bytes.end - 1])) --bytes.end;
  if (bytes.begin < bytes.end) bytes = {clusters.border_before(bytes.begin), clusters.border_after(bytes.end)};
  return bytes;
}

// What values are the same by: in small letters, composed or not, with one space for any.
std::string key_of(std::string_view value) {
  std::string key;
  for (const char c : value) {
    if (!is_space(c)) {
      key += c;
    } else if (!key.empty() && key.back() != ' ') {
      key += ' ';
    }
  }
  return tokenizers::canonical_form(tokenizers::lower_cased(key));
}

}  // namespace

std::string Redactor::replacement(const std::string& label, std::string_view value) {
  if (!with_pseudonyms_) return '[' + label + ']';
  std::map<std::string, std::size_t>& numbers = numbers_[label];
  const std::size_t number = numbers.try_emplace(key_of(value), numbers.size() + 1).first->second;
  return '[' + label + '_' + std::to_string(number) + ']';
}

std::string Redactor::redact(std::string_view text, std::span<const Entity> entities) {
  const std::optional<std::string> repaired = tokenizers::repair_utf8(text);
  if (repaired) text = *repaired;
  const tokenizers::GraphemeClusters clusters(text);
  std::string out;
  std::size_t done = 0;
  for (std::size_t i = 0; i < entities.size();) {
    Bytes bytes = trimmed(text, clusters, entities[i]);
    const std::string& label = entities[i].label;
    for (++i; i < entities.size() && entities[i].label == label; ++i) {
      const Bytes next = trimmed(text, clusters, entities[i]);
      if (next.begin > bytes.end) break;
      bytes.end = std::max(bytes.end, next.end);
    }
    bytes.begin = std::max(bytes.begin, done);
    if (bytes.begin >= bytes.end) continue;
    out += text.substr(done, bytes.begin - done);
    out += replacement(label, text.substr(bytes.begin, bytes.end - bytes.begin));
    done = bytes.end;
  }
  return out += text.substr(done);
}

namespace pipelines {

void check_redaction(const RecognizeOptions& options) {
  if (options.aggregation == Aggregation::none)
    throw Error(ErrorCode::invalid_argument,
                "redaction replaces entities, and without aggregation there are only tokens: choose first");
  const std::optional<LongTexts> treatment = options.long_texts.treatment;
  if (treatment == LongTexts::cut || treatment == LongTexts::cut_left)
    throw Error(
        ErrorCode::invalid_argument,
        "redaction reads the whole of a text, since the rest would be shown unread: choose windows or error for "
        "long texts");
}

namespace {

RecognizeOptions of_whole_words(RecognizeOptions options) {
  if (!options.aggregation) options.aggregation = Aggregation::first;
  return options;
}

}  // namespace

RedactRun::RedactRun(RecognizePipeline pipeline, std::vector<std::string_view> texts, const RecognizeOptions& options,
                     std::shared_ptr<Redactor> redactor)
    : RecognizeRun(std::move(pipeline), std::move(texts), of_whole_words(options)), redactor_(std::move(redactor)) {
  check_redaction(options);
}

void RedactRun::take(const RowResults& results) {
  RecognizeRun::take(results);
  if (has_more()) return;
  for (std::size_t i = 0; i < size(); ++i) {
    results.cancellation().check();
    const bool is_unread = std::ranges::binary_search(too_long(), i);
    redacted_.push_back(is_unread ? std::string() : redactor_->redact(text(i), entities()[i]));
  }
}

}  // namespace pipelines

Redactions redact(const RecognizePipeline& recognizer, std::span<const std::string_view> texts,
                  const RedactOptions& options, const RunControl& control) {
  pipelines::RedactRun run(recognizer, {texts.begin(), texts.end()}, options.recognize,
                           std::make_shared<Redactor>(options.pseudonyms));
  pipelines::run_task(run, {.tokens = options.recognize.batch_tokens, .rows = options.recognize.batch_size}, control);
  return {.texts = std::move(run.texts()), .entities = std::move(run.entities()), .tokens = run.tokens()};
}

Redactions redact(const RecognizePipeline& recognizer, std::initializer_list<std::string_view> texts,
                  const RedactOptions& options, const RunControl& control) {
  return redact(recognizer, std::span<const std::string_view>(texts.begin(), texts.size()), options, control);
}

}  // namespace alate
