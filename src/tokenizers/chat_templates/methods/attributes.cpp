#include "tokenizers/chat_templates/methods/attributes.h"

#include <algorithm>

#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"

namespace alate::tokenizers::chat_templates {
namespace {

// What messages call the owner of an attribute.
std::string owner_name(const Value& value) {
  return value.is_none() ? "None" : std::string(type_name(value)) + " object";
}

Value without_attribute(Rendering& run, const Value& value, std::string_view name) {
  return make_undefined(run.budget(), "'" + owner_name(value) + "' has no attribute '" + std::string(name) + "'");
}

// The element at an index that may count from the end; missing if there is none.
Value element(Rendering& run, const Value& value, Integer index) {
  const auto place = [&](std::size_t size) -> std::optional<std::size_t> {
    if (index < 0) index += static_cast<Integer>(size);
    if (index < 0 || index >= static_cast<Integer>(size)) return std::nullopt;
    return static_cast<std::size_t>(index);
  };
  if (value.is_sequence()) {
    const std::optional<std::size_t> at = place(value.sequence().items.size());
    return at ? value.sequence().items[*at] : Value();
  }
  if (value.is_text()) {
    const Text& text = value.text();
    const std::optional<std::size_t> at = place(text.length);
    if (!at) return Value();
    return make_text(run.budget(), std::string(code_points(run, text, *at, *at + 1)), text.is_markup);
  }
  if (const Range* range = value.as<Range>()) {
    const std::optional<std::size_t> at = place(range->size());
    return at ? Value::integer(range->at(*at)) : Value();
  }
  return Value();
}

struct Bounds {
  Integer start, stop, step;
  std::size_t count;
};

// What PySlice_AdjustIndices gives.
Bounds bounds_of(Rendering& run, std::size_t size, const Value& start, const Value& stop, const Value& step) {
  const auto integer = [&](const Value& value, Integer otherwise) {
    if (value.is_none()) return otherwise;
    if (value.is_undefined()) run.fail("slice indices must be integers: ", value.undefined_message());
    if (!value.is_integral()) run.fail("slice indices must be integers, not '", type_name(value), "'");
    constexpr Integer kFar = Integer{1} << 62;
    return std::clamp(value.integer(), -kFar, kFar);
  };
  const auto length = static_cast<Integer>(size);
  const Integer by = integer(step, 1);
  if (by == 0) run.fail("slice step cannot be zero");
  const auto adjusted = [&](Integer index) {
    if (index < 0) return std::max(index + length, by < 0 ? Integer{-1} : Integer{0});
    return std::min(index, by < 0 ? length - 1 : length);
  };
  const Integer first = start.is_none() ? (by < 0 ? length - 1 : Integer{0}) : adjusted(integer(start, 0));
  const Integer last = stop.is_none() ? (by < 0 ? Integer{-1} : length) : adjusted(integer(stop, 0));
  Integer count = 0;
  if (by > 0 && first < last) count = (last - first - 1) / by + 1;
  if (by < 0 && last < first) count = (first - last - 1) / -by + 1;
  return {first, last, by, static_cast<std::size_t>(count)};
}

Value text_slice(Rendering& run, const Text& text, const Bounds& bounds) {
  run.budget().work(text.bytes.size() / 64);
  if (bounds.step == 1) {
    const auto begin = static_cast<std::size_t>(bounds.start);
    return make_text(run.budget(), std::string(code_points(run, text, begin, begin + bounds.count)), text.is_markup);
  }
  std::vector<std::uint32_t> starts;  // of the code points
  const Charge charge(run.budget(), text.length * sizeof(std::uint32_t));
  starts.reserve(text.length + 1);
  for (std::size_t i = 0; i < text.bytes.size(); ++i) {
    if ((static_cast<unsigned char>(text.bytes[i]) & 0xC0) != 0x80) starts.push_back(static_cast<std::uint32_t>(i));
  }
  starts.push_back(static_cast<std::uint32_t>(text.bytes.size()));
  std::string out;
  for (std::size_t i = 0; i < bounds.count; ++i) {
    const auto at = static_cast<std::size_t>(bounds.start + static_cast<Integer>(i) * bounds.step);
    out.append(text.bytes, starts[at], starts[at + 1] - starts[at]);
  }
  run.budget().work(text.length / 16);
  return make_text(run.budget(), std::move(out), text.is_markup);
}

}  // namespace

Value attribute_of(Rendering& run, const Value& value, std::string_view name) {
  if (value.is_undefined()) run.fail(value.undefined_message());
  if (value.is_object()) {
    if (std::optional<Value> found = value.object().attribute(run, name)) return std::move(*found);
  } else if (std::optional<Value> method = method_of(run, value, name)) {
    return std::move(*method);
  }
  if (value.is_mapping()) {
    run.budget().work((value.mapping().entries().size() + name.size()) / 8);
    if (const Value* found = value.mapping().find(name)) return *found;
  }
  return without_attribute(run, value, name);
}

Value item_of(Rendering& run, const Value& value, const Value& key) {
  if (value.is_undefined()) run.fail(value.undefined_message());
  if (value.is_mapping()) {
    run.budget().work(value.mapping().entries().size() / 8);
    if (const Value* found = value.mapping().find(run, key)) return *found;
  } else if (key.is_integral()) {
    Value found = element(run, value, key.integer());
    if (!found.is_missing()) return found;
  }
  if (!key.is_text()) {
    return make_undefined(run.budget(), owner_name(value) + " has no element " + repr_of(run, key));
  }
  if (value.is_object()) {
    if (std::optional<Value> found = value.object().attribute(run, key.bytes())) return std::move(*found);
  } else if (std::optional<Value> method = method_of(run, value, key.bytes())) {
    return std::move(*method);
  }
  return without_attribute(run, value, key.bytes());
}

Value slice_of(Rendering& run, const Value& value, const Value& start, const Value& stop, const Value& step) {
  if (value.is_undefined()) run.fail(value.undefined_message());
  if (value.is_text()) return text_slice(run, value.text(), bounds_of(run, value.text().length, start, stop, step));
  if (const Range* range = value.as<Range>()) {
    const Bounds bounds = bounds_of(run, range->size(), start, stop, step);
    const Integer first = range->start() + bounds.start * range->step(), by = range->step() * bounds.step;
    const Integer last = range->start() + bounds.stop * range->step();
    return Value(std::make_shared<Range>(first, last, by, bounds.count));
  }
  if (!value.is_sequence()) run.fail("'", type_name(value), "' cannot be sliced");
  const Values& items = value.sequence().items;
  const Bounds bounds = bounds_of(run, items.size(), start, stop, step);
  { const Charge check(run.budget(), bounds.count * sizeof(Value)); }  // before any is copied
  Values part;
  part.reserve(bounds.count);
  for (std::size_t i = 0; i < bounds.count; ++i) {
    part.push_back(items[static_cast<std::size_t>(bounds.start + static_cast<Integer>(i) * bounds.step)]);
  }
  return value.is_tuple() ? make_tuple(run.budget(), std::move(part)) : make_list(run.budget(), std::move(part));
}

}  // namespace alate::tokenizers::chat_templates
