#include "graph/graph_dump.h"

#include <fstream>
#include <string>
#include <system_error>

#include "alate/error.h"
#include "graph/text/text.h"

namespace alate::graph {

GraphDump::GraphDump(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw make_error(ErrorCode::unavailable, "cannot make the folder '", folder_.string(),
                     "' for graphs: ", error.message());
  }
}

void GraphDump::write(std::string_view name, const Graph& graph) {
  const std::lock_guard lock(mutex_);
  const std::string number = std::to_string(next_++);
  const std::filesystem::path path =
      folder_ / ((number.size() < 2 ? "0" : "") + number + "_" + std::string(name) + ".txt");
  std::ofstream file(path, std::ios::binary);
  file << print_graph(graph);
  file.close();
  if (!file) throw make_error(ErrorCode::unavailable, "cannot write the graph to '", path.string(), "'");
}

}  // namespace alate::graph
