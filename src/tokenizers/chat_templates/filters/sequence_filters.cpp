#include <algorithm>
#include <cmath>
#include <numeric>

#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/methods/attributes.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

Value shared(std::shared_ptr<Object> object) { return Value(std::move(object)); }

Value length(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "length", std::move(arguments), {});
  const std::optional<std::size_t> size = length_of(run, input);
  if (!size) run.fail("object of type '", type_name(input), "' has no len()");
  return Value::integer(static_cast<Integer>(*size));
}

Value first(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "first", std::move(arguments), {});
  const std::optional<Value> item = iterate(run, input)->next(run);
  return item ? *item : Value::undefined("No first item, sequence was empty.");
}

// What reversed(value) walks through; nothing where Python has none.
std::optional<Values> reversed(Rendering& run, const Value& input) {
  if (input.as<Generator>() != nullptr || (!input.is_text() && !length_of(run, input))) return std::nullopt;
  Values items = all_items(run, input);
  std::ranges::reverse(items);
  run.budget().work(items.size() / 4);
  return items;
}

Value last(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "last", std::move(arguments), {});
  if (input.is_sequence() && !input.sequence().items.empty()) return input.sequence().items.back();
  const std::optional<Values> items = reversed(run, input);
  if (!items) run.fail("'", type_name(input), "' object is not reversible");
  return items->empty() ? Value::undefined("No last item, sequence was empty.") : items->front();
}

Value list(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "list", std::move(arguments), {});
  return make_list(run.budget(), all_items(run, input));
}

Value generator(std::string_view type_name, int depth, Generator::Next next) {
  return shared(std::make_shared<Generator>(type_name, std::move(next), depth));
}

// A generator over values that are there already.
Value generator_of(Rendering& run, std::string_view type_name, Values values) {
  const Value list = make_list(run.budget(), std::move(values));
  return generator(type_name, depth_of(list), [list, at = std::size_t{0}](Rendering&) mutable -> std::optional<Value> {
    const Values& items = list.sequence().items;
    if (at == items.size()) return std::nullopt;
    return items[at++];
  });
}

Value reverse(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "reverse", std::move(arguments), {});
  if (input.is_text()) return slice_of(run, input, Value::none(), Value::none(), Value::integer(-1));
  std::optional<Values> items = reversed(run, input);
  if (items) return generator_of(run, "list_reverseiterator", std::move(*items));
  Values all = all_items(run, input);
  std::ranges::reverse(all);
  return make_list(run.budget(), std::move(all));
}

Value join(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "join", std::move(arguments), {"d", "attribute"});
  const std::string separator = given.has(0) ? text_of(run, given[0]) : "";
  const AttributePath path = given.is_set(1) ? AttributePath(run, given[1]) : AttributePath();
  Builder out(run.budget());
  const IteratorPtr items = iterate(run, input);
  bool is_first = true;
  while (const std::optional<Value> item = items->next(run)) {
    if (!is_first) out.append(separator);
    is_first = false;
    append_text(run, out, path.of(run, *item));
    run.budget().work();
  }
  return make_text(run.budget(), out.take());
}

Values keys_of(Rendering& run, const Values& items, const AttributePath& path, bool keeps_case,
               const Value* otherwise = nullptr) {
  Values keys;
  keys.reserve(items.size());
  for (const Value& item : items) {
    Value key = path.of(run, item, otherwise);
    keys.push_back(keeps_case ? std::move(key) : without_case(run, key));
  }
  return keys;
}

// Keys of several attributes, as lists.
Values keys_of_all(Rendering& run, const Values& items, const Value& attribute, bool keeps_case) {
  std::vector<AttributePath> paths;
  if (attribute.is_text()) {
    const std::string_view all = attribute.bytes();
    for (std::size_t at = 0; at <= all.size();) {
      const std::size_t end = std::min(all.find(',', at), all.size());
      paths.emplace_back(run, make_text(run.budget(), std::string(all.substr(at, end - at))));
      at = end + 1;
    }
  } else {
    paths.emplace_back(run, attribute);
  }
  Values keys;
  for (const Value& item : items) {
    Values parts;
    for (const AttributePath& path : paths) {
      Value key = path.of(run, item);
      parts.push_back(keeps_case ? std::move(key) : without_case(run, key));
    }
    keys.push_back(make_list(run.budget(), std::move(parts)));
  }
  return keys;
}

Value in_order(Rendering& run, const Values& items, const std::vector<std::size_t>& order) {
  Values sorted;
  sorted.reserve(items.size());
  for (const std::size_t i : order) sorted.push_back(items[i]);
  return make_list(run.budget(), std::move(sorted));
}

