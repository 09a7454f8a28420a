// Decomposition of dense's activation.
#pragma once

#include "graph/builder.h"

namespace alate::graph {

/// `activation` of every element of x, in x's dtype.
Value apply_activation(Builder& b, Activation activation, Value x);

}  // namespace alate::graph
