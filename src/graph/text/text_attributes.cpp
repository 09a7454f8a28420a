#include "graph/text/text_attributes.h"

#include <bit>
#include <cstring>

#include "alate/error.h"
#include "graph/dim_text.h"
#include "graph/text/text_dims.h"
#include "graph/text/text_values.h"

namespace alate::graph {
namespace {

class FieldPrinter {
 public:
  FieldPrinter(std::string& out, const DimTable& dims) : out_(out), dims_(dims) {}

  void print(std::int64_t value) { out_ += std::to_string(value); }
  void print(bool value) { out_ += value ? "true" : "false"; }
  void print(double value) { print_element(out_, DType::f64, reinterpret_cast<const std::byte*>(&value)); }
  void print(DType value) { out_ += alate::to_string(value); }
  void print(Activation value) { out_ += to_string(value); }
  void print(PoolMode value) { out_ += to_string(value); }
  void print(Reduction value) { out_ += to_string(value); }
  void print(FftKind value) { out_ += to_string(value); }
  void print(RngAlgorithm value) { out_ += to_string(value); }
  void print(tensor::EncodingKind value) { out_ += to_string(value); }
  void print(Dim value) {
    out_ += value.is_number() ? std::to_string(value.number()) : text_of(dims_.form(value), dims_, quoted_unless_word);
  }
  template <typename Element>
  void print(const std::vector<Element>& values) {
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      print(values[i]);
    }
    out_ += ']';
  }

 private:
  std::string& out_;
  const DimTable& dims_;
};

class FieldParser {
 public:
  FieldParser(Lexer& lexer, DimTable* dims) : lexer_(lexer), dims_(dims) {}

  void parse(std::int64_t& value) { value = lexer_.integer("an integer"); }
  void parse(bool& value) {
    if (!lexer_.is_word("true") && !lexer_.is_word("false")) lexer_.fail_expecting("true or false");
    value = lexer_.next().text == "true";
  }
  void parse(double& value) {
    std::byte bytes[sizeof value];
    const TokenKind kind = lexer_.peek().kind;
    if ((kind != TokenKind::number && kind != TokenKind::word) ||
        !parse_element(DType::f64, lexer_.peek().text, bytes)) {
      lexer_.fail_expecting("a number");
    }
    std::memcpy(&value, bytes, sizeof value);
    lexer_.next();
  }
  void parse(DType& value) {
    const std::optional<DType> dtype = parse_dtype(lexer_.peek().text);
    if (lexer_.peek().kind != TokenKind::word || !dtype) lexer_.fail_expecting("a dtype");
    value = *dtype;
    lexer_.next();
  }
  void parse(Activation& value) { parse_enumerator(value, Activation::quick_gelu); }
  void parse(PoolMode& value) { parse_enumerator(value, PoolMode::weighted_mean); }
  void parse(Reduction& value) { parse_enumerator(value, Reduction::bitwise_xor); }
  void parse(FftKind& value) { parse_enumerator(value, FftKind::irfft); }
  void parse(RngAlgorithm& value) { parse_enumerator(value, RngAlgorithm::philox); }
  void parse(tensor::EncodingKind& value) { parse_enumerator(value, tensor::kLastEncoding); }
  void parse(Dim& value) { value = parse_dim(lexer_, dims_); }
  template <typename Element>
  void parse(std::vector<Element>& values) {
    parse_list(lexer_, '[', ']', kMaxAxes, [&] { parse(values.emplace_back()); });
  }

 private:
  template <typename Enum>
  void parse_enumerator(Enum& value, Enum last) {
    const std::string_view word = lexer_.peek().text;
    for (auto number = 0; number <= static_cast<int>(last); ++number) {
      value = static_cast<Enum>(number);
      if (lexer_.peek().kind == TokenKind::word && to_string(value) == word) {
        lexer_.next();
        return;
      }
    }
    lexer_.fail_expecting("a value of this field");
  }

  Lexer& lexer_;
  DimTable* const dims_;
};

Attributes default_attributes(Op op) {
  switch (op) {
#define ALATE_LEAF_OP(name, arity, attributes, ...) \
  case Op::name: return attributes{};
#define ALATE_OP ALATE_LEAF_OP
#define ALATE_REGION_OP ALATE_LEAF_OP
#define ALATE_MULTI_OP ALATE_LEAF_OP
#define ALATE_FUSED_OP ALATE_LEAF_OP
#define ALATE_MULTI_FUSED_OP ALATE_LEAF_OP
#include "graph/ops.def"
  }
  throw make_error(ErrorCode::internal, "an op is not in the op table");
}

}  // namespace

void print_attributes(std::string& out, const Attributes& attributes, const DimTable& dims) {
  FieldPrinter printer(out, dims);
  std::string_view separator = " {";
  const auto print_field = [&](const auto& field, const auto& attribute) {
    if (field.is_absent_from(attribute)) return;
    out += separator;
    out += field.name;
    out += '=';
    printer.print(attribute.*field.member);
    separator = ", ";
  };
  std::visit(
      [&]<typename Struct>(const Struct& attribute) {
        std::apply([&](const auto&... field) { (print_field(field, attribute), ...); }, Struct::fields());
      },
      attributes);
  if (separator == ", ") out += '}';
}

Attributes parse_attributes(Lexer& lexer, Op op, DimTable* dims) {
  FieldParser parser(lexer, dims);
  Attributes attributes = default_attributes(op);
  char before = '{';
  bool is_between = true;  // the next token is `before` or the end, not yet a field's name
  const auto parse_field = [&](const auto& field, auto& value) {
    if (is_between && field.may_be_absent() && !lexer.is_mark(before)) return;
    if (is_between) lexer.expect_mark(before);
    is_between = false;
    if (field.may_be_absent() && !lexer.is_word(field.name)) return;
    lexer.expect_word(!field.former_name.empty() && lexer.is_word(field.former_name) ? field.former_name : field.name);
    lexer.expect_mark('=');
    parser.parse(value);
    before = ',';
    is_between = true;
  };
  std::visit(
      [&]<typename Struct>(Struct& attribute) {
        std::apply([&](const auto&... field) { (parse_field(field, attribute.*field.member), ...); }, Struct::fields());
      },
      attributes);
  if (!is_between) lexer.fail_expecting("a field of this op");
  if (before == ',') lexer.expect_mark('}');
  return attributes;
}

void print_shape(std::string& out, const Shape& shape, const DimTable& dims) {
  FieldPrinter printer(out, dims);
  printer.print(shape.dtype);
  printer.print(shape.dims);
}

Shape parse_shape(Lexer& lexer, DimTable* dims) {
  FieldParser parser(lexer, dims);
  Shape shape;
  parser.parse(shape.dtype);
  parser.parse(shape.dims);
  return shape;
}

}  // namespace alate::graph
