// Weights as transformers has them, from what a file's format made of them (formats::WeightChange).
#pragma once

#include <cstdint>
#include <string>

#include "graph/constant.h"

namespace alate::models {

/// The rows of each of `paired_heads` heads in halves instead of pairs; 0 heads: the constant itself. Rows may be bytes
/// of whole blocks: they are only moved. Throws corrupt, naming the weight `stored`, where the heads do not divide.
graph::ConstantPtr with_halves(graph::ConstantPtr rows, std::int64_t paired_heads, const std::string& stored);

/// Each number less 1.
graph::ConstantPtr without_one(graph::ConstantPtr floats);

}  // namespace alate::models
