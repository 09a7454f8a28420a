#include "tokenizers/chat_templates/syntax/resolve_names.h"

#include <map>
#include <optional>
#include <set>

#include "alate/error.h"
#include "formats/json.h"
#include "tokenizers/chat_templates/syntax/lexer.h"

namespace alate::tokenizers::chat_templates {
namespace {

// A function while its variables get their slots. Scopes of one level share the slot of a name.
struct FunctionVariables {
  FunctionLayout* layout;
  FunctionVariables* outer;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> slots;

  std::uint32_t slot(std::uint32_t level, const std::string& name) {
    const auto [place, is_new] = slots.emplace(std::pair(level, name), layout->slots);
    if (is_new) ++layout->slots;
    return place->second;
  }
};

struct Reference {
  FunctionVariables* function = nullptr;
  std::uint32_t slot = 0;
};

// The names of a scope.
struct Symbols {
  Symbols* parent;
  FunctionVariables* function;
  std::uint32_t level;
  std::map<std::string, Reference> references;
  std::map<std::uint32_t, Load> loads;  // by slot
  std::set<std::string> stores;

  std::optional<Reference> find(const std::string& name) const {
    for (const Symbols* scope = this; scope != nullptr; scope = scope->parent) {
      if (const auto found = scope->references.find(name); found != scope->references.end()) return found->second;
    }
    return std::nullopt;
  }

  Variable variable(const Reference& reference) const {
    std::uint32_t hops = 0;
    for (const FunctionVariables* each = function; each != reference.function; each = each->outer) ++hops;
    return {hops, reference.slot};
  }

  std::uint32_t define(const std::string& name, Load load) {
    const std::uint32_t slot = function->slot(level, name);
    load.slot = slot;
    references[name] = {function, slot};
    loads[slot] = std::move(load);
    return slot;
  }

  std::uint32_t declare_parameter(const std::string& name) {
    stores.insert(name);
    return define(name, {.slot = 0, .source = Load::Source::parameter, .outer = {}, .name = {}});
  }

  Load outer_or(const std::string& name, Load::Source otherwise) const {
    if (parent != nullptr) {
      if (const std::optional<Reference> outer = parent->find(name)) {
        return {.slot = 0, .source = Load::Source::outer, .outer = variable(*outer), .name = {}};
      }
    }
    return {.slot = 0, .source = otherwise, .outer = {}, .name = name};
  }

  void store(const std::string& name) {
    stores.insert(name);
    if (!references.contains(name)) define(name, outer_or(name, Load::Source::undefined));
  }

  void load(const std::string& name) {
    if (!find(name)) define(name, {.slot = 0, .source = Load::Source::lookup, .outer = {}, .name = name});
  }

  // What is assigned in a branch only may also keep the value from before.
  void update_from(const std::vector<Symbols>& branches) {
    std::set<std::string> stored;
    for (const Symbols& branch : branches) {
      for (const std::string& name : branch.stores) {
        if (!stores.contains(name)) stored.insert(name);
      }
    }
    for (const Symbols& branch : branches) {
      for (const auto& [name, reference] : branch.references) references[name] = reference;
      for (const auto& [slot, load] : branch.loads) loads[slot] = load;
      stores.insert(branch.stores.begin(), branch.stores.end());
    }
    for (const std::string& name : stored) {
      Load load = outer_or(name, Load::Source::lookup);
      load.slot = find(name)->slot;
      loads[load.slot] = std::move(load);
    }
  }

  Scope scope() const {
    Scope scope;
    for (const auto& [slot, load] : loads) scope.loads.push_back(load);
    return scope;
  }
};

class Resolver {
 public:
  explicit Resolver(std::string_view what) : what_(what) {}

  void resolve(Syntax& syntax) {
    FunctionVariables function{&syntax.layout, nullptr, {}};
    Symbols symbols{nullptr, &function, 0, {}, {}, {}};
    analyze(syntax.body, symbols);
    syntax.scope = symbols.scope();
    assign(syntax.body, symbols, false);
    syntax.layout.is_captured = true;
  }

