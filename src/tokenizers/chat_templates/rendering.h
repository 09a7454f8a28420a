// One rendering of a template: the evaluator.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "tokenizers/chat_templates/budget.h"
#include "tokenizers/chat_templates/object.h"
#include "tokenizers/chat_templates/syntax.h"
#include "tokenizers/chat_templates/value.h"

namespace alate::tokenizers::chat_templates {

using Variables = std::map<std::string, Value, std::less<>>;

/// The variables of a function while it runs; `outer` is that of the function in whose text it stands.
struct Activation {
  Activation* outer;
  Values slots;
};

/// Bytes of the result that a {% generation %} block made.
struct GeneratedPart {
  std::size_t begin, end;
};

/// Not thread-safe; renders once. Errors are invalid_argument with the template's line, or with the template's own
/// message from raise_exception; resource_exhausted for a template that does too much.
class Rendering {
 public:
  class Nesting;
  using Clock = std::chrono::system_clock;

  /// `syntax` must outlive it. `budget` must outlive all values. `now` is what strftime_now sees.
  Rendering(const Syntax& syntax, std::string_view what, Budget& budget, Variables variables, Clock::time_point now);
  ~Rendering();
  Rendering(const Rendering&) = delete;
  Rendering& operator=(const Rendering&) = delete;

  std::string render();
  const std::vector<GeneratedPart>& generated() const { return generated_; }

  Budget& budget() { return budget_; }
  Clock::time_point now() const { return now_; }

  /// Throws invalid_argument with the line that is being rendered.
  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw make_error(ErrorCode::invalid_argument, what_, ", line ", line_, ": ", parts...);
  }
  [[noreturn]] void fail_limit(std::string_view message) const {
    throw make_error(ErrorCode::resource_exhausted, what_, ", line ", line_, ": ", message);
  }

  /// value.name and value[key] as the sandbox gives them; undefined if there is none.
  Value attribute(const Value& value, std::string_view name);
  Value item(const Value& value, const Value& key);
  Value slice(const Value& value, const Value& start, const Value& stop, const Value& step);

  Value call(const Value& callee, Arguments arguments);
  Value apply_filter(const Filter* filter, std::string_view name, const Value& input, Arguments arguments);
  bool apply_test(const Test* test, std::string_view name, const Value& input, Arguments arguments);

  /// Keeps an object that may refer to others in a circle until the rendering ends.
  template <typename T>
  std::shared_ptr<T> keep(std::shared_ptr<T> object) {
    budget_.work(4);
    kept_.push_back(object);
    return object;
  }

  // For macros and loops.
  Value run_macro(const Statement& statement, Activation& defined_in, Arguments arguments);
  Value run_recursive_loop(const Statement& statement, Activation& defined_in, const Value& iterable, int depth);
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
  Flow capture(const Statements& body, Value& text);

  void enter(const Scope& scope);
  void leave(const Scope& scope);
  [[noreturn]] void refuse_depth();
  Value lookup(std::string_view name);
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
  std::string_view what_;
  Budget& budget_;
  Variables variables_;
  Clock::time_point now_;
  std::uint32_t line_ = 1;
  int depth_ = 0;
  std::vector<std::unique_ptr<Activation>> activations_;
  std::vector<std::shared_ptr<Object>> kept_;
  Activation* activation_ = nullptr;
  Builder* out_ = nullptr;
  Builder* root_out_ = nullptr;
  std::vector<GeneratedPart> generated_;
};

/// Bounds the recursion of evaluation.
class Rendering::Nesting {
 public:
  explicit Nesting(Rendering& run) : run_(run) {
    if (++run_.depth_ > kMaxDepth) run_.refuse_depth();
  }
  ~Nesting() { --run_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  static constexpr int kMaxDepth = 2000;
  Rendering& run_;
};

}  // namespace alate::tokenizers::chat_templates
