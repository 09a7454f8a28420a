#include <charconv>
#include <map>

#include "alate/error.h"
#include "graph/builder.h"
#include "graph/infer.h"
#include "graph/text/text.h"
#include "graph/text/text_attributes.h"
#include "graph/text/text_parser.h"
#include "graph/text/text_values.h"
#include "tensor/packed.h"

namespace alate::graph {
namespace {

constexpr std::size_t kMostNodes = std::size_t{1} << 20;
constexpr std::size_t kMostOperands = 4096;
constexpr std::size_t kMostParameters = 16384;
constexpr std::size_t kMostDims = 4096;
constexpr int kDeepestGraph = 32;
constexpr int kDeepestConstant = 256;

// A graph under construction.
struct Scope {
  Builder builder;
  std::vector<std::vector<Value>> nodes;  // the results of each
  std::map<std::string, std::size_t> parameters;
};

class Parser {
 public:
  Parser(Lexer& lexer, const ConstantResolver& resolver) : lexer_(lexer), resolver_(resolver) {}

  Graph parse() { return parse_body(nullptr, 0); }

 private:
  struct DefinedConstant {
    ConstantPtr constant;
    int depth;
  };

  Value parse_value(const Scope& scope) {
    const Token token = lexer_.peek();
    if (token.kind != TokenKind::value) lexer_.fail_expecting("a value such as %1");
    lexer_.next();
    const std::size_t dot = token.text.find('.');
    const std::size_t node = lexer_.number_in(token, token.text.substr(1, dot == token.text.npos ? dot : dot - 1));
    const std::size_t result = dot == token.text.npos ? 0 : lexer_.number_in(token, token.text.substr(dot + 1));
    if (node >= scope.nodes.size()) lexer_.fail(token, "the value is not defined before its use");
    if (result >= scope.nodes[node].size()) lexer_.fail(token, "the node has no such result");
    if (dot == token.text.npos && scope.nodes[node].size() != 1)
      lexer_.fail(token, "the node has several results: name one, such as %1.0");
    return scope.nodes[node][result];
  }

  const DefinedConstant& parse_constant_reference() {
    const Token token = lexer_.peek();
    if (token.kind != TokenKind::constant) lexer_.fail_expecting("a constant such as @1");
    lexer_.next();
    const std::size_t number = lexer_.number_in(token, token.text.substr(1));
    if (number >= constants_.size()) lexer_.fail(token, "the constant is not defined before its use");
    return constants_[number];
  }

  Op parse_op_name() {
    const Token token = lexer_.peek();
    const std::optional<Op> op = parse_op(lexer_.word("the name of an op"));
    if (!op || op_info(*op).kind == OpKind::leaf) lexer_.fail(token, "no op of that name can stand here");
    return *op;
  }

  void parse_dim(Scope& scope) {
    const Token token = lexer_.next();
    const std::string name = lexer_.name("the name of a dim");
    lexer_.expect_word("min");
    const std::int64_t min = lexer_.integer("the smallest extent");
    std::optional<std::int64_t> max;
    if (lexer_.take_word("max")) max = lexer_.integer("the largest extent");
    const bool paddable = lexer_.take_word("paddable");
    if (scope.builder.dims()->size() == kMostDims) lexer_.fail(token, "more dims than a text may declare");
    lexer_.at(token, [&] { return scope.builder.dim(name, min, max, paddable); });
  }

  Tensor parse_elements(const Token& start, const Shape& shape) {
    const bool has_bytes = bits_of(shape.dtype) != 0 && shape.is_static();
    const std::size_t size_in_bytes = has_bytes ? lexer_.at(start, [&] { return shape.byte_count(); }) : 0;
    if (!has_bytes || size_in_bytes > kInlineConstantBytes) {
      lexer_.fail(start, "elements stand here only for at most " + std::to_string(kInlineConstantBytes) +
                             " bytes of a dtype that has bytes");
    }
    Tensor tensor = Tensor::zeros(shape);
    const std::span<std::byte> bytes = tensor.mutable_bytes();
    if (lexer_.take_word("bytes")) {
      const Token token = lexer_.peek();
      if (!parse_hexadecimal(lexer_.string("hexadecimal digits"), bytes))
        lexer_.fail(token, "the digits are not those of the shape's bytes");
      return tensor;
    }
    if (!has_text_form(shape.dtype)) lexer_.fail_expecting("bytes: elements of this dtype have no text");
    Tensor whole = Tensor::zeros({tensor::carrier_of(shape.dtype), shape.dims});
    const std::span<std::byte> elements = whole.mutable_bytes();
    const std::size_t size = bits_of(whole.dtype()) / 8;
    std::size_t place = 0;
    const Token list = lexer_.peek();
    parse_list(lexer_, '[', ']', 8 * kInlineConstantBytes, [&] {
      if (place == elements.size()) lexer_.fail(lexer_.peek(), "more elements than the shape has");
      parse_one_element(shape.dtype, elements.data() + place);
      place += size;
    });
    if (place != elements.size()) lexer_.fail(list, "fewer elements than the shape has");
    return tensor::packed(whole, shape.dtype);
  }

