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

namespace alate {

/// Where truncation takes tokens from when a pair is too long.
enum class Truncation { longest_first, only_first, only_second };

enum class Side { left, right };

/// The tokens of a text or of a pair of texts; each list has one entry per token.
struct Encoding {
  using Offsets = std::pair<std::uint32_t, std::uint32_t>;  // begin and end; (0, 0) for tokens that a template added

  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> type_ids;
  std::vector<std::string> tokens;         // empty without EncodeOptions::with_tokens
  std::vector<std::uint8_t> special_mask;  // 1 for tokens that a template added
  std::vector<Offsets> offsets;            // code points of the original text; empty without with_offsets
  std::vector<Offsets> byte_offsets;  // bytes of the original text, after invalid UTF-8 has been replaced by U+FFFD
  std::vector<Encoding> overflowing;  // the remaining windows after truncation; their own `overflowing` is empty
  bool truncated = false;
};

struct EncodeOptions {
  bool add_special_tokens = true;
  std::optional<std::size_t> max_length = {};  // including special tokens; none: no truncation
  Truncation strategy = Truncation::longest_first;
  std::optional<Side> side = {};  // the side that truncation removes; none: as the file states, otherwise right
  std::size_t stride = 0;         // tokens by which consecutive windows overlap
  bool with_offsets = true;
  bool with_tokens = true;
};

/// A tokenizer; immutable, cheap to copy, thread-safe.
class Tokenizer {
 public:
  /// Loads a folder (its tokenizer.json, otherwise its vocab.txt with tokenizer_config.json, special_tokens_map.json
  /// and added_tokens.json beside it), or a tokenizer.json or vocab.txt file by itself. Throws not_found; corrupt, when
  /// a file contradicts itself; unsupported, naming the unknown part.
  static Tokenizer load(const std::filesystem::path& folder_or_file);

  /// Reads the text of a tokenizer.json; `what` names it in errors.
  static Tokenizer from_json(std::string_view tokenizer_json, std::string_view what);

  /// The file's truncation and padding settings are ignored; only `options` apply. Invalid UTF-8 becomes U+FFFD, one
  /// for each maximal invalid part. Throws invalid_argument when the options cannot be met (a max_length below the
  /// number of special tokens, a stride not smaller than the window, a strategy that cannot shorten enough),
  /// resource_exhausted for texts over 1 GiB or too many windows, corrupt when a word is unknown and the file lacks its
  /// unknown token.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;
  Encoding encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const;

  /// The text of the tokens; unknown ids are skipped.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens = false) const;

  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  /// An added token that is matched in normalized text is returned in its normalized form, as in the reference.
  std::optional<std::string> id_to_token(std::int32_t id) const;
  /// The number of distinct tokens, including added ones.
  std::size_t vocabulary_size() const;

  /// The truncation length that tokenizer.json states.
  std::optional<std::size_t> stated_max_length() const;
  /// How many tokens the template adds to a text or a pair.
  std::size_t special_tokens_added(bool pair) const;

  struct Parts;
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

 private:
  std::shared_ptr<const Parts> parts_;
};

}  // namespace alate
