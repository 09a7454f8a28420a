// Scores of multi-vector embeddings by late interaction (ColBERT: Khattab and Zaharia 2020, arXiv:2004.12832).
#pragma once

#include <span>
#include <vector>

#include "alate/run_control.h"
#include "alate/tensor.h"

namespace alate {

/// How near each document is to the query: over the query's vectors, the sum of the largest dot product with one of the
/// document's (MaxSim). The query and the documents are f32 [vectors, dimensions], as KindEmbeddings::multi_vectors has
/// them; a document without vectors has the score 0. Computes on the shared pool. Thread-safe. Throws invalid_argument
/// for other shapes or types, cancelled, deadline_exceeded.
std::vector<float> late_interaction_scores(const Tensor& query, std::span<const Tensor> documents,
                                           const RunControl& control = {});

}  // namespace alate
