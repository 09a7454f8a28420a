// Long texts cut into chunks that fit a model, or are good units of search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "alate/recognize.h"
#include "alate/run_control.h"
#include "alate/tensor.h"
#include "alate/tokenizer.h"

namespace alate {

/// How a text is cut.
/// - fixed: between separators, as many sections to a chunk as fit; a section that is too long is cut between words.
/// - recursive: by structure, from the largest unit to the smallest that is needed: markdown headings from level 1 to
///   6, paragraphs, lines, sentences, words. Pieces are joined only within the unit that had to be cut, and sections
///   with headings of their own are not.
/// - sentence: as many whole sentences to a chunk as fit, by Unicode's rules (UAX #29).
/// - semantic: where neighbouring sentences are about different things, by their embeddings.
/// - classifier: behind the tokens that a model for token classification calls separators: those with any label but its
///   first one and "O". A model with two labels is one that was trained for this, such as
///   mirth/chonky_distilbert_uncased_1.
enum class ChunkMethod { fixed, recursive, sentence, semantic, classifier };
/// "fixed".
std::string_view to_string(ChunkMethod method);
/// The inverse; nothing for an unknown name.
std::optional<ChunkMethod> parse_chunk_method(std::string_view name);

struct ChunkOptions {
  ChunkMethod method = ChunkMethod::fixed;
  std::size_t target_tokens = 500;  // the most tokens of a chunk, its overlap included
  // The most tokens that a chunk repeats from the end of the one before: whole sentences with the method sentence, else
  // whole words. Less than target_tokens; absent: a tenth of them, at most 50. Chunks of the methods semantic and
  // classifier do not overlap.
  std::optional<std::size_t> overlap_tokens = {};
  std::string separator = "\n\n";              // fixed; empty: between words only
  std::optional<std::size_t> max_chunks = {};  // the text after so many chunks is left out
  // semantic: a chunk ends where the cosine of two neighbouring sentences is below this,
  double threshold = 0.5;
  // or below this percentile, 0 to 100, of the cosines of all neighbours in the text.
  std::optional<double> percentile = {};
};

/// A chunk is a slice of the original text, without white space at its ends. It begins and ends between characters as
/// readers see them (grapheme clusters): a letter keeps its marks, and an emoji its parts.
struct Chunk {
  std::string text;
  std::size_t start = 0, end = 0;            // code points of the original text
  std::size_t byte_start = 0, byte_end = 0;  // bytes of it
  std::size_t tokens = 0;                    // of the whole text's tokens, those in the chunk
};

struct Chunks {
  std::vector<Chunk> chunks = {};
  std::size_t tokens = 0;  // of the text, each counted once, without special tokens
  bool truncated = false;  // whether max_chunks left out the rest
};

/// Chunks, and a vector for each.
struct LateChunks {
  Chunks chunks = {};
  Tensor vectors = {};       // f32 [chunks, dimensions]
  std::size_t computed = 0;  // tokens that the model computed, special ones and windows' overlaps included
};

/// Cuts texts. Tokens are those of a tokenizer; without one they are counted by a rule that needs no model: a word,
/// that is letters, digits and marks in a row, is a token for each 8 characters (grapheme clusters) that it begins, and
/// any other visible character, an ideograph too, is one. Immutable; thread-safe; copies share state.
class Chunker {
 public:
  Chunker();
  explicit Chunker(Tokenizer tokenizer);
  /// Counts by the model's tokenizer, and can use the methods that need embeddings.
  explicit Chunker(EmbeddingPipeline pipeline);
  /// Counts by the model's tokenizer, and can use the method classifier.
  explicit Chunker(RecognizePipeline recognizer);

  /// Throws invalid_argument for a text that is not UTF-8 and for options that cannot be met, unsupported for the
  /// method semantic without an embedding model and for the method classifier without a recognizer or with a GLiNER
  /// model, and as Tokenizer::encode, EmbeddingPipeline::embed and RecognizePipeline::recognize.
  Chunks chunk(std::string_view text, const ChunkOptions& options = {}, const RunControl& control = {}) const;

  /// Late chunking: the model reads the whole text, and each chunk's vector is pooled from its own tokens, which so
  /// know of the text around them. Texts longer than the model are read in windows that overlap by a quarter; a token
  /// in two windows is taken from that in whose middle it is. Of `embed`, max_length, the prompt, dimensions and
  /// normalize apply. The method semantic compares sentences by such vectors too. Throws as `chunk`, and unsupported
  /// for models that do not pool with mean, max or mean_sqrt_len, or whose modules go on after pooling with more than a
  /// normalization.
  LateChunks chunk_late(std::string_view text, const ChunkOptions& options = {}, const EmbedOptions& embed = {},
                        const RunControl& control = {}) const;

 private:
  std::optional<Tokenizer> tokenizer_;
  std::optional<EmbeddingPipeline> pipeline_;
  std::optional<RecognizePipeline> recognizer_;
};

}  // namespace alate
