// Long short-term memory (Hochreiter and Schmidhuber 1997) over the words of rows, as torch.nn.LSTM computes it.
#pragma once

#include <cstdint>
#include <string>

#include "models/encoder.h"

namespace alate::models {

/// `layers` layers over x [words, width], each in both directions: the results of a word, first those of the words up
/// to it, then those from the last word back to it, are the next layer's input. Gives [words, width]; `width` must be
/// even. Weights have torch's names after `name` ("rnn.lstm"): NAME.weight_ih_l0, NAME.bias_hh_l0_reverse, …
graph::Value bidirectional_lstm(EncoderScope& scope, const std::string& name, graph::Value x, std::int64_t width,
                                std::int64_t layers);

}  // namespace alate::models