Value sort(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "sort", std::move(arguments), {"reverse", "case_sensitive", "attribute"});
  const Values items = all_items(run, input);
  const Values keys = keys_of_all(run, items, given.has(2) ? given[2] : Value::none(), given.flag(1, false));
  return in_order(run, items, sorted_order(run, keys, given.integer(0, 0) != 0));
}

Value dictsort(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "dictsort", std::move(arguments), {"case_sensitive", "by", "reverse"});
  const std::string_view by = given.text(1, "key");
  if (by != "key" && by != "value") run.fail("you can only sort by either \"key\" or \"value\"");
  if (!input.is_mapping()) run.fail("dictsort needs a mapping, not '", type_name(input), "'");
  Values items, keys;
  for (const auto& [key, value] : input.mapping().entries()) {
    const Value& by_which = by == "key" ? key : value;
    keys.push_back(given.flag(0, false) ? by_which : without_case(run, by_which));
    items.push_back(make_tuple(run.budget(), {key, value}));
  }
  return in_order(run, items, sorted_order(run, keys, given.integer(2, 0) != 0));
}

Value unique(Rendering& run, const Value& input, Arguments arguments) {
  const int depth = std::max(depth_of(input), depth_of(arguments));
  const Parameters given(run, "unique", std::move(arguments), {"case_sensitive", "attribute"});
  const bool keeps_case = given.flag(0, false);
  const AttributePath path = given.is_set(1) ? AttributePath(run, given[1]) : AttributePath();
  const auto items = std::make_shared<IteratorPtr>();
  const auto seen = std::make_shared<MappingBuilder>(run);
  const auto made = std::make_shared<Generator>(
      "generator",
      [=](Rendering& inner) -> std::optional<Value> {
        if (*items == nullptr) *items = iterate(inner, input);
        while (std::optional<Value> item = (*items)->next(inner)) {
          Value key = path.of(inner, *item);
          if (!keeps_case) key = without_case(inner, key);
          if (seen->add(key)) return item;
        }
        return std::nullopt;
      },
      depth);
  return shared(run.keep(made));  // what it has seen may be itself
}

template <bool Largest>
Value extreme(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, Largest ? "max" : "min", std::move(arguments), {"case_sensitive", "attribute"});
  const Values items = all_items(run, input);
  if (items.empty()) return Value::undefined("No aggregated item, sequence was empty.");
  const AttributePath path = given.is_set(1) ? AttributePath(run, given[1]) : AttributePath();
  const Values keys = keys_of(run, items, path, given.flag(0, false));
  std::size_t best = 0;
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (Largest ? less(run, keys[best], keys[i], ">") : less(run, keys[i], keys[best])) best = i;
  }
  return items[best];
}

Value sum(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "sum", std::move(arguments), {"attribute", "start"});
  const AttributePath path = given.is_set(0) ? AttributePath(run, given[0]) : AttributePath();
  Value total = given.has(1) ? given[1] : Value::integer(0);
  if (total.is_text()) run.fail("sum() can't sum strings");
  const IteratorPtr items = iterate(run, input);
  while (const std::optional<Value> item = items->next(run)) {
    total = calculate(run, Arithmetic::add, total, path.of(run, *item));
  }
  return total;
}

Value groupby(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "groupby", std::move(arguments), {"attribute", "default", "case_sensitive"}, 1);
  const bool keeps_case = given.flag(2, false);
  const AttributePath path(run, given[0]);
  const Value* otherwise = given.is_set(1) ? &given[1] : nullptr;
  const Values items = all_items(run, input);
  const Values keys = keys_of(run, items, path, keeps_case, otherwise);
  const std::vector<std::size_t> order = sorted_order(run, keys, false);
  Values groups;
  for (std::size_t i = 0; i < order.size();) {
    Values members;
    std::size_t end = i;
    for (; end < order.size() && equals(run, keys[order[i]], keys[order[end]]); ++end) {
      members.push_back(items[order[end]]);
    }
    if (end == i) members.push_back(items[order[end++]]);  // a NaN, which equals nothing
    Value grouper = keeps_case ? keys[order[i]] : path.of(run, items[order[i]], otherwise);
    groups.push_back(make_group(run.budget(), std::move(grouper), make_list(run.budget(), std::move(members))));
    i = end;
  }
  return make_list(run.budget(), std::move(groups));
}

