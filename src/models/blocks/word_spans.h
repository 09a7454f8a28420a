// Spans of words by their first and last word: layers that GLiNER models share.
#pragma once

#include <cstdint>
#include <string>

#include "models/encoder.h"

namespace alate::models {

/// The word, or the label, at each place of each sequence: i32 [sequences, most_words] and [sequences, most_labels];
/// past a sequence's end its last one.
graph::Value padded_words(EncoderScope& scope);
graph::Value padded_labels(EncoderScope& scope);

/// NAME.0, a ReLU, and NAME.3, with `inner` numbers between them: x [..., hidden] to [..., hidden].
graph::Value two_layers(EncoderScope& scope, const std::string& name, graph::Value x, std::int64_t hidden,
                        std::int64_t inner);

/// The columns [first, last) of a matrix with `rows` rows.
graph::Value matrix_columns(graph::Builder& b, graph::Value matrix, std::int64_t rows, std::int64_t first,
                            std::int64_t last);

/// relu(W₁ · [start; end] + b₁) of each span [sequences, most_words, widths, 4 · hidden], where W₁ and b₁ are those of
/// the layer NAME.0, and starts and ends [words, hidden]. Spans that go beyond a sequence's words mean nothing. W₁ ·
/// [start; end] is the sum of a product of the start and one of the end, so that a span takes only sums.
graph::Value span_features(EncoderScope& scope, const std::string& name, graph::Value starts, graph::Value ends,
                           std::int64_t hidden, std::int64_t widths);

/// W₂ᵀ · q of queries [..., hidden], where W₂ is the weight of NAME.3: the product of a span's representation W₂ · f +
/// b₂ with q is (W₂ᵀ · q) · f + b₂ · q.
graph::Value folded_queries(EncoderScope& scope, const std::string& name, graph::Value queries, std::int64_t hidden);
/// b₂ · q, as [..., 1].
graph::Value query_bias(EncoderScope& scope, const std::string& name, graph::Value queries, std::int64_t hidden);

}  // namespace alate::models
