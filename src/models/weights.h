// The weights of a model folder, by the names that an architecture knows them by.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors_model.h"
#include "graph/builder.h"

namespace alate::models {

/// Gives weights as constants of a graph, in float32 whatever they are stored in. Knows the prefix that a checkpoint of
/// a larger model puts before the names of the base model, and older spellings of names. Not thread-safe.
class Weights {
 public:
  /// `prefix` ("bert.") is taken off where the file's names have it.
  Weights(const formats::SafetensorsModel& file, std::string prefix);

  bool has(std::string_view name) const { return !stored_name(name).empty(); }
  /// Throws not_found naming the weight, corrupt when the shape is another.
  graph::Value get(graph::Builder& b, std::string_view name, std::vector<std::int64_t> extents);
  /// The number of rows of a matrix, for weights whose width only the file knows. Throws not_found, corrupt when it is
  /// no matrix.
  std::int64_t rows(std::string_view name) const;

  /// Stored names that nothing has asked for.
  std::vector<std::string> unused() const;
  /// Over all weights of the file: what the model is, without reading it.
  Fingerprint fingerprint() const;

 private:
  /// The extents of a weight. Throws not_found.
  std::vector<std::int64_t> extents(std::string_view name) const;
  /// The name in the file: as given, with or without the prefix, or in an older spelling; empty where there is none.
  std::string stored_name(std::string_view name) const;

  const formats::SafetensorsModel& file_;
  std::string prefix_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace alate::models