 private:
  // Copies of scopes and walks over parts that are walked over again: bounded for templates that are made to be slow.
  void count(std::size_t units) {
    constexpr std::size_t kMaxWork = 500'000;
    work_ += units;
    if (work_ > kMaxWork) throw make_error(ErrorCode::resource_exhausted, what_, " has too many nested names");
  }

  // ---- Which names a scope has, before it is resolved. Scopes inside are left out, except for what they evaluate in
  // this one.

  void analyze(const ExpressionPtr& expression, Symbols& symbols) {
    if (expression != nullptr) analyze(*expression, symbols);
  }

  void analyze(const Expression& expression, Symbols& symbols, bool as_parameter = false) {
    count(1);
    if (expression.kind == ExpressionKind::name) {
      if (as_parameter) {
        symbols.declare_parameter(expression.name);
      } else if (expression.is_target) {
        symbols.store(expression.name);
      } else {
        symbols.load(expression.name);
      }
    } else if (expression.kind == ExpressionKind::namespace_target) {
      symbols.load(expression.name);
    }
    for (const ExpressionPtr& operand : expression.operands) {
      if (operand != nullptr) analyze(*operand, symbols, as_parameter);
    }
    for_each_argument(expression.arguments, [&](const ExpressionPtr& argument) { analyze(argument, symbols); });
  }

  template <typename Arguments, typename Visit>
  static void for_each_argument(Arguments& arguments, Visit visit) {
    for (auto& argument : arguments.positional) visit(argument);
    for (auto& [name, argument] : arguments.named) visit(argument);
    if (arguments.unpacked_list != nullptr) visit(arguments.unpacked_list);
    if (arguments.unpacked_mapping != nullptr) visit(arguments.unpacked_mapping);
  }

  void analyze(const Statements& statements, Symbols& symbols) {
    for (const Statement& statement : statements) analyze(statement, symbols);
  }

  void analyze(const Statement& statement, Symbols& symbols) {
    switch (statement.kind) {
      case StatementKind::output:
      case StatementKind::with:
        for (const ExpressionPtr& expression : statement.expressions) analyze(expression, symbols);
        return;
      case StatementKind::for_loop:
      case StatementKind::call_block:
      case StatementKind::filter_block: analyze(statement.expression, symbols); return;
      case StatementKind::condition: analyze_condition(statement, symbols); return;
      case StatementKind::set:
        analyze(statement.expression, symbols);
        analyze(statement.targets.front(), symbols);
        return;
      case StatementKind::set_block: analyze(statement.targets.front(), symbols); return;
      case StatementKind::macro: symbols.store(statement.macro->name); return;
      case StatementKind::other_template:
        analyze(statement.expression, symbols);
        for (const ExpressionPtr& target : statement.targets) analyze(target, symbols);
        return;
      case StatementKind::block:
      case StatementKind::autoescape:
      case StatementKind::generation:
      case StatementKind::break_loop:
      case StatementKind::continue_loop: return;
    }
  }

  Symbols copy_of(const Symbols& symbols) {
    count(symbols.references.size() + symbols.stores.size());
    return symbols;
  }

  void update(Symbols& symbols, const std::vector<Symbols>& branches) {
    for (const Symbols& branch : branches) {
      count(branch.references.size() + branch.loads.size() + branch.stores.size());
    }
    symbols.update_from(branches);
  }

  void analyze_condition(const Statement& statement, Symbols& symbols) {
    analyze(statement.expressions.front(), symbols);
    std::vector<Symbols> branches;
    branches.push_back(copy_of(symbols));
    analyze(statement.branches.front(), branches.back());
    Symbols elifs = copy_of(symbols);
    for (std::size_t i = 1; i < statement.expressions.size(); ++i) {
      analyze(statement.expressions[i], elifs);
      std::vector<Symbols> branch;
      branch.push_back(copy_of(elifs));
      analyze(statement.branches[i], branch.back());
      update(elifs, branch);
    }
    branches.push_back(std::move(elifs));
    branches.push_back(copy_of(symbols));
    analyze(statement.branches.back(), branches.back());
    update(symbols, branches);
  }

