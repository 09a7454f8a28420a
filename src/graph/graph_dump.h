// Debug dumps of graphs in the text form, one file after each pass.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/threads/mutex.h"
#include "graph/graph.h"

namespace alate::graph {

/// Thread-safe.
class GraphDump {
 public:
  /// Creates the folder if it does not exist. Throws resource_exhausted if the disk is full, otherwise unavailable.
  explicit GraphDump(std::filesystem::path folder);
  /// Writes FOLDER/NN_NAME.txt, where NN counts files from 00 across all compiled graphs. Throws as the
  /// constructor if the file cannot be written.
  void write(std::string_view name, const Graph& graph);

 private:
  std::filesystem::path folder_;
  base::Mutex mutex_;
  int next_ = 0;
};

}  // namespace alate::graph
