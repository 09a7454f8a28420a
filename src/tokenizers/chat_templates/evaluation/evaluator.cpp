#include "tokenizers/chat_templates/evaluation/evaluator.h"

#include "tokenizers/chat_templates/evaluation/globals.h"
#include "tokenizers/chat_templates/evaluation/loop.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"

namespace alate::tokenizers::chat_templates {

// Sends output somewhere else for a while.
class Evaluator::OutputGuard {
 public:
  OutputGuard(Evaluator& run, Builder& out) : run_(run), before_(run.out_) { run.out_ = &out; }
  ~OutputGuard() { run_.out_ = before_; }
  OutputGuard(const OutputGuard&) = delete;
  OutputGuard& operator=(const OutputGuard&) = delete;

 private:
  Evaluator& run_;
  Builder* before_;
};

// Runs a function: its variables are on the stack, unless functions inside may use them later.
class Evaluator::ActivationGuard {
 public:
  ActivationGuard(Evaluator& run, const FunctionLayout& layout, Activation* outer)
      : run_(run), before_(run.activation_) {
    run.budget().work(4 + layout.slots);
    Activation* activation = &own_;
    if (layout.is_captured) {
      run.activations_.push_back(std::make_unique<Activation>());
      activation = run.activations_.back().get();
    }
    activation->is_captured = layout.is_captured;
    activation->outer = outer;
    activation->slots.resize(layout.slots);
    run.activation_ = activation;
  }
  ~ActivationGuard() { run_.activation_ = before_; }
  ActivationGuard(const ActivationGuard&) = delete;
  ActivationGuard& operator=(const ActivationGuard&) = delete;

 private:
  Evaluator& run_;
  Activation* before_;
  Activation own_{.outer = nullptr, .slots = {}};
};

namespace {

class MacroObject : public Object {
 public:
  MacroObject(Evaluator& evaluator, const Statement& statement, Activation& defined_in)
      : evaluator_(evaluator), statement_(statement), defined_in_(defined_in) {}

  std::string_view type_name() const override { return "Macro"; }
  void append_repr(Rendering&, Builder& out) override {
    const std::string& name = statement_.macro->name;
    out.append("<Macro ");
    if (name.empty()) {
      out.append("anonymous");
    } else {
      append_quoted(out, name);
    }
    out.append('>');
  }
  std::optional<Value> attribute(Rendering& run, std::string_view name) override {
    if (name == "name") {
      return statement_.macro->name.empty() ? Value::none() : make_text(run.budget(), statement_.macro->name);
    }
    if (name == "arguments") {
      Values names;
      for (const std::string& each : statement_.macro->parameters) names.push_back(make_text(run.budget(), each));
      return make_tuple(run.budget(), std::move(names));
    }
    const MacroDefinition& macro = *statement_.macro;
    if (name == "catch_kwargs") return Value::boolean(macro.kwargs_slot != MacroDefinition::kUnused);
    if (name == "catch_varargs") return Value::boolean(macro.varargs_slot != MacroDefinition::kUnused);
    if (name == "caller") return Value::boolean(macro.caller_slot != MacroDefinition::kUnused);
    if (name == "explicit_caller") return Value::boolean(macro.has_explicit_caller);
    return std::nullopt;
  }
  bool is_callable() const override { return true; }
  Value call(Rendering&, Arguments arguments) override {
    return evaluator_.run_macro(statement_, defined_in_, std::move(arguments));
  }

 private:
  Evaluator& evaluator_;
  const Statement& statement_;
  Activation& defined_in_;
};

// The items of a loop for which its condition holds.
class PassingItems : public Iterator {
 public:
  PassingItems(Evaluator& evaluator, const Statement& loop, Activation& activation, IteratorPtr items)
      : evaluator_(evaluator), loop_(loop), activation_(activation), items_(std::move(items)) {}

 private:
  std::optional<Value> produce(Rendering& run) override {
    while (std::optional<Value> item = items_->next(run)) {
      if (std::optional<Value> passed = evaluator_.passed(loop_, activation_, *item)) return passed;
    }
    return std::nullopt;
  }

