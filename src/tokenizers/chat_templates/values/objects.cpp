#include "tokenizers/chat_templates/values/object.h"

#include <algorithm>

#include "alate/error.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

// Filters of filters of filters …: each value goes through all of them.
constexpr int kMaxGeneratorDepth = 100;

class SequenceIterator : public Iterator {
 public:
  explicit SequenceIterator(std::shared_ptr<const Sequence> sequence) : sequence_(std::move(sequence)) {}

 private:
  std::optional<Value> produce(Rendering&) override {
    if (at_ == sequence_->items.size()) return std::nullopt;
    return sequence_->items[at_++];
  }

  std::shared_ptr<const Sequence> sequence_;
  std::size_t at_ = 0;
};

class TextIterator : public Iterator {
 public:
  explicit TextIterator(Value text) : text_(std::move(text)) {}

 private:
  std::optional<Value> produce(Rendering& run) override {
    const std::string_view bytes = text_.bytes();
    if (at_ == bytes.size()) return std::nullopt;
    const std::size_t length = decode_utf8(bytes, at_).length;
    Value character = make_text(run.budget(), std::string(bytes.substr(at_, length)));
    at_ += length;
    return character;
  }

  Value text_;
  std::size_t at_ = 0;
};

class EmptyIterator : public Iterator {
  std::optional<Value> produce(Rendering&) override { return std::nullopt; }
};

// The items of an object by their index.
template <typename T>
class IndexIterator : public Iterator {
 public:
  explicit IndexIterator(T object) : object_(std::move(object)) {}

 private:
  std::optional<Value> produce(Rendering& run) override {
    if (at_ >= object_.size()) return std::nullopt;
    run.budget().work();
    return object_.at(run, at_++);
  }

  T object_;
  std::size_t at_ = 0;
};

struct RangeItems {
  Range range;
  std::size_t size() const { return range.size(); }
  Value at(Rendering&, std::size_t i) const { return Value::integer(range.at(i)); }
};

struct ViewItems {
  MappingView view;
  std::size_t size() const { return view.mapping().entries().size(); }
  Value at(Rendering& run, std::size_t i) const { return view.at(run, i); }
};

class GeneratorIterator : public Iterator {
 public:
  explicit GeneratorIterator(std::shared_ptr<Generator> generator) : generator_(std::move(generator)) {}

 private:
  std::optional<Value> produce(Rendering& run) override {
    run.budget().work();
    return generator_->next(run);
  }

  std::shared_ptr<Generator> generator_;
};

}  // namespace

int depth_of(const Arguments& arguments) {
  int deepest = 0;
  for (const Value& value : arguments.positional) deepest = std::max(deepest, depth_of(value));
  for (const auto& [name, value] : arguments.named) deepest = std::max(deepest, depth_of(value));
  return deepest;
}

std::optional<Value> Iterator::next(Rendering& run) {
  if (is_executing_) run.fail("generator already executing");
  is_executing_ = true;
  struct End {
    bool& is_executing;
    ~End() { is_executing = false; }
  } const end{is_executing_};
  return produce(run);
}

void Object::append_repr(Rendering&, Builder& out) {
  out.append("<");
  out.append(type_name());
  out.append(" object>");
}

std::optional<Value> Object::attribute(Rendering&, std::string_view) { return std::nullopt; }

Value Object::call(Rendering& run, Arguments) { run.fail("'", type_name(), "' object is not callable"); }

IteratorPtr Object::iterate(Rendering&) { return nullptr; }

std::optional<std::size_t> Object::length(Rendering&) { return std::nullopt; }

void Function::append_repr(Rendering&, Builder& out) { out.append("<function " + name_ + ">"); }

Value Function::call(Rendering& run, Arguments arguments) { return body_(run, std::move(arguments)); }

void Range::append_repr(Rendering&, Builder& out) {
  out.append("range(" + decimal(start_) + ", " + decimal(stop_) + (step_ == 1 ? "" : ", " + decimal(step_)) + ")");
}

std::optional<Value> Range::attribute(Rendering&, std::string_view name) {
  if (name == "start") return Value::integer(start_);
  if (name == "stop") return Value::integer(stop_);
  if (name == "step") return Value::integer(step_);
  if (name != "index" && name != "count") return std::nullopt;
  const bool counts = name == "count";
  return Value(std::shared_ptr<Object>(
      std::make_shared<Function>(std::string(name), [range = *this, counts](Rendering& run, Arguments arguments) {
        const Parameters given(run, "the method", std::move(arguments), {"value"}, 1);
        for (std::size_t i = 0; i < range.size(); ++i) {
          if (!equals(run, Value::integer(range.at(i)), given[0])) continue;
          return Value::integer(counts ? Integer{1} : static_cast<Integer>(i));
        }
        if (!counts) run.fail("the value is not in the range");
        return Value::integer(0);
      })));
}

IteratorPtr Range::iterate(Rendering&) { return std::make_unique<IndexIterator<RangeItems>>(RangeItems{*this}); }

std::optional<std::size_t> Range::length(Rendering&) { return size_; }

