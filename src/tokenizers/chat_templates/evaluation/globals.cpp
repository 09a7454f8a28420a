#include "tokenizers/chat_templates/evaluation/globals.h"

#include <algorithm>
#include <ctime>

#include "base/os/local_time.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"

namespace alate::tokenizers::chat_templates {
namespace {

constexpr std::size_t kMaxRange = 100'000;  // as in Jinja's sandbox

Value range(Rendering& run, Arguments arguments) {
  if (!arguments.named.empty()) run.fail("range() takes no keyword arguments");
  const Parameters given(run, "range", std::move(arguments), {"start", "stop", "step"}, 1);
  const Integer start = given.has(1) ? given.integer(0, 0) : 0;
  const Integer stop = given.has(1) ? given.integer(1, 0) : given.integer(0, 0);
  const Integer step = given.integer(2, 1);
  if (step == 0) run.fail("range() arg 3 must not be zero");
  Integer span = 0;
  if (__builtin_sub_overflow(step > 0 ? stop : start, step > 0 ? start : stop, &span)) span = Integer{1} << 100;
  const Integer stride = step > 0 ? step : step == (Integer{1} << 126) * -2 ? Integer{1} << 100 : -step;
  const Integer size = span <= 0 ? 0 : (span - 1) / stride + 1;
  if (size > static_cast<Integer>(kMaxRange)) {
    run.fail_limit("range too big: the sandbox allows ranges of 100000 numbers");
  }
  return Value(std::shared_ptr<Object>(std::make_shared<Range>(start, stop, step, static_cast<std::size_t>(size))));
}

// dict(mapping or pairs, name=value …)
Value dict(Rendering& run, Arguments arguments) {
  if (arguments.positional.size() > 1) run.fail("dict expected at most 1 argument");
  MappingBuilder entries(run);
  for (const Value& source : arguments.positional) {
    if (source.is_mapping()) {
      entries.set_all(source.mapping());
      continue;
    }
    for (const Value& pair : all_items(run, source)) {
      const Values parts = all_items(run, pair);
      if (parts.size() != 2) run.fail("a dict is made of pairs");
      entries.set(parts[0], parts[1]);
    }
  }
  for (auto& [name, value] : arguments.named) entries.set(name, std::move(value));
  return entries.take();
}

Value dict_fromkeys(Rendering& run, Arguments arguments) {
  const Parameters given(run, "fromkeys", std::move(arguments), {"iterable", "value"}, 1);
  MappingBuilder entries(run);
  for (const Value& key : all_items(run, given[0])) entries.set(key, given.has(1) ? given[1] : Value::none());
  return entries.take();
}

class DictFunction : public Function {
 public:
  DictFunction() : Function("dict", dict) {}
  std::optional<Value> attribute(Rendering&, std::string_view name) override {
    if (name != "fromkeys") return std::nullopt;
    return Value(std::shared_ptr<Object>(std::make_shared<Function>("fromkeys", dict_fromkeys)));
  }
};

Value new_namespace(Rendering& run, Arguments arguments) {
  const Value attributes = dict(run, std::move(arguments));
  const auto space = run.keep(std::make_shared<Namespace>());
  for (const auto& [key, value] : attributes.mapping().entries()) {
    if (key.is_text()) space->set(run, key.bytes(), value);
  }
  return Value(std::shared_ptr<Object>(space));
}

class Cycler : public Object {
 public:
  explicit Cycler(Value items) : items_(std::move(items)) {}
  std::string_view type_name() const override { return "Cycler"; }
  int depth() const override { return depth_of(items_); }
  std::optional<Value> attribute(Rendering& run, std::string_view name) override {
    const Values& items = items_.sequence().items;
    if (name == "current") return items[at_];
    if (name == "items") return items_;
    if (name == "pos") return Value::integer(static_cast<Integer>(at_));
    if (name != "next" && name != "reset") return std::nullopt;
    const bool resets = name == "reset";
    const auto self = std::static_pointer_cast<Cycler>(shared_from_this());
    run.budget().work();
    return Value(std::shared_ptr<Object>(std::make_shared<Function>(
        std::string(name),
        [self, resets](Rendering& inner, Arguments arguments) {
          const Parameters none(inner, resets ? "reset" : "next", std::move(arguments), {});
          const Value current = self->items_.sequence().items[self->at_];
          self->at_ = resets ? 0 : (self->at_ + 1) % self->items_.sequence().items.size();
          return resets ? Value::none() : current;
        },
        depth())));
  }
  static Value make(Rendering& run, Arguments arguments) {
    if (arguments.positional.empty()) run.fail("at least one item has to be provided");
    if (!arguments.named.empty()) run.fail("cycler() takes no keyword arguments");
    return Value(
        std::shared_ptr<Object>(std::make_shared<Cycler>(make_tuple(run.budget(), std::move(arguments.positional)))));
  }

