#include "tokenizers/sources/gguf.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "formats/json.h"
#include "tokenizers/byte_alphabet.h"
#include "tokenizers/models/bpe.h"
#include "tokenizers/models/longest_match.h"
#include "tokenizers/models/unigram.h"
#include "tokenizers/models/word_piece.h"
#include "tokenizers/regex/pattern.h"
#include "tokenizers/sources/assembly.h"
#include "tokenizers/sources/gguf_pre_tokenizers.h"
#include "tokenizers/sources/gguf_vocabulary.h"
#include "tokenizers/sources/recovered_merges.h"
#include "tokenizers/sources/sentencepiece_parts.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

using ReadParts = std::shared_ptr<Tokenizer::Parts>;

constexpr std::size_t kExtraIds = 100;  // of T5

Vocabulary vocabulary_of(const std::vector<std::string>& tokens) {
  Vocabulary vocabulary;
  vocabulary.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) vocabulary.add(tokens[i], static_cast<std::int32_t>(i));
  vocabulary.finish();
  return vocabulary;
}

std::vector<std::string> token_texts(const GgufVocabulary& file) { return {file.tokens.begin(), file.tokens.end()}; }

SpecialToken gguf_special(const GgufVocabulary& file, std::uint32_t id) {
  return {std::string(file.tokens[id]), static_cast<std::int32_t>(id)};
}

std::optional<SpecialToken> gguf_special_if(bool wanted, const GgufVocabulary& file, std::optional<std::uint32_t> id,
                                            std::string_view key) {
  if (!wanted) return std::nullopt;
  if (!id) throw make_error(ErrorCode::corrupt, "it asks for a token around texts but has no ", key);
  return gguf_special(file, *id);
}

PostProcessorPtr gguf_marks(const GgufVocabulary& file, bool add_bos, std::optional<std::uint32_t> bos, bool add_eos,
                            std::optional<std::uint32_t> eos, std::string_view what) {
  return marks_template(gguf_special_if(add_bos, file, bos, "bos_token_id"),
                        gguf_special_if(add_eos, file, eos, "eos_token_id"), what);
}

// Tokens are put together from the pair with the best score, or in the order of their ids if there are no scores. Of
// one token, or among equal scores, the pair with the longer left part comes first; by ids, the one with the shorter.
std::vector<std::pair<std::string, std::string>> merges_by_token_score(const std::vector<std::string>& tokens,
                                                                       const std::vector<float>& scores,
                                                                       std::string_view what) {
  const std::vector<std::string_view> texts(tokens.begin(), tokens.end());
  std::vector<TokenSplit> splits = token_splits(texts, CutAt::code_points, what);
  if (scores.empty()) return merges_of(splits, texts);
  struct Key {
    float score;
    std::size_t left, right;
  };
  std::vector<std::size_t> lengths(texts.size());
  std::ranges::transform(texts, lengths.begin(), [](std::string_view text) { return count_code_points(text); });
  std::ranges::stable_sort(splits, [&](const TokenSplit& a, const TokenSplit& b) {
    const Key first{scores[a.token], lengths[a.left], lengths[a.right]};
    const Key second{scores[b.token], lengths[b.left], lengths[b.right]};
    if (first.score != second.score) return first.score > second.score;
    if (first.left != second.left) return first.left > second.left;
    if (first.right != second.right) return first.right > second.right;
    return a.token < b.token;
  });
  return merges_of(splits, texts);
}

// Files of Gemma write the marks of a run of spaces as spaces.
void mark_spaces(std::string& token) {
  if (token.find(' ') == std::string::npos || token.find_first_not_of(" \t\n\r") != std::string::npos) return;
  std::string marks;
  for (std::size_t i = 0; i < token.size(); ++i) marks += kWordStart;
  token = std::move(marks);
}

