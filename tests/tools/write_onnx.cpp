// Writes graphs as ONNX models, for tests/golden/check_onnx.py.
//
//   alate-write-onnx OPSET FOLDER [BYTES]
//
// Makes NAME.onnx of every FOLDER/NAME.graph, a graph in text form; prints "NAME written" or "NAME refused REASON".
// Constants of over BYTES are left to be given by their names.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "alate/error.h"
#include "exchange/onnx_writer.h"
#include "graph/text/text.h"

namespace {

void write(const std::filesystem::path& path, const alate::exchange::OnnxOptions& options) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const alate::graph::Graph graph = alate::graph::parse_graph(text);
  const alate::exchange::OnnxModel model = alate::exchange::write_onnx(graph, options);
  std::ofstream out(std::filesystem::path(path).replace_extension(".onnx"), std::ios::binary);
  out.write(model.bytes.data(), static_cast<std::streamsize>(model.bytes.size()));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3 && count != 4) {
    std::cerr << "usage: alate-write-onnx OPSET FOLDER [BYTES]\n";
    return 2;
  }
  alate::exchange::OnnxOptions options;
  options.opset = std::stoi(arguments[1]);
  options.inline_constant_bytes = count == 4 ? std::stoull(arguments[3]) : std::numeric_limits<std::size_t>::max();
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[2])) {
    if (entry.path().extension() == ".graph") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    std::cout << path.stem().string();
    try {
      write(path, options);
      std::cout << " written\n";
    } catch (const alate::Error& error) {
      std::cout << " refused " << error.what() << '\n';
    }
  }
  return 0;
}
