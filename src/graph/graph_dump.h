// Graphs in the text form, one file after each pass: for people who want to see what passes do.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/threads/mutex.h"
#include "graph/graph.h"

namespace alate::graph {

/// Thread-safe.
class GraphDump {
 public:
  /// Makes the folder where there is none. Throws unavailable when that fails.
  explicit GraphDump(std::filesystem::path folder);
  /// Writes FOLDER/NN_NAME.txt, where NN counts the files from 00, also over several graphs that are compiled. Throws
  /// unavailable when the file cannot be written.
  void write(std::string_view name, const Graph& graph);

 private:
  std::filesystem::path folder_;
  base::Mutex mutex_;
  int next_ = 0;
};

}  // namespace alate::graph