// Merges over characters with marked spaces, without a splitting by a pattern.
bool is_gemma_bpe(const GgufVocabulary& file) {
  constexpr std::array<std::string_view, 3> kNames = {"gemma4", "granite-embed-multi-311m", "sarvam-moe"};
  return file.model == "gemma4" || (file.model == "gpt2" && std::ranges::find(kNames, file.pre) != kNames.end());
}

// Llama's tokenizer, or Gemma's, which has no prefix and whose merges are in the order of ids.
ReadParts read_spm(const GgufVocabulary& file, std::string_view what) {
  const bool is_gemma = file.architecture.starts_with("gemma") || is_gemma_bpe(file);
  std::vector<std::string> tokens = token_texts(file);
  std::vector<AddedToken> added = added_tokens_of(file);
  if (is_gemma) {
    for (std::string& token : tokens) mark_spaces(token);
    for (AddedToken& token : added) mark_spaces(token.content);
  }
  std::vector<std::pair<std::string, std::string>> merges = file.merges;
  if (!file.has_merges) {
    merges = merges_by_token_score(tokens, is_gemma ? std::vector<float>() : file.scores, what);
  }
  const bool add_space_prefix = !is_gemma && file.add_space_prefix.value_or(true);
  BpeOptions options{.fuse_unk = true, .byte_fallback = true};
  const auto unk = file.or_default(file.unk, is_gemma ? 3 : 0);
  if (is_gemma && unk) options.unk_token = tokens[*unk];
  NormalizerPtr normalizer;
  PreTokenizerPtr pre_tokenizer;
  if (is_gemma) {
    normalizer = replace({" "}, std::string(kWordStart), what);
    pre_tokenizer = split({" "}, Delimiters::merged_with_previous, false, what);
  } else {
    pre_tokenizer =
        metaspace({.prepend = add_space_prefix ? PrependScheme::first : PrependScheme::never, .split = false});
  }
  Assembly assembly(std::move(normalizer), std::move(pre_tokenizer),
                    bpe(vocabulary_of(tokens), std::move(merges), options, what), std::move(added),
                    spm_decoder(true, true, add_space_prefix), what);
  const bool add_bos = file.model == "gemma4" ? false : file.add_bos.value_or(file.model != "gpt2");
  return std::move(assembly).finish(gguf_marks(file, add_bos, file.or_default(file.bos, 1),
                                               file.add_eos.value_or(false), file.or_default(file.eos, 2), what));
}

// A normal token that is not written in the byte-level alphabet is put into it.
bool is_in_byte_alphabet(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (!byte_of_character(c.value)) return false;
    at += c.length;
  }
  return true;
}

ReadParts read_gpt2(const GgufVocabulary& file, std::string_view what) {
  if (is_gemma_bpe(file)) return read_spm(file, what);
  if (!file.has_merges) throw Error(ErrorCode::corrupt, "tokenizer.ggml.merges is missing");
  GgufPreTokenizer pre = gguf_pre_tokenizer(file.pre);
  std::vector<std::string> tokens = token_texts(file);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto type = file.type(i);
    if (type == GgufVocabulary::TokenType::control || type == GgufVocabulary::TokenType::user_defined ||
        is_in_byte_alphabet(tokens[i]))
      continue;
    std::string text;
    append_byte_characters(text, tokens[i]);
    tokens[i] = std::move(text);
  }
  Assembly assembly(std::move(pre.normalizer), std::move(pre.pre_tokenizer),
                    bpe(vocabulary_of(tokens), file.merges, {.ignore_merges = pre.ignore_merges}, what),
                    added_tokens_of(file), byte_level_decoder(), what);
  const bool add_bos = file.add_bos.value_or(pre.add_bos || pre.add_sep);
  const bool add_eos = file.add_eos.value_or(pre.add_sep);
  if (!file.add_sep.value_or(pre.add_sep) || !file.sep)
    return std::move(assembly).finish(gguf_marks(file, add_bos, file.bos, add_eos, file.eos, what));
  TemplateTexts texts;
  if (const auto bos = gguf_special_if(add_bos, file, file.bos, "bos_token_id")) texts.before.push_back(*bos);
  if (const auto eos = gguf_special_if(add_eos, file, file.eos, "eos_token_id")) {
    texts.middle.push_back(*eos);
    texts.after.push_back(*eos);
  }
  texts.middle.push_back(gguf_special(file, *file.sep));
  PostProcessorPtr surrounding = surrounding_template(texts, what);
  return std::move(assembly).finish(std::move(surrounding));
}

