#include "graph/text/text_dims.h"

#include <string>

#include "alate/error.h"

namespace alate::graph {
namespace {

constexpr int kDeepestForm = 64;

class FormParser {
 public:
  FormParser(Lexer& lexer, DimTable& dims) : lexer_(lexer), dims_(dims) {}

  // A sum; a negative term follows without a sign between: "tokens-3".
  DimForm form(int depth) {
    if (depth > kDeepestForm) lexer_.fail(lexer_.peek(), "a size is nested too deeply");
    DimForm sum = term(depth);
    while (lexer_.take_mark('+') || is_negative(lexer_.peek())) sum = sum + term(depth);
    return sum;
  }

 private:
  static bool is_negative(const Token& token) { return token.kind == TokenKind::number && token.text.starts_with('-'); }

  DimForm term(int depth) {
    DimForm product = factor(depth);
    while (true) {
      if (lexer_.take_mark('*')) {
        product = dims_.product(product, factor(depth));
      } else if (lexer_.take_mark('/')) {
        const Token token = lexer_.peek();
        const std::int64_t by = lexer_.integer("a divisor");
        if (by <= 0) lexer_.fail(token, "a divisor is not positive");
        product = dims_.quotient(product, by);
      } else {
        return product;
      }
    }
  }

  DimForm factor(int depth) {
    const Token token = lexer_.peek();
    if (token.kind == TokenKind::number) return lexer_.integer("an extent");
    if (lexer_.take_mark('(')) {
      DimForm inner = form(depth + 1);
      lexer_.expect_mark(')');
      return inner;
    }
    const bool may_be_call = token.kind == TokenKind::word && (token.text == "min" || token.text == "max");
    const std::string name = lexer_.name("an extent or the name of a dim");
    if (may_be_call && lexer_.take_mark('(')) return call(name == "min", depth);
    const std::optional<Dim> dim = dims_.find(name);
    if (!dim) lexer_.fail(token, "the dim is not declared");
    return dims_.form(*dim);
  }

  DimForm call(bool is_min, int depth) {
    const DimForm a = form(depth + 1);
    lexer_.expect_mark(',');
    const DimForm b = form(depth + 1);
    lexer_.expect_mark(')');
    return is_min ? dims_.smaller(a, b) : dims_.larger(a, b);
  }

  Lexer& lexer_;
  DimTable& dims_;
};

}  // namespace

Dim parse_dim(Lexer& lexer, DimTable* dims) {
  const Token start = lexer.peek();
  DimTable none;
  DimTable& table = dims == nullptr ? none : *dims;
  try {
    const DimForm form = FormParser(lexer, table).form(0);
    if (form.is_number() && form.plus < 0) lexer.fail(start, "an extent is negative");
    return table.of(form);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::resource_exhausted) throw;
    lexer.fail(start, error.message());
  }
}

}  // namespace alate::graph