 private:
  Value items_;
  std::size_t at_ = 0;
};

class Joiner : public Object {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)), depth_(deeper_than(depth_of(separator_))) {}
  std::string_view type_name() const override { return "Joiner"; }
  int depth() const override { return depth_; }
  bool is_callable() const override { return true; }
  Value call(Rendering&, Arguments) override {
    if (std::exchange(is_used_, true)) return separator_;
    return constant_text("");
  }
  static Value make(Rendering& run, Arguments arguments) {
    const Parameters given(run, "joiner", std::move(arguments), {"sep"});
    return Value(std::shared_ptr<Object>(std::make_shared<Joiner>(given.has(0) ? given[0] : constant_text(", "))));
  }

 private:
  Value separator_;
  int depth_;
  bool is_used_ = false;
};

Value raise_exception(Rendering& run, Arguments arguments) {
  const Parameters given(run, "raise_exception", std::move(arguments), {"message"}, 1);
  std::string message = text_of(run, given[0]);
  std::ranges::replace(message, '\n', ' ');
  std::ranges::replace(message, '\r', ' ');
  throw Error(ErrorCode::invalid_argument, message);
}

// strftime of the C library, with Python's two additions: %f, and %z and %Z of a time without a zone.
Value strftime_now(Rendering& run, Arguments arguments) {
  const Parameters given(run, "strftime_now", std::move(arguments), {"format"}, 1);
  const std::string_view format = given.text(0, "");
  const base::LocalTime now = base::local_time(run.now());
  std::string expanded;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      expanded += format[i];
      continue;
    }
    const char directive = format[++i];
    if (directive == 'f') {
      const std::string digits = std::to_string(1'000'000 + now.microseconds);
      expanded += digits.substr(1);
    } else if (directive != 'z' && directive != 'Z') {
      expanded += {'%', directive};
    }
  }
  if (expanded.empty()) return constant_text("");
  if (expanded.find('\0') != std::string::npos) run.fail("embedded null character in strftime_now");
  constexpr std::size_t kMaxBytes = std::size_t{1} << 16;
  std::string text(std::max<std::size_t>(1024, expanded.size()), '\0');
  for (;;) {
    run.budget().work(text.size() / 32);
    const std::size_t size = std::strftime(text.data(), text.size(), expanded.c_str(), &now.calendar);
    if (size > 0) {
      text.resize(size);
      return make_text(run.budget(), std::move(text));
    }
    if (text.size() >= kMaxBytes || text.size() >= 256 * expanded.size()) return constant_text("");
    text.resize(text.size() * 2);
  }
}

// Two renderings of a conversation must not differ.
Value lipsum(Rendering& run, Arguments) {
  run.fail("the function lipsum makes random text, which chat templates may not use");
}

}  // namespace

Value find_global(Rendering&, std::string_view name) {
  const auto function = [&](Function::Body body) {
    return Value(std::shared_ptr<Object>(std::make_shared<Function>(std::string(name), std::move(body))));
  };
  if (name == "range") return function(range);
  if (name == "dict") return Value(std::shared_ptr<Object>(std::make_shared<DictFunction>()));
  if (name == "namespace") return function(new_namespace);
  if (name == "cycler") return function(Cycler::make);
  if (name == "joiner") return function(Joiner::make);
  if (name == "raise_exception") return function(raise_exception);
  if (name == "strftime_now") return function(strftime_now);
  if (name == "lipsum") return function(lipsum);
  return {};
}

}  // namespace alate::tokenizers::chat_templates