// In the file, a word's first token begins with the mark, and "##" is left out of the others.
ReadParts read_bert(const GgufVocabulary& file, std::string_view what) {
  std::vector<std::string> tokens = token_texts(file);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto type = file.type(i);
    if (tokens[i].starts_with(kWordStart)) {
      tokens[i].erase(0, kWordStart.size());
    } else if (type == GgufVocabulary::TokenType::normal && !(tokens[i].starts_with('[') && tokens[i].ends_with(']'))) {
      tokens[i].insert(0, "##");
    }
  }
  BertNormalizerOptions options;
  options.lowercase = file.lowercase.value_or(true);
  if (file.strip_accents) options.strip_accents = *file.strip_accents;
  const auto unk = file.or_default(file.unk, 100);
  WordPieceRules rules;
  if (unk) rules.unknown_token = tokens[*unk];
  const auto cls = file.cls ? file.cls : file.or_default(file.bos, 101);
  const auto sep = file.or_default(file.sep, 102);
  GgufVocabulary roles = file;
  roles.bos = cls;
  roles.sep = sep;
  roles.unk = unk;
  roles.pad = file.or_default(file.pad, 0);
  roles.mask = file.or_default(file.mask, 103);
  Assembly assembly(bert_normalizer(options), bert_pre_tokenizer(),
                    word_piece(vocabulary_of(tokens), std::move(rules), what), added_tokens_of(roles),
                    word_piece_decoder("##", true), what);
  TemplateTexts texts{.before = {}, .middle = {}, .after = {}, .types_of_pair = true};
  if (const auto first = gguf_special_if(file.add_bos.value_or(true), file, cls, "bos_token_id"))
    texts.before.push_back(*first);
  if (const auto last = gguf_special_if(file.add_sep.value_or(true), file, sep, "seperator_token_id")) {
    texts.middle.push_back(*last);
    texts.after.push_back(*last);
  }
  PostProcessorPtr bert = surrounding_template(texts, what);
  return std::move(assembly).finish(std::move(bert));
}

// T5's placeholders, which the file names after their ids.
std::vector<AddedToken> name_extra_ids(std::vector<std::string>& tokens) {
  std::vector<AddedToken> added;
  for (std::string& token : tokens) {
    const bool is_placeholder =
        token.starts_with("[PAD") && token.ends_with(']') && token.size() > 5 &&
        std::all_of(token.begin() + 4, token.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_placeholder || added.size() == kExtraIds) continue;
    token = "<extra_id_" + std::to_string(kExtraIds - 1 - added.size()) + ">";
    added.push_back(StatedToken::special(token).finished());
  }
  return added;
}

