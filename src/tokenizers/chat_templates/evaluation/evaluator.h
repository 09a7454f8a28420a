// Runs the syntax tree of a template.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizers/chat_templates/syntax/syntax.h"
#include "tokenizers/chat_templates/values/object.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

using Variables = std::map<std::string, Value, std::less<>>;

/// The variables of a function while it runs; `outer` is that of the function in whose text it stands. One that is
/// captured lives until the rendering ends, others until the function ends.
struct Activation {
  Activation* outer;
  Values slots;
  bool is_captured = false;
};

/// Bytes of the result that a {% generation %} block made.
struct GeneratedPart {
  std::size_t begin, end;
};

/// Renders once. Errors are those of Rendering, and of raise_exception with the template's own message.
class Evaluator : public Rendering {
 public:
  /// `syntax` must outlive it; see Rendering for the others.
  Evaluator(const Syntax& syntax, std::string_view what, Budget& budget, Variables variables, Clock::time_point now);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  std::string render();
  const std::vector<GeneratedPart>& generated() const { return generated_; }

  // For macros and loops.
  Value run_macro(const Statement& statement, Activation& defined_in, Arguments arguments);
  Value run_recursive_loop(const Statement& statement, const Activation& own, const Value& iterable, int depth);
  /// The item of a loop if its condition holds; where the loop has several targets, as a tuple of what they got.
  std::optional<Value> passed(const Statement& loop, Activation& activation, const Value& item);

 private:
  enum class Flow : std::uint8_t { normal, break_loop, continue_loop };
  class OutputGuard;
  class ActivationGuard;

  Flow execute(const Statements& statements);
  Flow execute(const Statement& statement);
  void execute_output(const Statement& statement);
  Flow execute_condition(const Statement& statement);
  Flow execute_loop(const Statement& statement, const Value& iterable, int depth);
  std::string rendered_loop(const Statement& statement, const Value& iterable, int depth);
  Flow execute_set_block(const Statement& statement);
  void execute_call_block(const Statement& statement);
  void execute_generation(const Statement& statement);
  Flow execute_filter_block(const Statement& statement);
  Flow execute_with(const Statement& statement);
  void execute_block(const Statement& statement);
  Flow execute_autoescape(const Statement& statement);
  Flow capture(const Statements& body, Value& text);

  void enter(const Scope& scope);
  void leave(const Scope& scope);
  Value lookup(std::string_view name);
  Activation& captured_activation();
  Value& slot(Variable variable);
  void assign(const Expression& target, const Value& value);
  void check_targets(const Expression& target);
  Value value_of(const Expression& target);

  Value evaluate(const Expression& expression);
  Value evaluate_name(const Expression& expression);
  Value evaluate_sequence(const Expression& expression);
  Value evaluate_mapping(const Expression& expression);
  Value evaluate_item(const Expression& expression);
  Value evaluate_slice(const Expression& expression);
  Value evaluate_call(const Expression& expression, const Value* caller);
  Value evaluate_filter(const Expression& expression, const Value* body);
  Value evaluate_test(const Expression& expression);
  Value evaluate_arithmetic(const Expression& expression);
  Value evaluate_concatenation(const Expression& expression);
  Value evaluate_comparison(const Expression& expression);
  Value evaluate_junction(const Expression& expression);
  Value evaluate_conditional(const Expression& expression);
  Arguments evaluate_arguments(const CallArguments& arguments, const Value* caller = nullptr);

  const Syntax& syntax_;
  Variables variables_;
  std::vector<std::unique_ptr<Activation>> activations_;
  Activation* activation_ = nullptr;
  Builder* out_ = nullptr;
  Builder* root_out_ = nullptr;
  std::vector<GeneratedPart> generated_;
};

}  // namespace alate::tokenizers::chat_templates
