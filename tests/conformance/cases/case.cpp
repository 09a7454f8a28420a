#include "tests/conformance/cases/case.h"

#include "alate/error.h"
#include "graph/text/text_attributes.h"
#include "graph/text/text_lexer.h"

namespace alate::conformance {
namespace {

constexpr std::string_view kViews[] = {"plain", "transposed", "strided", "broadcast"};
constexpr std::int64_t kLargestNamed = 4096;

// Where Dim::of_id(n) is named "dn", for printing and parsing.
graph::DimTable& extents_by_name() {
  static graph::DimTable table;
  static const bool is_filled = [] {
    for (std::int64_t extent = 0; extent <= kLargestNamed; ++extent) table.named("d" + std::to_string(extent));
    return true;
  }();
  (void)is_filled;
  return table;
}

std::string print_operand(const Operand& operand) {
  std::string text = operand.is_constant ? "const " : "";
  graph::print_shape(text, operand.shape, extents_by_name());
  text += ":" + operand.values.name;
  if (operand.values.limit != 0) text += "(" + std::to_string(operand.values.limit) + ")";
  if (operand.view != View::plain) text += ":" + std::string(kViews[static_cast<std::size_t>(operand.view)]);
  return text;
}

Operand parse_operand(graph::Lexer& lexer) {
  Operand operand;
  operand.is_constant = lexer.take_word("const");
  operand.shape = graph::parse_shape(lexer, &extents_by_name());
  if (!lexer.take_mark(':')) return operand;
  operand.values.name = lexer.word("a kind of values");
  if (lexer.take_mark('(')) {
    operand.values.limit = lexer.integer("a limit");
    lexer.expect_mark(')');
  }
  if (!lexer.take_mark(':')) return operand;
  const graph::Token token = lexer.next();
  for (std::size_t i = 0; i < std::size(kViews); ++i) {
    if (token.text == kViews[i]) {
      operand.view = static_cast<View>(i);
      return operand;
    }
  }
  lexer.fail(token, "is not a view: plain, transposed, strided or broadcast");
}

}  // namespace

std::string print_case(const Case& subject) {
  std::string text(to_string(subject.op));
  text += '(';
  for (std::size_t i = 0; i < subject.operands.size(); ++i)
    text += (i == 0 ? "" : ", ") + print_operand(subject.operands[i]);
  text += ')';
  graph::print_attributes(text, subject.attributes, extents_by_name());
  for (std::size_t i = 0; i < subject.regions.size(); ++i) text += (i == 0 ? " regions=" : ",") + subject.regions[i];
  return text + " seed=" + std::to_string(subject.seed);
}

Case parse_case(std::string_view text) {
  graph::Lexer lexer(text);
  const graph::Token name = lexer.peek();
  const std::optional<graph::Op> op = graph::parse_op(lexer.word("an op"));
  if (!op) lexer.fail(name, "is not an op of the table");
  Case subject;
  subject.op = *op;
  graph::parse_list(lexer, '(', ')', 1024, [&] { subject.operands.push_back(parse_operand(lexer)); });
  subject.attributes = graph::parse_attributes(lexer, *op, &extents_by_name());
  if (lexer.take_word("regions")) {
    lexer.expect_mark('=');
    do subject.regions.emplace_back(lexer.word("a region"));
    while (lexer.take_mark(','));
  }
  if (lexer.take_word("seed")) {
    lexer.expect_mark('=');
    subject.seed = static_cast<std::uint64_t>(lexer.integer("a seed"));
  }
  if (lexer.peek().kind != graph::TokenKind::end) lexer.fail_expecting("the end of the case");
  return subject;
}

Shape shape_at_run(const Shape& shape) {
  Shape numbers = shape;
  for (Dim& dim : numbers.dims) dim = dim.is_number() ? dim : Dim(dim.id());
  return numbers;
}

std::int64_t elements_of(const Case& subject) {
  std::int64_t count = 0;
  for (const Operand& operand : subject.operands) count += shape_at_run(operand.shape).element_count();
  return count;
}

}  // namespace alate::conformance
