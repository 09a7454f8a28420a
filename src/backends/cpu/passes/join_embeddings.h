// Embeddings in one pass: lookups, their sum and its layer norm become one step.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Replaces each layer norm of a sum of lookups, or of one lookup, together with the steps that only it reads, by one
/// bit-identical `embed_norm` step (steps/embedding_sum.h) in the norm's place. A lookup is a gather of whole rows of
/// f32, bf16 or f16, or an 8-bit quantized_embedding with one scale per row; other rows may be addends beside at least
/// one lookup. Steps that do not match stay as they are.
void join_embeddings(Plan& plan);

}  // namespace alate::cpu
