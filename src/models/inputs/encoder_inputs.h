// The parameters of graphs of encoders.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/memory_needs.h"
#include "graph/builder.h"
#include "models/inputs/row_inputs.h"

namespace alate::models {

/// Parameters of graphs for rows with masked places before or between visible ones; all i32.
struct PlaceInputs {
  graph::Value places;  // [tokens]: each token's place in its row, masked places counted
  graph::Value masked;  // [sequences]: the row's masked places
};

/// Whether a graph takes the places of tokens, or tokens of a sequence are at consecutive places.
enum class TokenPlaces { consecutive, given };

/// More parameters of heads whose labels belong to several tasks (task_inputs); all i32.
struct TaskInputs {
  graph::Value label_groups;  // [sequences, most_labels]: the task of each label, from 1 on; 0: past a sequence's own
  graph::Value mark_tokens;   // [marks]: tokens of the prompt that are judged by themselves
  Dim marks;
};

/// Parameters of graphs with a head that is about words and labels (word_inputs); all i32.
struct WordInputs {
  graph::Value word_tokens;                 // [words]: the token that stands for each
  graph::Value word_starts, word_counts;    // [sequences]: each sequence's first word and its number of words
  graph::Value word_range;                  // [most_words]: 0, 1, 2, …, which gives the dim its value
  graph::Value label_tokens;                // [labels]: the token that stands for each
  graph::Value label_starts, label_counts;  // [sequences]
  graph::Value label_range;                 // [most_labels]: 0, 1, 2, …
  graph::Value pair_places;  // [pairs, 3]: sequence, word and label in it; all labels of a word, then the next
  graph::Value pair_word, pair_label;  // [pairs]: the same, counted in the batch
  Dim words, labels, pairs, most_words, most_labels;
  std::optional<TaskInputs> tasks = std::nullopt;
};

/// The parameters of every encoder's graph, in this order; all i32.
struct EncoderInputs {
  graph::Value ids, type_ids, positions;  // [tokens]
  graph::Value starts, lengths;           // [sequences]: each sequence's first token and its number of tokens
  graph::Value key_lengths;  // [sequences]: leading tokens visible as keys; later ones attend, but are masked as keys
  graph::Value first;        // [sequences]: the token that stands for the sequence ([CLS])
  graph::Value pool_starts, pool_lengths;  // [sequences]: the tokens that are pooled
  graph::Value range;                      // [longest]: 0, 1, 2, …, which gives the dim its value
  std::optional<PlaceInputs> by_place = std::nullopt;
  std::optional<WordInputs> words = std::nullopt;
  Dim tokens, sequences, longest;
};

/// Declares them.
EncoderInputs declare_encoder_inputs(graph::Builder& b, TokenPlaces places = TokenPlaces::consecutive);

/// Those of `tokens`, `sequences` and `longest`.
std::vector<CountedDim> counted_dims(const EncoderInputs& inputs);

/// Of estimates: values of all dims by name, also of those that graphs with RowInputs have, for `rows` texts of
/// `length` tokens.
backends::DimSettings usual_sizes(std::int64_t rows, std::int64_t length);

}  // namespace alate::models