ReadParts read_t5(const GgufVocabulary& file, std::string_view what) {
  if (file.scores.empty()) throw Error(ErrorCode::corrupt, "tokenizer.ggml.scores is missing");
  std::vector<std::string> tokens = token_texts(file);
  std::vector<AddedToken> added = added_tokens_of(file);
  if (file.architecture.starts_with("t5")) std::ranges::move(name_extra_ids(tokens), std::back_inserter(added));
  std::vector<UnigramPiece> pieces;
  pieces.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) pieces.push_back({std::move(tokens[i]), file.scores[i]});
  const auto unk = file.or_default(file.unk, 2);
  const bool prefix = file.add_space_prefix.value_or(true);
  const PrependScheme prepend = prefix ? PrependScheme::always : PrependScheme::never;
  // Both T5 and XLM-R split at white space, which removes extra spaces; a file that keeps them has none to split at.
  PreTokenizerPtr pre_tokenizer =
      file.remove_extra_whitespaces.value_or(true) ? split_words(prepend) : metaspace({.prepend = prepend});
  NormalizerPtr rules = charsmap_rules(file.charsmap, "tokenizer.ggml.precompiled_charsmap");
  Assembly assembly(std::move(rules), std::move(pre_tokenizer),
                    unigram(pieces, unk ? std::optional<std::size_t>(*unk) : std::nullopt, false, what),
                    std::move(added), metaspace_decoder({.prepend = prepend}), what);
  const auto bos = gguf_special_if(file.add_bos.value_or(false), file, file.bos, "bos_token_id");
  const auto eos = gguf_special_if(file.add_eos.value_or(true), file, file.or_default(file.eos, 1), "eos_token_id");
  TemplateTexts texts;
  if (bos) texts.before.push_back(*bos);
  if (eos) {
    texts.middle.push_back(*eos);
    if (bos) texts.middle.push_back(*eos);  // as XLM-R; T5 has no mark at the beginning
    texts.after.push_back(*eos);
  }
  PostProcessorPtr ends = surrounding_template(texts, what);
  return std::move(assembly).finish(std::move(ends));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// RWKV's tokens are written as in Python: \n, \t, \r, \xHH, and a backslash before any other character.
std::string unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      bytes += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'x' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      bytes += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      bytes += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
  }
  return bytes;
}

ReadParts read_rwkv(const GgufVocabulary& file, std::string_view what) {
  std::vector<std::string> tokens;
  tokens.reserve(file.tokens.size());
  for (std::size_t i = 0; i < file.tokens.size(); ++i) {
    // Control tokens are no text; they are not found in texts.
    tokens.push_back(file.type(i) == GgufVocabulary::TokenType::control ? std::string() : unescaped(file.tokens[i]));
  }
  Assembly assembly(nullptr, nullptr, longest_match(tokens, what), {}, byte_level_decoder(), what);
  return std::move(assembly).finish(
      gguf_marks(file, file.add_bos.value_or(false), file.bos, file.add_eos.value_or(false), file.eos, what));
}

struct GgufModelKind {
  std::string_view name;
  ReadParts (*read)(const GgufVocabulary&, std::string_view);
};
constexpr std::array kGgufModelKinds = std::to_array<GgufModelKind>({
    {"llama", read_spm},
    {"gemma4", read_spm},
    {"gpt2", read_gpt2},
    {"bert", read_bert},
    {"t5", read_t5},
    {"rwkv", read_rwkv},
});

ReadParts read_by_model(const formats::GgufHeader& header, std::string_view what) {
  const GgufVocabulary file = read_gguf_vocabulary(header);
  const auto* kind = std::ranges::find(kGgufModelKinds, file.model, &GgufModelKind::name);
  if (kind == kGgufModelKinds.end())
    throw make_error(ErrorCode::unsupported,
                     "its tokenizer.ggml.model is not known to this version; use the model's tokenizer.json: ",
                     formats::quoted_name(file.model));
  return kind->read(file, what);
}

}  // namespace

std::shared_ptr<Tokenizer::Parts> read_gguf_tokenizer(const formats::GgufHeader& header, std::string_view what) {
  constexpr std::string_view kJson = "tokenizer.huggingface.json";
  if (const formats::GgufValue* json = header.find(kJson))
    return load_tokenizer_json(json->as_text(kJson), std::string(what) + ": " + std::string(kJson));
  try {
    return read_by_model(header, what);
  } catch (const Error& error) {
    if (error.message().starts_with(what)) throw;
    throw error.with_context(what);
  }
}

}  // namespace alate::tokenizers