  // ---- Which of `names` are read before they are assigned, in the order of the text and whatever the scopes.

  struct Wanted {
    std::set<std::string> names, found;
  };

  void find_undeclared(const Expression& expression, Wanted& wanted) {
    count(1);
    if (expression.kind == ExpressionKind::name) {
      if (!expression.is_target && wanted.names.contains(expression.name)) {
        wanted.found.insert(expression.name);
      } else {
        wanted.names.erase(expression.name);
      }
    }
    for (const ExpressionPtr& operand : expression.operands) {
      if (operand != nullptr) find_undeclared(*operand, wanted);
    }
    for_each_argument(expression.arguments, [&](const ExpressionPtr& argument) { find_undeclared(*argument, wanted); });
  }

  void find_undeclared(const std::vector<ExpressionPtr>& expressions, Wanted& wanted) {
    for (const ExpressionPtr& expression : expressions) {
      if (expression != nullptr) find_undeclared(*expression, wanted);
    }
  }

  void find_undeclared(const Statements& statements, Wanted& wanted) {
    for (const Statement& statement : statements) {
      count(1);
      find_undeclared(statement.targets, wanted);
      if (statement.expression != nullptr && statement.kind != StatementKind::filter_block) {
        find_undeclared(*statement.expression, wanted);
      }
      if (statement.macro != nullptr) {
        for (const std::string& parameter : statement.macro->parameters) wanted.names.erase(parameter);
        find_undeclared(statement.macro->defaults, wanted);
      }
      if (statement.kind == StatementKind::condition) {
        for (std::size_t i = 0; i < statement.branches.size(); ++i) {
          if (i < statement.expressions.size()) find_undeclared(*statement.expressions[i], wanted);
          find_undeclared(statement.branches[i], wanted);
        }
        continue;
      }
      find_undeclared(statement.expressions, wanted);
      find_undeclared(statement.body, wanted);
      find_undeclared(statement.otherwise, wanted);
      if (statement.test != nullptr) find_undeclared(*statement.test, wanted);
      if (statement.expression != nullptr && statement.kind == StatementKind::filter_block) {
        find_undeclared(*statement.expression, wanted);
      }
    }
  }

  std::set<std::string> undeclared(const Statements& body, std::set<std::string> names) {
    Wanted wanted{std::move(names), {}};
    find_undeclared(body, wanted);
    return wanted.found;
  }

  // ---- Names to variables. `is_soft`: a filter that does not exist is an error only when it is used.

  void assign(ExpressionPtr& expression, Symbols& symbols, bool is_soft) {
    if (expression != nullptr) assign(*expression, symbols, is_soft);
  }

  void assign(Expression& expression, Symbols& symbols, bool is_soft) {
    if (expression.kind == ExpressionKind::name || expression.kind == ExpressionKind::namespace_target) {
      std::optional<Reference> reference = symbols.find(expression.name);
      if (!reference) {  // the filter of a block, which no scope analyzes
        symbols.load(expression.name);
        reference = symbols.find(expression.name);
      }
      expression.variable = symbols.variable(*reference);
    }
    const bool is_filter = expression.kind == ExpressionKind::filter && expression.filter == nullptr;
    const bool is_test = expression.kind == ExpressionKind::test && expression.test == nullptr;
    if (!is_soft && (is_filter || is_test)) {
      throw_syntax_error(
          what_, expression.line,
          std::string("there is no ") + (is_filter ? "filter " : "test ") + formats::quoted_name(expression.name));
    }
    is_soft = is_soft || expression.kind == ExpressionKind::conditional;
    for (ExpressionPtr& operand : expression.operands) assign(operand, symbols, is_soft);
    for_each_argument(expression.arguments, [&](ExpressionPtr& argument) { assign(argument, symbols, is_soft); });
  }

