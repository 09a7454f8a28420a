// Writes the graphs of tests/golden/ops as StableHLO, for tests/golden/check_stablehlo.py:
//
//   write_stablehlo FOLDER FILE.safetensors...     FOLDER/FILE/N.mlir of case N, or N.unsupported with the reason
//   write_stablehlo FOLDER FILE.txt...             FOLDER/FILE.mlir of a graph in text form without named dims
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "alate/error.h"
#include "exchange/stablehlo.h"
#include "formats/safetensors/safetensors.h"
#include "graph/decompose.h"
#include "graph/text/text.h"

namespace {

using namespace alate;

void write_graph(const std::string& text, const std::filesystem::path& stem) {
  const graph::Graph graph =
      graph::decompose(graph::parse_graph(text), [](const graph::Graph&, const graph::Node&) { return false; });
  std::string ending = ".mlir", content;
  try {
    content = exchange::write_stablehlo(graph, graph::DimValues(graph.dims())).text;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    ending = ".unsupported";
    content = error.message() + "\n";
  }
  std::ofstream(stem.string() + ending) << content;
}

void write_cases(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const std::filesystem::path stem = folder / path.stem();
  if (path.extension() != ".safetensors") {
    std::ifstream file(path);
    write_graph({std::istreambuf_iterator<char>(file), {}}, stem);
    return;
  }
  std::filesystem::create_directories(stem);
  const auto file = formats::SafetensorsFile::open(path);
  for (const auto& [number, text] : file->metadata()) write_graph(text, stem / number);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: write_stablehlo FOLDER FILE...\n");
    return 2;
  }
  try {
    for (int i = 2; i < count; ++i) write_cases(arguments[1], arguments[i]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_stablehlo: %s\n", error.what());
    return 1;
  }
  return 0;
}
