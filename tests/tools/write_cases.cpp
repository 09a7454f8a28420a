// Writes cases of the conformance suite with the reference's results, for tests/golden/check_onnx.py --file.
//
//   alate-write-cases OPS SEED FILE.safetensors
//
// OPS is a regular expression of whole names. For each op and main dtype some of the small cases: metadata "OP DTYPE I"
// is the graph, tensors "OP DTYPE I/inN" and "/outN" are its inputs and the reference interpreter's outputs.
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "alate/error.h"
#include "formats/safetensors/safetensors_writer.h"
#include "graph/interpreter.h"
#include "graph/text/text.h"
#include "tests/conformance/cases/cases.h"
#include "tests/conformance/cases/module.h"

namespace {

using namespace alate;

constexpr DType kMainDTypes[] = {DType::boolean, DType::i32, DType::i64, DType::f32, DType::f64};
constexpr std::size_t kMostCases = 60;
constexpr std::int64_t kMostElements = 2000;

// The file's format lacks some dtypes; complex numbers go as pairs, as ONNX models have them.
std::optional<Tensor> storable(const Tensor& tensor) {
  Shape shape = tensor.shape();
  if (is_complex(shape.dtype)) {
    shape.dtype = shape.dtype == DType::c64 ? DType::f32 : DType::f64;
    shape.dims.push_back(2);
    return Tensor::borrow(shape, tensor.bytes().data(), std::make_shared<Tensor>(tensor));
  }
  constexpr graph::DTypeSet kStorable =
      (graph::kInts & ~(graph::set_of(DType::i4) | graph::set_of(DType::u4))) | graph::kBool | graph::kFloats;
  return graph::contains(kStorable, shape.dtype) ? std::optional(tensor) : std::nullopt;
}

class Recorder {
 public:
  void add(const std::string& name, const conformance::Case& subject) {
    const conformance::Module module = conformance::make_module(std::span(&subject, 1));
    for (const graph::ConstantPtr& constant : module.graph.constants()) {
      if (constant->shape.byte_count() > graph::kInlineConstantBytes) return;  // the text has no room for it
    }
    const std::vector<Tensor> outputs = graph::interpret(module.graph, module.inputs, base::Cancellation::never());
    std::vector<formats::NamedTensor> tensors;
    const auto keep = [&](const std::vector<Tensor>& all, const char* port) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::optional<Tensor> tensor = storable(all[i]);
        if (!tensor) return false;
        tensors.push_back({name + port + std::to_string(i), *tensor});
      }
      return true;
    };
    if (!keep(module.inputs, "/in") || !keep(outputs, "/out")) return;
    metadata_[name] = graph::print_graph(module.graph);
    tensors_.insert(tensors_.end(), tensors.begin(), tensors.end());
  }
  void write(const char* path) const { formats::write_safetensors(path, tensors_, metadata_); }

 private:
  std::map<std::string, std::string> metadata_;
  std::vector<formats::NamedTensor> tensors_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: alate-write-cases OPS SEED FILE\n";
    return 2;
  }
  const std::regex ops(arguments[1]);
  Recorder recorder;
  for (const graph::OpInfo& op : graph::all_ops()) {
    if (op.kind == graph::OpKind::leaf || !std::regex_match(std::string(op.name), ops)) continue;
    for (const DType dtype : kMainDTypes) {
      if (!graph::contains(op.dtypes, dtype)) continue;
      std::vector<conformance::Case> cases = conformance::cases_of(op, dtype, std::stoull(arguments[2]), 64);
      std::erase_if(cases, [](const auto& one) { return conformance::elements_of(one) > kMostElements; });
      const std::size_t step = cases.size() / kMostCases + 1;
      for (std::size_t i = 0; i < cases.size(); i += step) {
        const std::string name = std::string(op.name) + " " + std::string(to_string(dtype)) + " " + std::to_string(i);
        try {
          recorder.add(name, cases[i]);
        } catch (const Error& error) {
          std::cerr << name << ": " << error.what() << '\n';
        }
      }
    }
  }
  recorder.write(arguments[3]);
  return 0;
}