Value batch(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "batch", std::move(arguments), {"linecount", "fill_with"}, 1);
  if (given[0].is_undefined()) run.fail(given[0].undefined_message());
  // A size that is no number is never reached.
  const double size = given[0].is_number() ? given[0].number() : HUGE_VAL;
  const Values items = all_items(run, input);
  Values lines, line;
  for (const Value& item : items) {
    if (static_cast<double>(line.size()) == size) lines.push_back(make_list(run.budget(), std::exchange(line, {})));
    line.push_back(item);
  }
  if (!line.empty()) {
    if (given.is_set(1) && !given[0].is_number()) run.fail("batch needs a number, not '", type_name(given[0]), "'");
    if (given.is_set(1) && static_cast<double>(line.size()) < size) {
      if (!given[0].is_integral()) run.fail("batch needs an integer to fill lines, not '", type_name(given[0]), "'");
      const std::size_t missing = given.size(0, 0) - line.size();
      {
        const Charge check(run.budget(), std::min(missing, std::size_t{1} << 40) * sizeof(Value));
      }  // before they are made
      line.insert(line.end(), missing, given[1]);
    }
    lines.push_back(make_list(run.budget(), std::move(line)));
  }
  return generator_of(run, "generator", std::move(lines));
}

Value slice(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "slice", std::move(arguments), {"slices", "fill_with"}, 1);
  const Integer count = given.integer(0, 1);
  const Values items = all_items(run, input);
  if (count == 0) run.fail("integer division or modulo by zero");
  if (count > 100'000) run.fail_limit("slice makes more than 100000 lists");
  Values slices;
  const auto size = static_cast<Integer>(items.size());
  Integer offset = 0;
  for (Integer i = 0; i < count; ++i) {
    const bool has_extra = i < size % count;
    const Integer start = offset + i * (size / count);
    if (has_extra) ++offset;
    const Integer end = offset + (i + 1) * (size / count);
    Values part(items.begin() + static_cast<std::ptrdiff_t>(start), items.begin() + static_cast<std::ptrdiff_t>(end));
    if (given.is_set(1) && !has_extra) part.push_back(given[1]);
    slices.push_back(make_list(run.budget(), std::move(part)));
  }
  return generator_of(run, "generator", std::move(slices));
}

Value items(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "items", std::move(arguments), {});
  if (input.is_undefined()) return generator_of(run, "generator", {});
  if (!input.is_mapping()) {  // the reference says so when the items are asked for
    return generator("generator", 0, [](Rendering& inner) -> std::optional<Value> {
      inner.fail("can only get item pairs from a mapping");
    });
  }
  const auto view = std::make_shared<MappingView>(input.shared_mapping(), MappingView::Part::items);
  return generator("generator", depth_of(input),
                   [view, at = std::size_t{0}](Rendering& inner) mutable -> std::optional<Value> {
                     if (at == view->mapping().entries().size()) return std::nullopt;
                     return view->at(inner, at++);
                   });
}

constexpr Filter kFilters[] = {
    {"batch", batch},       {"count", length},       {"dictsort", dictsort}, {"first", first},   {"groupby", groupby},
    {"items", items},       {"join", join},          {"last", last},         {"length", length}, {"list", list},
    {"max", extreme<true>}, {"min", extreme<false>}, {"reverse", reverse},   {"slice", slice},   {"sort", sort},
    {"sum", sum},           {"unique", unique},
};

}  // namespace

std::span<const Filter> sequence_filters() { return kFilters; }

AttributePath::AttributePath(Rendering& run, const Value& path) {
  if (path.is_none()) return;
  if (!path.is_text()) {
    steps_.push_back(path);
    return;
  }
  const std::string_view text = path.bytes();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    const std::string_view step = text.substr(at, end - at);
    const bool is_index =
        !step.empty() && step.size() < 18 && std::ranges::all_of(step, [](char c) { return c >= '0' && c <= '9'; });
    steps_.push_back(is_index ? Value::integer(std::stoll(std::string(step)))
                              : make_text(run.budget(), std::string(step)));
    at = end + 1;
  }
}

Value AttributePath::of(Rendering& run, const Value& value, const Value* otherwise) const {
  Value found = value;
  for (const Value& step : steps_) {
    run.budget().work();
    found = item_of(run, found, step);
    if (otherwise != nullptr && found.is_undefined()) found = *otherwise;
  }
  return found;
}

Value without_case(Rendering& run, const Value& value) {
  if (!value.is_text()) return value;
  run.budget().work(value.bytes().size() / 8);
  return make_text(run.budget(), lower_text(value.bytes()));
}

std::vector<std::size_t> sorted_order(Rendering& run, const Values& keys, bool is_reversed) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (is_reversed) std::ranges::reverse(order);  // equal ones keep their order
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return less(run, keys[a], keys[b]); });
  if (is_reversed) std::ranges::reverse(order);
  return order;
}

}  // namespace alate::tokenizers::chat_templates