  Evaluator& evaluator_;
  const Statement& loop_;
  Activation& activation_;
  IteratorPtr items_;
};

}  // namespace

Evaluator::Evaluator(const Syntax& syntax, std::string_view what, Budget& budget, Variables variables,
                     Clock::time_point now)
    : Rendering(what, budget, now), syntax_(syntax), variables_(std::move(variables)) {}

Evaluator::~Evaluator() {
  for (const std::unique_ptr<Activation>& activation : activations_) activation->slots.clear();
}

std::string Evaluator::render() {
  Builder out(budget());
  root_out_ = &out;
  const OutputGuard output(*this, out);
  const ActivationGuard guard(*this, syntax_.layout, nullptr);
  enter(syntax_.scope);
  execute(syntax_.body);
  root_out_ = nullptr;
  return out.take();
}

Value& Evaluator::slot(Variable variable) {
  Activation* activation = activation_;
  for (std::uint32_t i = 0; i < variable.hops; ++i) activation = activation->outer;
  return activation->slots[variable.slot];
}

// The variables of the running function, for an object that may use them after it has ended.
Activation& Evaluator::captured_activation() {
  if (!activation_->is_captured) {
    throw Error(ErrorCode::internal, "a function of a chat template is used by another and ends before it");
  }
  return *activation_;
}

Value Evaluator::lookup(std::string_view name) {
  const auto found = variables_.find(name);
  if (found != variables_.end()) return found->second;
  Value global = find_global(*this, name);
  if (!global.is_missing()) variables_.emplace(name, global);
  return global;
}

void Evaluator::enter(const Scope& scope) {
  for (const Load& load : scope.loads) {
    Value& place = activation_->slots[load.slot];
    switch (load.source) {
      case Load::Source::parameter: break;
      case Load::Source::lookup: place = lookup(load.name); break;
      case Load::Source::outer: place = slot(load.outer); break;
      case Load::Source::undefined: place = Value(); break;
    }
  }
  budget().work(scope.loads.size());
}

void Evaluator::leave(const Scope& scope) {
  for (const Load& load : scope.loads) activation_->slots[load.slot] = Value();
}

Evaluator::Flow Evaluator::execute(const Statements& statements) {
  for (const Statement& statement : statements) {
    const Flow flow = execute(statement);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Evaluator::Flow Evaluator::execute(const Statement& statement) {
  const Nesting nesting(*this);
  budget().work();
  set_line(statement.line);
  switch (statement.kind) {
    case StatementKind::output: execute_output(statement); break;
    case StatementKind::for_loop:
      if (statement.is_recursive) {
        out_->append(rendered_loop(statement, evaluate(*statement.expression), 0));
        break;
      }
      return execute_loop(statement, evaluate(*statement.expression), 0);
    case StatementKind::condition: return execute_condition(statement);
    case StatementKind::set:
      check_targets(*statement.targets.front());
      assign(*statement.targets.front(), evaluate(*statement.expression));
      break;
    case StatementKind::set_block: return execute_set_block(statement);
    case StatementKind::macro:
      budget().work(4);
      slot(statement.variable) = Value(std::make_shared<MacroObject>(*this, statement, captured_activation()));
      break;
    case StatementKind::call_block: execute_call_block(statement); break;
    case StatementKind::generation: execute_generation(statement); break;
    case StatementKind::filter_block: return execute_filter_block(statement);
    case StatementKind::with: return execute_with(statement);
    case StatementKind::block: execute_block(statement); break;
    case StatementKind::autoescape: return execute_autoescape(statement);
    case StatementKind::other_template:
      fail("the tag ", statement.tag, " needs another template, and a chat template has none beside it");
    case StatementKind::break_loop: return Flow::break_loop;
    case StatementKind::continue_loop: return Flow::continue_loop;
  }
  return Flow::normal;
}

void Evaluator::execute_output(const Statement& statement) {
  for (const ExpressionPtr& piece : statement.expressions) {
    if (piece->kind == ExpressionKind::data) {
      budget().work();
      out_->append(piece->constant.bytes());
    } else {
      const Value value = evaluate(*piece);
      append_text(*this, *out_, value);
    }
  }
}

Evaluator::Flow Evaluator::execute_condition(const Statement& statement) {
  for (std::size_t i = 0; i < statement.expressions.size(); ++i) {
    if (truth(*this, evaluate(*statement.expressions[i]))) return execute(statement.branches[i]);
  }
  return execute(statement.branches.back());
}

std::optional<Value> Evaluator::passed(const Statement& loop, Activation& activation, const Value& item) {
  const Nesting nesting(*this);
  const ActivationGuard guard(*this, loop.test_layout, &activation);
  enter(loop.test_scope);
  assign(*loop.targets.back(), item);
  if (!truth(*this, evaluate(*loop.test))) return std::nullopt;
  return value_of(*loop.targets.back());
}

Evaluator::Flow Evaluator::execute_loop(const Statement& statement, const Value& iterable, int depth) {
  IteratorPtr items = iterate(*this, iterable);
  std::optional<std::size_t> size;
  if (statement.test != nullptr) {
    items = std::make_unique<PassingItems>(*this, statement, captured_activation(), std::move(items));
  } else if (statement.uses_loop) {
    size = length_of(*this, iterable);
  }
  std::shared_ptr<Loop> loop;
  if (statement.uses_loop) {
    const Activation* own = statement.is_recursive ? &captured_activation() : nullptr;
    loop = keep(std::make_shared<Loop>(*this, statement, own, std::move(items), size, depth));
  }
  bool is_empty = true;  // in the reference, until one iteration has been to its end
  for (;;) {
    std::optional<Value> item = loop != nullptr ? loop->advance(*this) : items->next(*this);
    if (!item) break;
    budget().work();
    assign(*statement.targets.front(), *item);
    if (loop != nullptr) activation_->slots[statement.loop_slot] = Value(std::shared_ptr<Object>(loop));
    enter(statement.scope);
    const Flow flow = execute(statement.body);
    if (flow == Flow::break_loop) break;
    if (flow == Flow::normal) is_empty = false;
  }
  leave(statement.scope);
  if (loop != nullptr) let_go(loop);
  if (!is_empty || statement.otherwise.empty()) return Flow::normal;
  enter(statement.otherwise_scope);
  const Flow flow = execute(statement.otherwise);
  leave(statement.otherwise_scope);
  return flow;
}

std::string Evaluator::rendered_loop(const Statement& statement, const Value& iterable, int depth) {
  const ActivationGuard guard(*this, statement.layout, activation_);
  Builder out(budget());
  const OutputGuard output(*this, out);
  execute_loop(statement, iterable, depth);
  return out.take();
}

Value Evaluator::run_recursive_loop(const Statement& statement, const Activation& own, const Value& iterable,
                                    int depth) {
  const Nesting nesting(*this);
  // `own` is the loop's own function, which the next level is not inside of.
  Activation* const before = std::exchange(activation_, own.outer);
  struct Restore {
    Activation*& place;
    Activation* value;
    ~Restore() { place = value; }
  } const restore{activation_, before};
  return make_text(budget(), rendered_loop(statement, iterable, depth));
}

Evaluator::Flow Evaluator::capture(const Statements& body, Value& text) {
  Builder out(budget());
  const OutputGuard output(*this, out);
  const Flow flow = execute(body);
  text = make_text(budget(), out.take());
  return flow;
}

Evaluator::Flow Evaluator::execute_set_block(const Statement& statement) {
  check_targets(*statement.targets.front());
  enter(statement.scope);
  Value text;
  const Flow flow = capture(statement.body, text);
  if (flow == Flow::normal) {
    if (statement.expression != nullptr) text = evaluate_filter(*statement.expression, &text);
    assign(*statement.targets.front(), text);
  }
  leave(statement.scope);
  return flow;
}

Evaluator::Flow Evaluator::execute_filter_block(const Statement& statement) {
  enter(statement.scope);
  Value text;
  const Flow flow = capture(statement.body, text);
  if (flow == Flow::normal) append_text(*this, *out_, evaluate_filter(*statement.expression, &text));
  leave(statement.scope);
  return flow;
}

Evaluator::Flow Evaluator::execute_with(const Statement& statement) {
  enter(statement.scope);
  for (std::size_t i = 0; i < statement.targets.size(); ++i) {
    assign(*statement.targets[i], evaluate(*statement.expressions[i]));
  }
  const Flow flow = execute(statement.body);
  leave(statement.scope);
  return flow;
}

void Evaluator::execute_call_block(const Statement& statement) {
  const Value caller(std::make_shared<MacroObject>(*this, statement, captured_activation()));
  append_text(*this, *out_, evaluate_call(*statement.expression, &caller));
}

void Evaluator::execute_generation(const Statement& statement) {
  const Value text = run_macro(statement, *activation_, {});
  const std::size_t begin = root_out_->size();
  generated_.push_back({begin, begin + text.bytes().size()});
  out_->append(text.bytes());
}

void Evaluator::execute_block(const Statement& statement) {
  Activation* seen = activation_;
  for (std::uint32_t i = 0; i < statement.variable.hops; ++i) seen = seen->outer;
  const ActivationGuard guard(*this, statement.macro->layout, seen);
  enter(statement.macro->scope);
  execute(statement.body);
}

Evaluator::Flow Evaluator::execute_autoescape(const Statement& statement) {
  enter(statement.scope);
  if (truth(*this, evaluate(*statement.expression))) {
    fail("the tag autoescape, which writes HTML; chat templates write plain text");
  }
  const Flow flow = execute(statement.body);
  leave(statement.scope);
  return flow;
}

Value Evaluator::run_macro(const Statement& statement, Activation& defined_in, Arguments arguments) {
  const Nesting nesting(*this);
  const MacroDefinition& macro = *statement.macro;
  const ActivationGuard guard(*this, macro.layout, &defined_in);
  Values& slots = activation_->slots;
  Values& positional = arguments.positional;
  const auto take_named = [&](std::string_view name) {
    budget().work(arguments.named.size() * (8 + name.size()) / 64);
    for (auto each = arguments.named.begin(); each != arguments.named.end(); ++each) {
      if (each->first != name) continue;
      Value value = std::move(each->second);
      arguments.named.erase(each);
      return value;
    }
    return Value();
  };
  const std::size_t count = macro.parameters.size();
  const std::size_t given = std::min(positional.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    slots[macro.parameter_slots[i]] = i < given ? positional[i] : take_named(macro.parameters[i]);
  }
  if (macro.caller_slot != MacroDefinition::kUnused) {
    Value caller = take_named("caller");
    slots[macro.caller_slot] =
        caller.is_missing() || caller.is_none() ? Value::undefined("No caller defined") : std::move(caller);
  }
  if (macro.kwargs_slot != MacroDefinition::kUnused) {
    MappingBuilder rest(*this);
    for (auto& [name, value] : arguments.named) rest.set(name, std::move(value));
    slots[macro.kwargs_slot] = rest.take();
  } else if (!arguments.named.empty()) {
    fail("the macro ", macro.name, " takes no argument ", arguments.named.front().first);
  }
  if (macro.varargs_slot != MacroDefinition::kUnused) {
    slots[macro.varargs_slot] =
        make_tuple(budget(), Values(positional.begin() + static_cast<std::ptrdiff_t>(given), positional.end()));
  } else if (positional.size() > count) {
    fail("the macro ", macro.name, " takes not more than ", count, " arguments");
  }

  enter(macro.scope);
  for (std::size_t i = 0; i < count; ++i) {
    Value& place = slots[macro.parameter_slots[i]];
    if (!place.is_missing()) continue;
    const std::size_t without_default = count - macro.defaults.size();
    place = i < without_default ? make_undefined(budget(), "parameter '" + macro.parameters[i] + "' was not provided")
                                : evaluate(*macro.defaults[i - without_default]);
  }
  Value text;
  capture(statement.body, text);
  return text;
}

}  // namespace alate::tokenizers::chat_templates
