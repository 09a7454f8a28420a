// Conversion between text and token ids, matching Hugging Face's `tokenizers` on the same files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/run_control.h"

namespace alate {

/// Where truncation takes tokens from when a pair is too long.
enum class Truncation { longest_first, only_first, only_second };

enum class Side { left, right };

/// The tokens of a text or of a pair of texts; each list has one entry per token. A template adds special tokens such
/// as [CLS]; padding counts as special too.
struct Encoding {
  using Offsets = std::pair<std::uint32_t, std::uint32_t>;  // begin and end; (0, 0) for special tokens

  static constexpr std::int8_t kNone = -1;  // in word_ids and sequence_ids

  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;
  std::vector<std::uint8_t> special_mask;    // 1 for special tokens
  std::vector<std::uint8_t> attention_mask;  // 0 for padding, 1 for all others
  std::vector<std::string> tokens;           // empty without EncodeOptions::with_tokens
  // The next four are empty without EncodeOptions::with_offsets.
  std::vector<Offsets> offsets;        // code points of the original text
  std::vector<Offsets> byte_offsets;   // bytes of the original text, after invalid UTF-8 has become U+FFFD
  std::vector<std::int32_t> word_ids;  // the number in its text of the pre-tokenizer's piece; kNone for special tokens
  std::vector<std::int8_t> sequence_ids;  // 0 for the first text, 1 for the second; kNone for special tokens
  std::vector<Encoding> overflowing;      // the remaining windows after truncation; their own `overflowing` is empty
  bool truncated = false;
};

/// Padding tokens at one end, up to a length.
struct Padding {
  std::optional<std::size_t> length = {};  // none: the longest encoding of the call; longer ones stay as they are
  std::size_t multiple_of = 0;             // rounds the length up; 0: does not
  Side side = Side::right;
  std::int32_t id = 0;
  std::int32_t type_id = 0;
  std::string token = "[PAD]";
};

/// Pads encodings and their windows, as EncodeOptions::padding does for those of one call; lists that all of them lack
/// stay empty. Throws resource_exhausted for too much padding.
void pad(std::span<Encoding> encodings, const Padding& padding);

struct EncodeOptions {
  bool add_special_tokens = true;
  std::optional<std::size_t> max_length = {};  // including special tokens; none: no truncation
  Truncation strategy = Truncation::longest_first;
  std::optional<Side> side = {};  // the side that truncation removes; none: as the files state, otherwise right
  std::size_t stride = 0;         // tokens by which consecutive windows overlap
  bool with_offsets = true;
  bool with_tokens = true;
  bool with_windows = true;             // what truncation removes, as Encoding::overflowing
  std::optional<Padding> padding = {};  // none: no padding
};

/// A text, or a pair of texts, which the caller keeps alive during the call.
struct EncodeInput {
  EncodeInput(std::string_view one) : text(one) {}    // NOLINT(google-explicit-constructor): lists of texts
  EncodeInput(const std::string& one) : text(one) {}  // NOLINT(google-explicit-constructor)
  EncodeInput(const char* one) : text(one) {}         // NOLINT(google-explicit-constructor)
  EncodeInput(std::string_view first, std::string_view second) : text(first), pair(second) {}

  std::string_view text;
  std::optional<std::string_view> pair = {};
};

struct DecodeOptions {
  bool skip_special_tokens = false;
  bool clean_up_spaces = false;  // removes spaces before punctuation, as `clean_up_tokenization` of transformers does
  std::vector<std::int32_t> shown_special_tokens = {};  // are not skipped, whatever skip_special_tokens says
};

/// A tokenizer; immutable, cheap to copy, thread-safe.
class Tokenizer {
 public:
  /// Loads a folder's tokenizer, or a file by itself. Of a folder, the first of these is read: tokenizer.json;
  /// vocab.txt; vocab.json with merges.txt; a model of SentencePiece or a file of tiktoken's ranks (tokenizer.model,
  /// spiece.model, sentencepiece.bpe.model, spm.model, *.tiktoken); the tokenizer in a *.gguf. With all forms but the
  /// last, tokenizer_config.json, special_tokens_map.json, added_tokens.json and config.json beside them are read, and
  /// the class that they state chooses the conversion, as in transformers (docs/tokenizers.md); of a tokenizer.json
  /// that is named itself nothing else is read. Throws not_found; corrupt, when a file contradicts itself; unsupported,
  /// naming the unknown part.
  static Tokenizer load(const std::filesystem::path& folder_or_file);

  /// Reads the text of a tokenizer.json; `what` names it in errors.
  static Tokenizer from_json(std::string_view tokenizer_json, std::string_view what);

  /// The file's truncation and padding settings are ignored; only `options` apply. Invalid UTF-8 becomes U+FFFD, one
  /// for each maximal invalid part. Throws invalid_argument when the options cannot be met (a max_length below the
  /// number of special tokens, a stride not smaller than the window, a strategy that cannot shorten enough),
  /// resource_exhausted for texts over 1 GiB, too many windows or too much padding, and where the file's parts make a
  /// text too long or take too many steps for it, corrupt when a word is unknown and the file lacks its unknown token,
  /// cancelled and deadline_exceeded, also in the middle of a text.
  Encoding encode(const EncodeInput& input, const EncodeOptions& options = {}, const RunControl& control = {}) const;
  Encoding encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options = {},
                       const RunControl& control = {}) const;

  /// The same for each input, in parallel on the process-wide pool (alate/threads.h). Without a length, padding goes to
  /// the longest encoding of the batch, windows not counted. The first error is thrown.
  std::vector<Encoding> encode_batch(std::span<const EncodeInput> inputs, const EncodeOptions& options = {},
                                     const RunControl& control = {}) const;

  /// The text of the tokens; unknown ids are skipped. The text is valid UTF-8.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens = false) const;
  std::string decode(std::span<const std::int32_t> ids, const DecodeOptions& options) const;

  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  /// An added token that is matched in normalized text is returned in its normalized form, as in the reference.
  std::optional<std::string> id_to_token(std::int32_t id) const;
  /// The number of distinct tokens, including added ones.
  std::size_t vocabulary_size() const;

  /// The truncation length that tokenizer.json states.
  std::optional<std::size_t> stated_max_length() const;
  /// Whether a model gets the type ids of its texts: not where tokenizer_config.json's model_input_names, or the class
  /// that it states, leaves token_type_ids out, so that the model takes 0 for all tokens, as in transformers.
  bool gives_type_ids() const;
  /// The padding that tokenizer.json states. Its length too, so reset that to pad to the longest.
  const std::optional<Padding>& stated_padding() const;
  /// How many tokens the template adds to a text or a pair.
  std::size_t special_tokens_added(bool pair) const;

  struct Parts;  // known to the library only
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  const Parts& parts() const { return *parts_; }

 private:
  friend class DecodeStream;

  std::shared_ptr<const Parts> parts_;
};

/// Decodes tokens as they come, in linear time: text is given out as soon as no further token can change it, always as
/// whole code points. The pieces of all calls, joined, are what Tokenizer::decode gives for all ids. Not thread-safe;
/// keeps its tokenizer alive.
class DecodeStream {
 public:
  explicit DecodeStream(const Tokenizer& tokenizer, const DecodeOptions& options = {});
  ~DecodeStream();
  DecodeStream(DecodeStream&&) noexcept;
  DecodeStream& operator=(DecodeStream&&) noexcept;

  /// The text that has become final, often empty; unknown ids are skipped.
  std::string push(std::int32_t id);
  std::string push(std::span<const std::int32_t> ids);
  /// The rest of the text. The stream is then as new.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace alate
