// Embeddings in one pass: lookups, their sum and its layer norm become one step.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Replaces each layer norm of a sum of lookups, or of one lookup, together with the steps that it alone reads, by a
/// step `embed_norm` (steps/embedding_sum.h) at the norm's place that gives the same bits. A lookup is a gather of
/// whole rows of f32, bf16 or f16, or a quantized_embedding of 8 bits with a scale a row; other rows may be addends
/// beside at least one of these. Where anything does not fit, steps stay as they are.
void join_embeddings(Plan& plan);

}  // namespace alate::cpu
