// map, select, reject, selectattr, rejectattr: lazy, as in the reference, so that what nobody asks for is never an
// error.
#include <algorithm>

#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/filters/tests.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/rendering.h"

namespace alate::tokenizers::chat_templates {
namespace {

using Transform = std::function<std::optional<Value>(Rendering&, const Value&)>;

// The values that `make` gives for items; items for which it gives nothing are left out. What the arguments are wrong
// about is said when the first item is asked for, and never for an empty input. `depth` is that of the arguments.
Value transformed(Rendering& run, const Value& input, std::function<Transform(Rendering&)> prepare, int depth) {
  struct State {
    Value input;
    std::function<Transform(Rendering&)> prepare;
    Transform transform;
    IteratorPtr items;
    bool is_done = false;
  };
  const auto state = std::make_shared<State>(State{input, std::move(prepare), nullptr, nullptr, false});
  run.budget().work(4);
  return Value(std::shared_ptr<Object>(std::make_shared<Generator>(
      "generator",
      [state](Rendering& inner) -> std::optional<Value> {
        if (state->is_done) return std::nullopt;
        if (state->items == nullptr) {
          if (!truth(inner, state->input)) {
            state->is_done = true;
            return std::nullopt;
          }
          state->transform = state->prepare(inner);
          state->items = iterate(inner, state->input);
        }
        while (const std::optional<Value> item = state->items->next(inner)) {
          if (std::optional<Value> value = state->transform(inner, *item)) return value;
        }
        state->is_done = true;
        return std::nullopt;
      },
      std::max(depth, depth_of(input)))));
}

Transform prepare_map(Rendering& run, Arguments arguments) {
  const auto named = [&](std::string_view name) -> Value {
    for (const auto& [each, value] : arguments.named) {
      if (each == name) return value;
    }
    return {};
  };
  const Value attribute = named("attribute"), otherwise = named("default");
  if (arguments.positional.empty() && !attribute.is_missing()) {
    for (const auto& [name, value] : arguments.named) {
      if (name != "attribute" && name != "default") run.fail("unexpected keyword argument ", name);
    }
    const AttributePath path(run, attribute);
    return [path, otherwise](Rendering& inner, const Value& item) -> std::optional<Value> {
      return path.of(inner, item, otherwise.is_missing() || otherwise.is_none() ? nullptr : &otherwise);
    };
  }
  if (arguments.positional.empty()) run.fail("map requires a filter argument");
  const Value name = arguments.positional.front();
  if (!name.is_text()) run.fail("map needs the name of a filter, not '", type_name(name), "'");
  const Filter* filter = find_filter(name.bytes());
  arguments.positional.erase(arguments.positional.begin());
  return [filter, name, arguments](Rendering& inner, const Value& item) -> std::optional<Value> {
    return apply_filter(inner, filter, name.bytes(), item, arguments);
  };
}

Value map(Rendering& run, const Value& input, Arguments arguments) {
  const int depth = depth_of(arguments);
  return transformed(
      run, input, [arguments = std::move(arguments)](Rendering& inner) { return prepare_map(inner, arguments); },
      depth);
}

Transform prepare_selection(Rendering& run, Arguments arguments, bool keeps, bool by_attribute) {
  AttributePath path;
  if (by_attribute) {
    if (arguments.positional.empty()) run.fail("missing parameter for attribute name");
    path = AttributePath(run, arguments.positional.front());
    arguments.positional.erase(arguments.positional.begin());
  }
  if (arguments.positional.empty()) {
    return [path, keeps](Rendering& inner, const Value& item) -> std::optional<Value> {
      if (truth(inner, path.of(inner, item)) != keeps) return std::nullopt;
      return item;
    };
  }
  const Value name = arguments.positional.front();
  if (!name.is_text()) run.fail("the name of a test is expected, not '", type_name(name), "'");
  const Test* test = find_test(name.bytes());
  arguments.positional.erase(arguments.positional.begin());
  return [path, keeps, test, name, arguments](Rendering& inner, const Value& item) -> std::optional<Value> {
    const Value value = path.of(inner, item);
    if (apply_test(inner, test, name.bytes(), value, arguments) != keeps) return std::nullopt;
    return item;
  };
}

template <bool Keeps, bool ByAttribute>
Value selection(Rendering& run, const Value& input, Arguments arguments) {
  const int depth = depth_of(arguments);
  return transformed(
      run, input,
      [arguments = std::move(arguments)](Rendering& inner) {
        return prepare_selection(inner, arguments, Keeps, ByAttribute);
      },
      depth);
}

constexpr Filter kFilters[] = {
    {"map", map},
    {"reject", selection<false, false>},
    {"rejectattr", selection<false, true>},
    {"select", selection<true, false>},
    {"selectattr", selection<true, true>},
};

}  // namespace

std::span<const Filter> selection_filters() { return kFilters; }

}  // namespace alate::tokenizers::chat_templates