Generator::Generator(std::string_view type_name, Next next, int depth)
    : type_name_(type_name), next_(std::move(next)), depth_(depth + 1) {
  if (depth >= kMaxGeneratorDepth + kMaxValueDepth) {
    throw Error(ErrorCode::resource_exhausted, "filters of the chat template nest too deeply");
  }
}

IteratorPtr Generator::iterate(Rendering&) {
  return std::make_unique<GeneratorIterator>(std::static_pointer_cast<Generator>(shared_from_this()));
}

std::optional<Value> Generator::produce(Rendering& run) {
  const Rendering::Nesting nesting(run);  // generators take their values from one another
  return next_ ? next_(run) : std::nullopt;
}

std::string_view MappingView::type_name() const {
  return part_ == Part::keys ? "dict_keys" : part_ == Part::values ? "dict_values" : "dict_items";
}

Value MappingView::at(Rendering& run, std::size_t i) const {
  const auto& [key, value] = mapping_->entries()[i];
  if (part_ == Part::keys) return key;
  if (part_ == Part::values) return value;
  return make_tuple(run.budget(), {key, value});
}

void MappingView::append_repr(Rendering& run, Builder& out) {
  out.append(type_name());
  out.append("([");
  for (std::size_t i = 0; i < mapping_->entries().size(); ++i) {
    if (i > 0) out.append(", ");
    chat_templates::append_repr(run, out, at(run, i));
  }
  out.append("])");
}

std::optional<Value> MappingView::attribute(Rendering&, std::string_view name) {
  if (name == "mapping") return Value(mapping_);
  if (name != "isdisjoint" || part_ == Part::values) return std::nullopt;
  return Value(std::shared_ptr<Object>(std::make_shared<Function>(
      std::string(name),
      [view = *this](Rendering& run, Arguments arguments) {
        const Parameters given(run, "isdisjoint", std::move(arguments), {"other"}, 1);
        for (const Value& item : all_items(run, given[0])) {
          if (view.part() == Part::keys) require_hashable(run, item);
          const Value self(std::shared_ptr<Object>(std::make_shared<MappingView>(view)));
          if (contains(run, self, item)) return Value::boolean(false);
        }
        return Value::boolean(true);
      },
      depth())));
}

IteratorPtr MappingView::iterate(Rendering&) { return std::make_unique<IndexIterator<ViewItems>>(ViewItems{*this}); }

std::optional<std::size_t> MappingView::length(Rendering&) { return mapping_->entries().size(); }

void Namespace::append_repr(Rendering& run, Builder& out) {
  out.append("<Namespace {");
  for (std::size_t i = 0; i < attributes_.size(); ++i) {
    if (i > 0) out.append(", ");
    append_quoted(out, attributes_[i].first);
    out.append(": ");
    const Value value = attributes_[i].second;  // a loop's length may run code that changes this namespace
    chat_templates::append_repr(run, out, value);
  }
  out.append("}>");
}

std::optional<Value> Namespace::attribute(Rendering& run, std::string_view name) {
  run.budget().work(attributes_.size() * (8 + name.size()) / 64);
  for (const auto& [each, value] : attributes_) {
    if (each == name) return value;
  }
  return std::nullopt;
}

void Namespace::set(Rendering& run, std::string_view name, Value value) {
  if (name.starts_with('_')) {
    run.fail("a namespace of a chat template has no attributes that begin with an underscore: ", name);
  }
  run.budget().work(attributes_.size() * (8 + name.size()) / 64);
  for (auto& [each, old] : attributes_) {
    if (each == name) {
      old = std::move(value);
      return;
    }
  }
  attributes_.emplace_back(name, std::move(value));
}

IteratorPtr try_iterate(Rendering& run, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::missing:
    case Value::Kind::undefined: return std::make_unique<EmptyIterator>();
    case Value::Kind::text: return std::make_unique<TextIterator>(value);
    case Value::Kind::sequence: return std::make_unique<SequenceIterator>(value.shared_sequence());
    case Value::Kind::mapping: return MappingView(value.shared_mapping(), MappingView::Part::keys).iterate(run);
    case Value::Kind::object: return value.object().iterate(run);
    default: return nullptr;
  }
}

IteratorPtr iterate(Rendering& run, const Value& value) {
  IteratorPtr iterator = try_iterate(run, value);
  if (iterator == nullptr) run.fail("'", type_name(value), "' object is not iterable");
  return iterator;
}

Values all_items(Rendering& run, const Value& value) {
  if (value.is_sequence()) {
    const Charge check(run.budget(), value.sequence().items.size() * sizeof(Value));
    return value.sequence().items;
  }
  const IteratorPtr iterator = iterate(run, value);
  Values items;
  while (std::optional<Value> item = iterator->next(run)) {
    run.budget().work();
    items.push_back(std::move(*item));
  }
  return items;
}

std::optional<std::size_t> length_of(Rendering& run, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::missing:
    case Value::Kind::undefined: return 0;
    case Value::Kind::text: return value.text().length;
    case Value::Kind::sequence: return value.sequence().items.size();
    case Value::Kind::mapping: return value.mapping().entries().size();
    case Value::Kind::object: return value.object().length(run);
    default: return std::nullopt;
  }
}

}  // namespace alate::tokenizers::chat_templates
