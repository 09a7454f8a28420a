#include <algorithm>
#include <map>

#include "graph/text/text.h"
#include "graph/text/text_attributes.h"
#include "graph/text/text_values.h"
#include "tensor/packed.h"

namespace alate::graph {
namespace {

class Printer {
 public:
  explicit Printer(const Graph& graph) : dims_(graph.dims()) {}

  std::string print(const Graph& graph) {
    print_body(graph, true);
    return std::move(out_) + "\n";
  }

 private:
  void line() {
    out_ += '\n';
    out_.append(2 * indent_, ' ');
  }

  template <typename Things, typename PrintOne>
  void print_list(const Things& things, PrintOne print_one) {
    out_ += '(';
    for (std::size_t i = 0; i < things.size(); ++i) {
      if (i > 0) out_ += ", ";
      print_one(things[i]);
    }
    out_ += ')';
  }

  void print_value(const Graph& graph, Value value) {
    out_ += "%" + std::to_string(value.node);
    if (graph.node(value.node).results.size() != 1) out_ += "." + std::to_string(value.result);
  }

  void print_dim(const NamedDim& dim) {
    line();
    out_ += "dim " + quoted_unless_word(dim.name) + " min " + std::to_string(dim.min);
    if (dim.max) out_ += " max " + std::to_string(*dim.max);
    if (dim.paddable) out_ += " paddable";
  }

  void print_elements(const Tensor& tensor) {
    const std::span<const std::byte> bytes = tensor.bytes();
    const Tensor whole = tensor::unpacked(tensor);
    // A bool's byte must be 0 or 1, and bits after the last packed element must be 0.
    const bool is_plain =
        tensor.dtype() == DType::boolean
            ? std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte <= std::byte{1}; })
            : std::ranges::equal(tensor::packed(whole, tensor.dtype()).bytes(), bytes);
    if (!has_text_form(tensor.dtype()) || !is_plain) {
      out_ += " bytes " + quoted(hexadecimal(bytes));
      return;
    }
    const std::span<const std::byte> elements = whole.bytes();
    const std::size_t size = bits_of(whole.dtype()) / 8;
    out_ += " [";
    for (std::size_t at = 0; at < elements.size(); at += size) {
      if (at > 0) out_ += ',';
      print_element(out_, tensor.dtype(), elements.data() + at);
    }
    out_ += ']';
  }

  void print_leaf(const Constant& constant) {
    out_ += quoted(constant.name) + " : ";
    print_shape(out_, constant.shape, dims_);
    const bool is_inline = !constant.tensor.empty() && constant.tensor.byte_count() <= kInlineConstantBytes;
    if (is_inline) print_elements(constant.tensor);
    if (!is_inline || make_constant(constant.name, constant.tensor)->identity != constant.identity)
      out_ += " identity " + quoted(to_string(constant.identity));
  }

  // The number of the constant; a new one is printed first, after its operands.
  std::size_t number_of(const ConstantPtr& constant) {
    const auto found = constants_.find(constant.get());
    if (found != constants_.end()) return found->second;
    std::vector<std::size_t> operands;
    for (const ConstantPtr& operand : constant->operands) operands.push_back(number_of(operand));
    const std::size_t number = constants_.size();
    constants_.emplace(constant.get(), number);
    line();
    out_ += "@" + std::to_string(number) + " = ";
    if (constant->is_leaf()) {
      print_leaf(*constant);
      return number;
    }
    out_ += to_string(constant->op);
    print_list(operands, [&](std::size_t operand) { out_ += "@" + std::to_string(operand); });
    print_attributes(out_, constant->attributes, dims_);
    out_ += " : ";
    print_shape(out_, constant->shape, dims_);
    return number;
  }

  void print_node(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    const auto place = [&] { return static_cast<std::size_t>(std::get<Index>(node.attributes).index); };
    const std::size_t constant = node.op == Op::constant ? number_of(graph.constants()[place()]) : 0;
    line();
    out_ += "%" + std::to_string(id) + " = ";
    out_ += to_string(node.op);
    if (node.op == Op::parameter) {
      const Parameter& parameter = graph.parameters()[place()];
      out_ += " " + quoted(parameter.name) + " : ";
      print_shape(out_, parameter.shape, dims_);
      if (parameter.donatable) out_ += " donatable";
    } else if (node.op == Op::constant) {
      out_ += " @" + std::to_string(constant);
    } else {
      print_list(node.operands, [&](Value operand) { print_value(graph, operand); });
      print_attributes(out_, node.attributes, dims_);
      out_ += " : ";
      const auto print_result = [&](const Shape& shape) { print_shape(out_, shape, dims_); };
      if (node.results.size() == 1) {
        print_result(node.results.front());
      } else {
        print_list(node.results, print_result);
      }
      ++indent_;
      for (const Region& region : node.regions) {
        line();
        print_body(*region, false);
      }
      --indent_;
    }
    if (const std::string& source = graph.source(node.source); !source.empty()) out_ += " from " + quoted(source);
  }

  void print_body(const Graph& graph, bool is_outermost) {
    out_ += "graph " + quoted(graph.name()) + " {";
    ++indent_;
    if (is_outermost) {
      for (const DimId id : dims_.names()) print_dim(dims_[id]);
    }
    for (NodeId id = 0; id < graph.nodes().size(); ++id) print_node(graph, id);
    for (const Output& output : graph.outputs()) {
      line();
      out_ += "output " + quoted(output.name) + " = ";
      print_value(graph, output.value);
      if (output.aliases_parameter) out_ += " aliases " + quoted(graph.parameters()[*output.aliases_parameter].name);
    }
    --indent_;
    line();
    out_ += '}';
  }

  const DimTable& dims_;
  std::map<const Constant*, std::size_t> constants_;
  std::size_t indent_ = 0;
  std::string out_;
};

}  // namespace

std::string print_graph(const Graph& graph) { return Printer(graph).print(graph); }

}  // namespace alate::graph