  void parse_one_element(DType dtype, std::byte* to) {
    const Token start = lexer_.peek();
    std::string text;
    const auto take_number = [&] {
      const bool is_one = lexer_.peek().kind == TokenKind::number || lexer_.peek().kind == TokenKind::word;
      if (!is_one) lexer_.fail_expecting("an element of dtype " + std::string(alate::to_string(dtype)));
      text += lexer_.next().text;
    };
    if (is_complex(dtype)) {
      lexer_.expect_mark('(');
      text += '(';
      take_number();
      lexer_.expect_mark(',');
      text += ',';
      take_number();
      lexer_.expect_mark(')');
      text += ')';
    } else {
      take_number();
    }
    if (!parse_element(dtype, text, to)) {
      lexer_.fail(start, "expected an element of dtype " + std::string(alate::to_string(dtype)) + ", found " +
                             quoted(text.substr(0, 40)));
    }
  }

  Fingerprint parse_identity() {
    const Token token = lexer_.peek();
    const std::string digits = lexer_.string("an identity");
    Fingerprint identity;
    std::uint64_t* const halves[] = {&identity.high, &identity.low};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string half = digits.size() == 32 ? digits.substr(16 * i, 16) : "";
      const auto [stopped, error] = std::from_chars(half.data(), half.data() + half.size(), *halves[i], 16);
      if (error != std::errc() || stopped != half.data() + half.size())
        lexer_.fail(token, "an identity is 32 hexadecimal digits");
    }
    return identity;
  }

  ConstantPtr parse_leaf() {
    const Token start = lexer_.peek();
    std::string name = lexer_.string("the name of a constant");
    lexer_.expect_mark(':');
    const Shape shape = parse_shape(lexer_, nullptr);
    Tensor tensor;
    const bool has_elements = lexer_.is_mark('[') || lexer_.is_word("bytes");
    if (has_elements) tensor = parse_elements(start, shape);
    std::optional<Fingerprint> identity;
    if (lexer_.take_word("identity")) identity = parse_identity();
    if (has_elements)
      return identity ? make_constant(std::move(name), tensor, *identity) : make_constant(std::move(name), tensor);
    if (!identity) lexer_.fail_expecting("elements or an identity");
    if (!resolver_) lexer_.fail(start, "a constant without elements: give a resolver that finds it");
    ConstantPtr constant = resolver_(name, shape, *identity);
    if (constant == nullptr || constant->shape != shape || constant->identity != *identity)
      lexer_.fail(start, "the constant that was found has another shape or identity");
    return constant;
  }

  DefinedConstant parse_folded() {
    const Token start = lexer_.peek();
    const Op op = parse_op_name();
    std::vector<ConstantPtr> operands;
    std::vector<Shape> shapes;
    int depth = 0;
    parse_list(lexer_, '(', ')', kMostOperands, [&] {
      const DefinedConstant& operand = parse_constant_reference();
      operands.push_back(operand.constant);
      shapes.push_back(operand.constant->shape);
      depth = std::max(depth, operand.depth + 1);
    });
    if (depth > kDeepestConstant) lexer_.fail(start, "a constant is made of constants too many times over");
    Attributes attributes = parse_attributes(lexer_, op, nullptr);
    lexer_.expect_mark(':');
    const Shape shape = parse_shape(lexer_, nullptr);
    DimTable no_dims;
    const std::vector<Shape> inferred = lexer_.at(start, [&] {
      return infer_shapes({op, attributes, shapes, {}, no_dims, {}});
    });
    if (inferred != std::vector<Shape>{shape})
      lexer_.fail(start, "the constant does not have the shape that is stated");
    return {make_constant(op, std::move(attributes), shape, std::move(operands)), depth};
  }

  void parse_constant() {
    const Token token = lexer_.next();
    if (lexer_.number_in(token, token.text.substr(1)) != constants_.size())
      lexer_.fail(token, "constants must be in order");
    if (constants_.size() == kMostNodes) lexer_.fail(token, "more constants than a text may have");
    lexer_.expect_mark('=');
    constants_.push_back(lexer_.peek().kind == TokenKind::string ? DefinedConstant{parse_leaf(), 0} : parse_folded());
  }

  void parse_source(Scope& scope) {
    scope.builder.set_source(lexer_.take_word("from") ? lexer_.string("a source") : std::string());
  }

