#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"

namespace alate::tokenizers::chat_templates {
namespace {

Value bound(const Value& self, std::string_view name, Function::Body body) {
  return Value(std::make_shared<Function>(std::string(name), std::move(body), depth_of(self)));
}

// Python's attributes that the sandbox hides.
bool is_hidden(std::string_view name) { return name.size() > 4 && name.starts_with("__") && name.ends_with("__"); }

constexpr std::string_view kChangesList[] = {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"};
constexpr std::string_view kChangesMapping[] = {"clear", "pop", "popitem", "setdefault", "update"};

Value forbidden(Rendering& run, const Value& self, std::string_view name) {
  return make_undefined(run.budget(), "access to attribute '" + std::string(name) + "' of '" +
                                          std::string(type_name(self)) + "' object is unsafe.");
}

std::optional<Value> sequence_method(const Value& self, std::string_view name) {
  if (name == "index") {
    return bound(self, name, [self](Rendering& run, Arguments arguments) {
      const Parameters given(run, "index", std::move(arguments), {"value", "start", "stop"}, 1);
      const auto size = static_cast<Integer>(self.sequence().items.size());
      const auto place = [&](std::size_t i, Integer otherwise) {
        const Integer at = given.integer(i, otherwise);
        return std::clamp(at < 0 ? at + size : at, Integer{0}, size);
      };
      const Integer stop = place(2, size);
      for (Integer i = place(1, 0); i < stop; ++i) {
        if (equals(run, self.sequence().items[static_cast<std::size_t>(i)], given[0])) return Value::integer(i);
      }
      run.fail("the value is not in the ", type_name(self));
    });
  }
  if (name == "count") {
    return bound(self, name, [self](Rendering& run, Arguments arguments) {
      const Parameters given(run, "count", std::move(arguments), {"value"}, 1);
      Integer count = 0;
      for (const Value& item : self.sequence().items) count += equals(run, item, given[0]) ? 1 : 0;
      return Value::integer(count);
    });
  }
  if (name == "copy" && self.is_list()) {
    return bound(self, name, [self](Rendering& run, Arguments arguments) {
      const Parameters none(run, "copy", std::move(arguments), {});
      return self;
    });
  }
  if (self.sequence().is_group) {
    if (name == "grouper") return self.sequence().items[0];
    if (name == "list") return self.sequence().items[1];
  }
  return std::nullopt;
}

std::optional<Value> mapping_method(const Value& self, std::string_view name) {
  if (name == "get") {
    return bound(self, name, [self](Rendering& run, Arguments arguments) {
      const Parameters given(run, "get", std::move(arguments), {"key", "default"}, 1);
      require_hashable(run, given[0]);
      const Value* found = self.mapping().find(run, given[0]);
      return found != nullptr ? *found : given.has(1) ? given[1] : Value::none();
    });
  }
  const std::array views{std::pair(std::string_view("keys"), MappingView::Part::keys),
                         std::pair(std::string_view("values"), MappingView::Part::values),
                         std::pair(std::string_view("items"), MappingView::Part::items)};
  for (const auto& [view, part] : views) {
    if (name != view) continue;
    return bound(self, name, [self, part](Rendering& run, Arguments arguments) {
      const Parameters given(run, "the view of a dict", std::move(arguments), {});
      return Value(std::shared_ptr<Object>(std::make_shared<MappingView>(self.shared_mapping(), part)));
    });
  }
  if (name == "copy") {
    return bound(self, name, [self](Rendering& run, Arguments arguments) {
      const Parameters none(run, "copy", std::move(arguments), {});
      return self;
    });
  }
  if (name == "fromkeys") {
    return bound(self, name, [](Rendering& run, Arguments arguments) {
      const Parameters given(run, "fromkeys", std::move(arguments), {"iterable", "value"}, 1);
      MappingBuilder entries(run);
      for (const Value& key : all_items(run, given[0])) entries.set(key, given.has(1) ? given[1] : Value::none());
      return entries.take();
    });
  }
  return std::nullopt;
}

// The ratio of integers that a float is exactly.
Value ratio_of(Rendering& run, double number) {
  if (!std::isfinite(number)) run.fail("cannot convert Infinity or NaN to integer ratio");
  int exponent = 0;
  auto numerator = static_cast<Integer>(std::ldexp(std::frexp(number, &exponent), 53));
  exponent -= 53;
  for (; numerator != 0 && numerator % 2 == 0 && exponent < 0; ++exponent) numerator /= 2;
  if (numerator == 0) exponent = 0;
  constexpr int kMaxShift = 72;  // 53 bits more make 126
  if (std::abs(exponent) > kMaxShift + 53 || exponent > kMaxShift) {
    run.fail_limit("an integer of the chat template has more than 127 bits");
  }
  const Integer scale = Integer{1} << std::abs(exponent);
  return make_tuple(run.budget(), {Value::integer(exponent > 0 ? numerator * scale : numerator),
                                   Value::integer(exponent > 0 ? Integer{1} : scale)});
}

Value bits_of(Integer value, bool counts_ones) {
  Integer bits = 0;
  __extension__ typedef unsigned __int128 Magnitude;
  auto rest = value < 0 ? Magnitude{0} - static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
  for (; rest != 0; rest >>= 1) bits += counts_ones ? static_cast<Integer>(rest & 1) : Integer{1};
  return Value::integer(bits);
}

constexpr std::string_view kMakesBytes[] = {"to_bytes", "from_bytes", "hex", "fromhex"};

std::optional<Value> number_method(const Value& value, std::string_view name) {
  const bool is_real = value.is(Value::Kind::real);
  const auto nullary = [&](auto give) {
    return bound(value, name, [value, give, method = std::string(name)](Rendering& run, Arguments arguments) {
      const Parameters none(run, method, std::move(arguments), {});
      return give(run, value);
    });
  };
  if (name == "real") return is_real ? value : Value::integer(value.integer());
  if (name == "imag") return is_real ? Value::real(0) : Value::integer(0);
  if (name == "conjugate") {
    return nullary([](Rendering&, const Value& self) {
      return self.is(Value::Kind::real) ? self : Value::integer(self.integer());
    });
  }
  if (name == "as_integer_ratio") {
    return nullary([](Rendering& run, const Value& self) {
      if (self.is(Value::Kind::real)) return ratio_of(run, self.real());
      return make_tuple(run.budget(), {Value::integer(self.integer()), Value::integer(1)});
    });
  }
  const bool is_of_integers = name == "to_bytes" || name == "from_bytes";
  if (is_of_integers != is_real && std::ranges::find(kMakesBytes, name) != std::end(kMakesBytes)) {
    return bound(value, name, [method = std::string(name)](Rendering& run, Arguments) -> Value {
      run.fail("the method ", method, " of numbers, which chat templates have no use for");
    });
  }
  if (is_real) {
    if (name != "is_integer") return std::nullopt;
    return nullary([](Rendering&, const Value& self) {
      return Value::boolean(std::isfinite(self.real()) && self.real() == std::trunc(self.real()));
    });
  }
  if (name == "numerator") return Value::integer(value.integer());
  if (name == "denominator") return Value::integer(1);
  if (name == "bit_length")
    return nullary([](Rendering&, const Value& self) { return bits_of(self.integer(), false); });
  if (name == "bit_count") return nullary([](Rendering&, const Value& self) { return bits_of(self.integer(), true); });
  return std::nullopt;
}

}  // namespace

std::optional<Value> method_of(Rendering& run, const Value& value, std::string_view name) {
  if (is_hidden(name)) return forbidden(run, value, name);
  if (value.is_text()) return text_method(run, value, name);
  if (value.is_mapping()) {
    if (std::ranges::find(kChangesMapping, name) != std::end(kChangesMapping)) return forbidden(run, value, name);
    return mapping_method(value, name);
  }
  if (value.is_sequence()) {
    if (value.is_list() && std::ranges::find(kChangesList, name) != std::end(kChangesList)) {
      return forbidden(run, value, name);
    }
    return sequence_method(value, name);
  }
  if (value.is_number()) return number_method(value, name);
  return std::nullopt;
}

}  // namespace alate::tokenizers::chat_templates
