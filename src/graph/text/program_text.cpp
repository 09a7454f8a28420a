#include "graph/text/program_text.h"

#include <utility>

#include "alate/error.h"
#include "graph/text/text_attributes.h"
#include "graph/text/text_parser.h"

namespace alate::graph {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 16;
constexpr int kDeepestText = 16;

std::string indented(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

std::string value_text(ProgramValue value) { return "%" + std::to_string(value); }

std::string list_text(std::span<const ProgramValue> values) {
  std::string text;
  for (const ProgramValue value : values) text += (text.empty() ? "" : ", ") + value_text(value);
  return text;
}

std::string program_text(const Program& program);

std::string step_text(const ProgramStep& step) {
  if (const auto* run = std::get_if<RunGraph>(&step.what)) {
    std::string text = print_graph(*run->graph);
    text.pop_back();  // the end of its last line
    return "run " + text;
  }
  if (const auto* host = std::get_if<RunHostOp>(&step.what)) return std::string(to_string(host->op));
  if (const auto* loop = std::get_if<While>(&step.what))
    return "while " + program_text(*loop->condition) + " " + program_text(*loop->body);
  const auto& branch = std::get<If>(step.what);
  return "if " + program_text(*branch.then) + " " + program_text(*branch.otherwise);
}

std::string program_text(const Program& program) {
  std::string text = "program " + quoted(program.name()) + " {";
  for (const ProgramPort& input : program.inputs())
    text += "\n  " + value_text(input.value) + " = input " + quoted(input.name) + " : " +
            to_string(program.types()[input.value]);
  for (const ProgramStep& step : program.steps())
    text += "\n  " + list_text(step.results) + " = " + indented(step_text(step)) + " (" + list_text(step.inputs) + ")";
  for (const ProgramPort& output : program.outputs())
    text += "\n  output " + quoted(output.name) + " = " + value_text(output.value);
  return text + "\n}";
}

class ProgramParser {
 public:
  ProgramParser(Lexer& lexer, const ConstantResolver& resolver) : lexer_(lexer), resolver_(resolver) {}

  Program parse(int depth) {
    if (depth > kDeepestText) lexer_.fail(lexer_.peek(), "programs are nested too deeply");
    lexer_.expect_word("program");
    ProgramBuilder builder(lexer_.string("the name of a program"));
    std::size_t values = 0;
    lexer_.expect_mark('{');
    while (!lexer_.take_mark('}')) {
      if (lexer_.take_word("output")) {
        parse_output(builder, values);
      } else if (lexer_.peek().kind == TokenKind::value) {
        parse_step(builder, values, depth);
      } else {
        lexer_.fail_expecting("a step, an output or '}'");
      }
    }
    return builder.finish();
  }

 private:
  ProgramValue parse_value(std::size_t below) {
    const Token token = lexer_.peek();
    if (token.kind != TokenKind::value) lexer_.fail_expecting("a value such as %1");
    lexer_.next();
    const std::size_t value = lexer_.number_in(token, token.text.substr(1));
    if (value >= below) lexer_.fail(token, "the value is not defined before its use");
    return static_cast<ProgramValue>(value);
  }

  void parse_output(ProgramBuilder& builder, std::size_t values) {
    const Token token = lexer_.peek();
    std::string name = lexer_.string("the name of an output");
    lexer_.expect_mark('=');
    const ProgramValue value = parse_value(values);
    lexer_.at(token, [&] { builder.output(std::move(name), value); });
  }

  ValueType parse_type() {
    const Token token = lexer_.peek();
    const std::optional<DType> dtype = parse_dtype(lexer_.word("a dtype"));
    if (!dtype) lexer_.fail(token, "no dtype has that name");
    ValueType type{*dtype, {}};
    parse_list(lexer_, '[', ']', kMaxAxes, [&] {
      const Token extent = lexer_.peek();
      type.extents.push_back(lexer_.take_mark('?') ? ValueType::kAny : lexer_.integer("an extent or '?'"));
      if (extent.kind == TokenKind::number && type.extents.back() < 0) lexer_.fail(extent, "an extent is negative");
    });
    return type;
  }

  std::vector<ProgramValue> parse_operands(std::size_t values) {
    std::vector<ProgramValue> operands;
    parse_list(lexer_, '(', ')', kMostValues, [&] { operands.push_back(parse_value(values)); });
    return operands;
  }

  // The numbers of results, which must be the next ones.
  std::size_t parse_results(std::size_t values) {
    std::size_t count = 0;
    do {
      const Token token = lexer_.peek();
      if (parse_value(kMostValues) != values + count) lexer_.fail(token, "values must be in order");
      ++count;
    } while (lexer_.take_mark(','));
    return count;
  }

  std::shared_ptr<const Program> parse_part(int depth) { return std::make_shared<const Program>(parse(depth + 1)); }

  void parse_step(ProgramBuilder& builder, std::size_t& values, int depth) {
    const Token start = lexer_.peek();
    const std::size_t stated = parse_results(values);
    lexer_.expect_mark('=');
    std::vector<ProgramValue> made;
    if (lexer_.take_word("input")) {
      std::string name = lexer_.string("the name of an input");
      lexer_.expect_mark(':');
      ValueType type = parse_type();
      made = {lexer_.at(start, [&] { return builder.input(std::move(name), std::move(type)); })};
    } else if (lexer_.take_word("run")) {
      const auto graph = std::make_shared<const Graph>(parse_graph(lexer_, resolver_));
      std::vector<ProgramValue> operands = parse_operands(values);
      made = lexer_.at(start, [&] { return builder.run(graph, std::move(operands)); });
    } else if (lexer_.is_word("while") || lexer_.is_word("if")) {
      const bool is_loop = lexer_.next().text == "while";
      const auto first = parse_part(depth), second = parse_part(depth);
      std::vector<ProgramValue> operands = parse_operands(values);
      made = lexer_.at(start, [&] {
        return is_loop ? builder.while_loop(std::move(operands), first, second)
                       : builder.if_else(std::move(operands), first, second);
      });
    } else {
      const Token token = lexer_.peek();
      const std::optional<HostOp> op = parse_host_op(lexer_.word("a step"));
      if (!op) lexer_.fail(token, "no step of that name can stand here");
      std::vector<ProgramValue> operands = parse_operands(values);
      made = lexer_.at(start, [&] { return builder.host(*op, std::move(operands)); });
    }
    if (made.size() != stated) lexer_.fail(start, "the step has " + std::to_string(made.size()) + " results");
    values += made.size();
  }

  Lexer& lexer_;
  const ConstantResolver& resolver_;
};

}  // namespace

std::string print_program(const Program& program) { return program_text(program) + "\n"; }

Program parse_program(std::string_view text, const ConstantResolver& resolver) {
  Lexer lexer(text);
  Program program = ProgramParser(lexer, resolver).parse(0);
  if (lexer.peek().kind != TokenKind::end) lexer.fail_expecting("the end of the text");
  return program;
}

}  // namespace alate::graph
