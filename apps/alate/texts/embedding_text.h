// Embeddings as text: the numbers of one text's embedding of a kind.
#pragma once

#include <cstddef>
#include <string>

#include "alate/embedding_kinds.h"
#include "alate/tensor.h"

namespace alate::app {

/// Appends a row of vectors of any of the types f32, i8 and u8; numbers are in their shortest form.
void append_row(std::string& out, const Tensor& vectors, std::size_t row, char separator);

/// Appends a JSON value: {"indices": […], "values": […]}; a list of vectors.
void append_json(std::string& out, const SparseEmbedding& sparse);
void append_json(std::string& out, const Tensor& vectors);

}  // namespace alate::app