  Value parse_parameter(Scope& scope, const Token& start) {
    std::string name = lexer_.string("the name of a parameter");
    lexer_.expect_mark(':');
    Shape shape = parse_shape(lexer_, scope.builder.dims().get());
    const bool donatable = lexer_.take_word("donatable");
    parse_source(scope);
    if (scope.parameters.size() == kMostParameters) lexer_.fail(start, "more parameters than a graph may have");
    scope.parameters.emplace(name, scope.parameters.size());
    return lexer_.at(start, [&] { return scope.builder.parameter(std::move(name), std::move(shape), donatable); });
  }

  std::vector<Value> parse_op_node(Scope& scope, const Token& start, int depth) {
    const Op op = parse_op_name();
    std::vector<Value> operands;
    parse_list(lexer_, '(', ')', kMostOperands, [&] { operands.push_back(parse_value(scope)); });
    Attributes attributes = parse_attributes(lexer_, op, scope.builder.dims().get());
    lexer_.expect_mark(':');
    std::vector<Shape> stated;
    if (lexer_.is_mark('(')) {
      parse_list(lexer_, '(', ')', kMostOperands,
                 [&] { stated.push_back(parse_shape(lexer_, scope.builder.dims().get())); });
    } else {
      stated.push_back(parse_shape(lexer_, scope.builder.dims().get()));
    }
    std::vector<Region> regions;
    while (lexer_.is_word("graph"))
      regions.push_back(std::make_shared<const Graph>(parse_body(scope.builder.dims(), depth + 1)));
    parse_source(scope);
    std::vector<Value> values = lexer_.at(
        start, [&] { return scope.builder.emit(op, std::move(operands), std::move(attributes), std::move(regions)); });
    std::vector<Shape> inferred;
    for (const Value value : values) inferred.push_back(scope.builder.shape(value));
    if (inferred != stated) lexer_.fail(start, "the results do not have the shapes that are stated");
    return values;
  }

  void parse_node(Scope& scope, int depth) {
    const Token start = lexer_.next();
    if (lexer_.number_in(start, start.text.substr(1)) != scope.nodes.size())
      lexer_.fail(start, "nodes must be in order");
    if (++nodes_ > kMostNodes) lexer_.fail(start, "more nodes than a text may have");
    lexer_.expect_mark('=');
    std::vector<Value> values;
    if (lexer_.take_word("parameter")) {
      values = {parse_parameter(scope, start)};
    } else if (lexer_.take_word("constant")) {
      const ConstantPtr constant = parse_constant_reference().constant;
      parse_source(scope);
      values = {lexer_.at(start, [&] { return scope.builder.constant(constant); })};
    } else {
      values = parse_op_node(scope, start, depth);
    }
    scope.nodes.push_back(std::move(values));
  }

  void parse_output(Scope& scope) {
    lexer_.next();
    std::string name = lexer_.string("the name of an output");
    lexer_.expect_mark('=');
    const Value value = parse_value(scope);
    std::optional<std::size_t> aliases;
    if (lexer_.take_word("aliases")) {
      const Token token = lexer_.peek();
      const auto found = scope.parameters.find(lexer_.string("the name of a parameter"));
      if (found == scope.parameters.end()) lexer_.fail(token, "the graph has no such parameter");
      aliases = found->second;
    }
    scope.builder.output(std::move(name), value, aliases);
  }

  Graph parse_body(std::shared_ptr<DimTable> dims, int depth) {
    const Token start = lexer_.peek();
    if (depth > kDeepestGraph) lexer_.fail(start, "graphs are nested too deeply");
    lexer_.expect_word("graph");
    Scope scope{Builder(lexer_.string("the name of a graph"), std::move(dims)), {}, {}};
    lexer_.expect_mark('{');
    while (depth == 0 && lexer_.is_word("dim")) parse_dim(scope);
    while (!lexer_.take_mark('}')) {
      if (lexer_.peek().kind == TokenKind::constant) {
        parse_constant();
      } else if (lexer_.peek().kind == TokenKind::value) {
        parse_node(scope, depth);
      } else if (lexer_.is_word("output")) {
        parse_output(scope);
      } else {
        lexer_.fail_expecting("a node, a constant, an output or '}'");
      }
    }
    return lexer_.at(start, [&] { return scope.builder.finish(); });
  }

  Lexer& lexer_;
  const ConstantResolver& resolver_;
  std::vector<DefinedConstant> constants_;
  std::size_t nodes_ = 0;
};

}  // namespace

Graph parse_graph(Lexer& lexer, const ConstantResolver& resolver) { return Parser(lexer, resolver).parse(); }

Graph parse_graph(std::string_view text, const ConstantResolver& resolver) {
  Lexer lexer(text);
  Graph graph = parse_graph(lexer, resolver);
  if (lexer.peek().kind != TokenKind::end) lexer.fail_expecting("the end of the text");
  return graph;
}

}  // namespace alate::graph