  void assign(Statements& statements, Symbols& symbols, bool is_soft) {
    for (Statement& statement : statements) assign(statement, symbols, is_soft);
  }

  void assign(Statement& statement, Symbols& symbols, bool is_soft) {
    switch (statement.kind) {
      case StatementKind::output:
        for (ExpressionPtr& expression : statement.expressions) assign(expression, symbols, is_soft);
        return;
      case StatementKind::for_loop: return assign_loop(statement, symbols, is_soft);
      case StatementKind::condition:
        for (ExpressionPtr& expression : statement.expressions) assign(expression, symbols, true);
        for (Statements& branch : statement.branches) assign(branch, symbols, true);
        return;
      case StatementKind::set:
        assign(statement.expression, symbols, is_soft);
        assign(statement.targets.front(), symbols, is_soft);
        return;
      case StatementKind::set_block:
      case StatementKind::filter_block: return assign_block(statement, symbols, is_soft);
      case StatementKind::macro:
        statement.variable = symbols.variable(*symbols.find(statement.macro->name));
        return assign_macro(statement, symbols);
      case StatementKind::call_block:
        assign(statement.expression, symbols, is_soft);
        return assign_macro(statement, symbols);
      case StatementKind::generation: return assign_macro(statement, symbols);
      case StatementKind::block: return assign_template_block(statement, symbols);
      case StatementKind::autoescape: return assign_block(statement, symbols, is_soft);
      case StatementKind::other_template:
        assign(statement.expression, symbols, is_soft);
        for (ExpressionPtr& target : statement.targets) assign(target, symbols, is_soft);
        return;
      case StatementKind::with: return assign_with(statement, symbols, is_soft);
      case StatementKind::break_loop:
      case StatementKind::continue_loop: return;
    }
  }

  static Symbols inner(Symbols& symbols, FunctionVariables& function) {
    return {&symbols, &function, symbols.level + 1, {}, {}, {}};
  }

  void assign_block(Statement& statement, Symbols& symbols, bool is_soft) {
    if (!statement.targets.empty()) assign(statement.targets.front(), symbols, is_soft);
    Symbols block = inner(symbols, *symbols.function);
    analyze(statement.body, block);
    analyze(statement.expression, block);
    statement.scope = block.scope();
    assign(statement.body, block, false);
    assign(statement.expression, block, false);
  }

  void assign_with(Statement& statement, Symbols& symbols, bool is_soft) {
    for (ExpressionPtr& value : statement.expressions) assign(value, symbols, is_soft);
    Symbols block = inner(symbols, *symbols.function);
    for (const ExpressionPtr& target : statement.targets) analyze(*target, block, true);
    analyze(statement.body, block);
    statement.scope = block.scope();
    for (ExpressionPtr& target : statement.targets) assign(target, block, false);
    assign(statement.body, block, false);
  }

  void assign_macro(Statement& statement, Symbols& symbols) {
    MacroDefinition& macro = *statement.macro;
    symbols.function->layout->is_captured = true;
    FunctionVariables function{&macro.layout, symbols.function, {}};
    Symbols frame = inner(symbols, function);
    const auto analyze_all = [&] {
      for (const std::string& parameter : macro.parameters) frame.declare_parameter(parameter);
      for (const ExpressionPtr& value : macro.defaults) analyze(value, frame);
      analyze(statement.body, frame);
    };
    analyze_all();
    const std::set<std::string> special = undeclared(statement.body, {"caller", "kwargs", "varargs"});
    const std::set<std::string> named(macro.parameters.begin(), macro.parameters.end());
    macro.has_explicit_caller = named.contains("caller");
    if (special.contains("caller") && !macro.has_explicit_caller) macro.caller_slot = frame.declare_parameter("caller");
    if (special.contains("kwargs") && !named.contains("kwargs")) macro.kwargs_slot = frame.declare_parameter("kwargs");
    if (special.contains("varargs") && !named.contains("varargs")) {
      macro.varargs_slot = frame.declare_parameter("varargs");
    }
    analyze_all();
    for (const std::string& parameter : macro.parameters) {
      macro.parameter_slots.push_back(frame.find(parameter)->slot);
    }
    macro.scope = frame.scope();
    for (ExpressionPtr& value : macro.defaults) assign(value, frame, false);
    assign(statement.body, frame, false);
  }

