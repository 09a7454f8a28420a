// The layers of GLiNER2 (gliner2/layers.py) that make a query for each label of a task and each of its instances.
#pragma once

#include <cstdint>
#include <vector>

#include "models/encoder.h"
#include "models/heads/extractor_config.h"

namespace alate::models {

/// The states of a GRU (Cho et al. 2014, arXiv:1406.1078) that begins with the labels [sequences, most_labels, hidden]
/// and reads the embeddings of the 1st, 2nd, … instance; each of the labels' shape. Weights are under count_embed.
std::vector<graph::Value> instance_states(EncoderScope& scope, graph::Value labels, std::int64_t hidden,
                                          std::int64_t instances);

/// The queries of each label for these instances: [sequences, most_labels, instances, hidden].
graph::Value instance_queries(EncoderScope& scope, CountingLayer layer, graph::Value labels,
                              const std::vector<graph::Value>& states, std::int64_t hidden);

}  // namespace alate::models
