#include "graph/graph_dump.h"

#include <span>
#include <string>
#include <system_error>

#include "alate/error.h"
#include "base/files/atomic_file.h"
#include "base/files/write_error.h"
#include "graph/text/text.h"

namespace alate::graph {

GraphDump::GraphDump(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw make_error(base::write_error_code(error), "cannot make the folder '", folder_.string(),
                     "' for graphs: ", error.message());
  }
}

void GraphDump::write(std::string_view name, const Graph& graph) {
  const std::lock_guard lock(mutex_);
  const std::string number = std::to_string(next_++);
  const std::filesystem::path path =
      folder_ / ((number.size() < 2 ? "0" : "") + number + "_" + std::string(name) + ".txt");
  const std::string text = print_graph(graph);
  base::write_file_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace alate::graph
