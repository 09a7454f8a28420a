// Axis permutations: entry i is the source of axis i.
#pragma once

#include "graph/builder.h"

namespace alate::graph {

inline bool is_identity(const Numbers& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

/// first[second[i]] for each i: the permutation of a transpose by `first`, then by `second`.
inline Numbers composed(const Numbers& first, const Numbers& second) {
  Numbers result;
  for (const std::int64_t place : second) result.push_back(first.at(static_cast<std::size_t>(place)));
  return result;
}

inline Numbers inverse(const Numbers& permutation) {
  Numbers result(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    result[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return result;
}

/// The value itself for the identity.
inline Value transpose_by(Builder& b, Value value, const Numbers& permutation) {
  return is_identity(permutation) ? value : b.transpose({value}, {.permutation = permutation});
}

}  // namespace alate::graph
