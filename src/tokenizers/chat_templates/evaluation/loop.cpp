#include "tokenizers/chat_templates/evaluation/loop.h"

#include "tokenizers/chat_templates/evaluation/evaluator.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"

namespace alate::tokenizers::chat_templates {
namespace {

class ListIterator : public Iterator {
 public:
  explicit ListIterator(Values values) : values_(std::move(values)) {}

 private:
  std::optional<Value> produce(Rendering&) override {
    if (at_ == values_.size()) return std::nullopt;
    return std::move(values_[at_++]);
  }

  Values values_;
  std::size_t at_ = 0;
};

Value integer(std::size_t value) { return Value::integer(static_cast<Integer>(value)); }

}  // namespace

const Value* Loop::peek(Rendering& run) {
  if (!is_peeked_ && items_ != nullptr) next_ = items_->next(run);
  is_peeked_ = true;
  return next_ ? &*next_ : nullptr;
}

std::optional<Value> Loop::advance(Rendering& run) {
  std::optional<Value> item = is_peeked_ ? std::exchange(next_, std::nullopt) : items_->next(run);
  is_peeked_ = false;
  if (!item) {
    is_peeked_ = true;  // there is no next one
    return std::nullopt;
  }
  ++index_;
  previous_ = std::move(current_);
  current_ = *item;
  return item;
}

std::optional<std::size_t> Loop::length(Rendering& run) {
  if (!size_) {
    Values rest;
    while (items_ != nullptr) {
      std::optional<Value> item = items_->next(run);
      if (!item) break;
      run.budget().work();
      rest.push_back(std::move(*item));
    }
    size_ = rest.size() + index_ + (is_peeked_ && next_ ? 1 : 0);
    items_ = std::make_unique<ListIterator>(std::move(rest));
  }
  return size_;
}

void Loop::append_repr(Rendering& run, Builder& out) {
  out.append("<LoopContext " + std::to_string(index_) + "/" + std::to_string(*length(run)) + ">");
}

Value Loop::cycle(Rendering& run, const Arguments& arguments) {
  if (arguments.positional.empty()) run.fail("loop.cycle needs items");
  return arguments.positional[(index_ == 0 ? 0 : index_ - 1) % arguments.positional.size()];
}

Value Loop::changed(Rendering& run, Arguments arguments) {
  Value values = make_tuple(run.budget(), std::move(arguments.positional));
  if (changed_ && equals(run, *changed_, values)) return Value::boolean(false);
  changed_ = std::move(values);
  return Value::boolean(true);
}

std::optional<Value> Loop::attribute(Rendering& run, std::string_view name) {
  if (name == "index") return integer(index_);
  if (name == "index0") return Value::integer(static_cast<Integer>(index_) - 1);
  if (name == "first") return Value::boolean(index_ == 1);
  if (name == "last") return Value::boolean(peek(run) == nullptr);
  if (name == "length") return integer(*length(run));
  if (name == "revindex0") return Value::integer(static_cast<Integer>(*length(run)) - static_cast<Integer>(index_));
  if (name == "revindex") return Value::integer(static_cast<Integer>(*length(run)) - static_cast<Integer>(index_) + 1);
  if (name == "depth") return Value::integer(depth_ + 1);
  if (name == "depth0") return Value::integer(depth_);
  if (name == "previtem") return index_ == 1 ? Value::undefined("there is no previous item") : previous_;
  if (name == "nextitem") {
    const Value* next = peek(run);
    return next == nullptr ? Value::undefined("there is no next item") : *next;
  }
  if (name == "cycle" || name == "changed") {
    const bool cycles = name == "cycle";
    const auto self = std::static_pointer_cast<Loop>(shared_from_this());
    return Value(std::make_shared<Function>(std::string(name), [self, cycles](Rendering& inner, Arguments arguments) {
      return cycles ? self->cycle(inner, arguments) : self->changed(inner, std::move(arguments));
    }));
  }
  return std::nullopt;
}

Value Loop::call(Rendering& run, Arguments arguments) {
  if (own_ == nullptr) run.fail("a loop without the mark 'recursive' cannot be called");
  const Parameters parameters(run, "loop", std::move(arguments), {"iterable"}, 1);
  return evaluator_.run_recursive_loop(statement_, *own_, parameters[0], depth_ + 1);
}

void Loop::release() {
  items_ = nullptr;
  next_ = std::nullopt;
  changed_ = std::nullopt;
  current_ = previous_ = Value();
}

}  // namespace alate::tokenizers::chat_templates