  // A block sees the variables of the template's outermost scope, unless it is marked as scoped.
  void assign_template_block(Statement& statement, Symbols& symbols) {
    Symbols* seen = &symbols;
    while (!statement.is_scoped && seen->parent != nullptr) seen = seen->parent;
    statement.variable = symbols.variable({seen->function, 0});
    assign_macro(statement, *seen);
  }

  void assign_loop(Statement& statement, Symbols& symbols, bool is_soft) {
    assign(statement.expression, symbols, is_soft);
    refuse_loop_targets(statement);
    FunctionVariables own{&statement.layout, symbols.function, {}};
    FunctionVariables& function = statement.is_recursive ? own : *symbols.function;
    if (statement.is_recursive) symbols.function->layout->is_captured = statement.layout.is_captured = true;

    Symbols body = inner(symbols, function);
    statement.uses_loop = statement.is_recursive || !undeclared(statement.body, {"loop"}).empty();
    if (statement.uses_loop) statement.loop_slot = body.declare_parameter("loop");
    analyze(*statement.targets.front(), body, true);
    analyze(statement.body, body);
    statement.scope = body.scope();

    if (statement.test != nullptr) {
      symbols.function->layout->is_captured = true;
      function.layout->is_captured = true;
      statement.targets.push_back(copy_of_target(*statement.targets.front()));
      FunctionVariables of_test{&statement.test_layout, &function, {}};
      Symbols test = inner(symbols, of_test);
      analyze(*statement.targets.back(), test, true);
      analyze(statement.test, test);
      statement.test_scope = test.scope();
      assign(statement.targets.back(), test, false);
      assign(statement.test, test, false);
    }
    assign(statement.targets.front(), body, false);
    assign(statement.body, body, false);
    if (!statement.otherwise.empty()) {
      Symbols otherwise = inner(symbols, function);
      analyze(statement.otherwise, otherwise);
      statement.otherwise_scope = otherwise.scope();
      assign(statement.otherwise, otherwise, false);
    }
  }

  static ExpressionPtr copy_of_target(const Expression& target) {
    auto copy = std::make_unique<Expression>();
    copy->kind = target.kind;
    copy->is_target = target.is_target;
    copy->line = target.line;
    copy->name = target.name;
    copy->attribute = target.attribute;
    for (const ExpressionPtr& part : target.operands) copy->operands.push_back(copy_of_target(*part));
    return copy;
  }

  // ---- `loop` belongs to the loop.

  void refuse_loop_targets(const Statement& loop) {
    for (const ExpressionPtr& target : loop.targets) refuse_loop_target(*target);
    for (const Statements* body : {&loop.body, &loop.otherwise}) refuse_loop_targets(*body);
  }

  void refuse_loop_targets(const Statements& statements) {
    for (const Statement& statement : statements) {
      count(1);
      if (statement.kind == StatementKind::set || statement.kind == StatementKind::set_block) {
        refuse_loop_target(*statement.targets.front());
      }
      if (statement.kind == StatementKind::for_loop) continue;  // looked at in its turn
      refuse_loop_targets(statement.body);
      for (const Statements& branch : statement.branches) refuse_loop_targets(branch);
    }
  }

  void refuse_loop_target(const Expression& target) const {
    if (target.kind == ExpressionKind::name && target.name == "loop") {
      throw_syntax_error(what_, target.line, "the variable loop of a loop cannot be assigned to");
    }
    for (const ExpressionPtr& part : target.operands) refuse_loop_target(*part);
  }

  std::string_view what_;
  std::size_t work_ = 0;
};

}  // namespace

void resolve_names(Syntax& syntax, std::string_view what) { Resolver(what).resolve(syntax); }

}  // namespace alate::tokenizers::chat_templates
