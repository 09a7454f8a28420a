// Values with behaviour: functions, iterators, namespaces, loops.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizers/chat_templates/values/value.h"

namespace alate::tokenizers::chat_templates {

/// The arguments of a call.
struct Arguments {
  Values positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// How deep containers nest in the arguments.
int depth_of(const Arguments& arguments);

/// Yields values one at a time, as Python's iterators do. Making a value may run code of the template, which may ask
/// the same iterator for a value: that fails, as for Python's generators.
class Iterator {
 public:
  virtual ~Iterator() = default;
  /// Nothing at the end.
  std::optional<Value> next(Rendering& run);

 private:
  virtual std::optional<Value> produce(Rendering& run) = 0;

  bool is_executing_ = false;
};
using IteratorPtr = std::unique_ptr<Iterator>;

/// Functions and iterators that an object gives share in owning it: they may outlive whoever asked for them. An object
/// that comes to refer to other values after it has been made is one that the rendering keeps (Rendering::keep): only
/// for others does `depth` bound how many objects are destroyed inside one another, and only they cannot form a circle.
class Object : public std::enable_shared_from_this<Object> {
 public:
  virtual ~Object() = default;

  /// The name of the Python type, for messages.
  virtual std::string_view type_name() const = 0;
  virtual void append_repr(Rendering& run, Builder& out);
  /// Nothing if there is no such attribute.
  virtual std::optional<Value> attribute(Rendering& run, std::string_view name);
  virtual bool is_callable() const { return false; }
  virtual Value call(Rendering& run, Arguments arguments);
  /// Null if it cannot be iterated over.
  virtual IteratorPtr iterate(Rendering& run);
  virtual std::optional<std::size_t> length(Rendering& run);
  /// How deep containers nest in what it refers to.
  virtual int depth() const { return 0; }
  /// Lets go of other values, at the end of a rendering: they may refer back to this one.
  virtual void release() {}
};

/// A function of the engine, or a method that is bound to its value.
class Function : public Object {
 public:
  using Body = std::function<Value(Rendering&, Arguments)>;
  Function(std::string name, Body body, int depth = 0)
      : name_(std::move(name)), body_(std::move(body)), depth_(depth) {}

  std::string_view type_name() const override { return "function"; }
  void append_repr(Rendering& run, Builder& out) override;
  bool is_callable() const override { return true; }
  Value call(Rendering& run, Arguments arguments) override;
  int depth() const override { return depth_; }

 private:
  std::string name_;
  Body body_;
  int depth_;
};

/// A range of integers.
class Range : public Object {
 public:
  /// `stop` is only written; `size` says where it ends.
  Range(Integer start, Integer stop, Integer step, std::size_t size)
      : start_(start), stop_(stop), step_(step), size_(size) {}

  std::string_view type_name() const override { return "range"; }
  std::optional<Value> attribute(Rendering& run, std::string_view name) override;
  void append_repr(Rendering& run, Builder& out) override;
  IteratorPtr iterate(Rendering& run) override;
  std::optional<std::size_t> length(Rendering& run) override;

  std::size_t size() const { return size_; }
  Integer at(std::size_t i) const { return start_ + static_cast<Integer>(i) * step_; }
  Integer start() const { return start_; }
  Integer step() const { return step_; }

 private:
  Integer start_, stop_, step_;
  std::size_t size_;
};

/// What lazy filters give: values that can be taken once, by whichever of its iterators asks first.
class Generator : public Object, public Iterator {
 public:
  using Next = std::function<std::optional<Value>(Rendering&)>;
  /// `depth` is that of all that `next` refers to.
  Generator(std::string_view type_name, Next next, int depth);

  std::string_view type_name() const override { return type_name_; }
  IteratorPtr iterate(Rendering& run) override;
  int depth() const override { return depth_; }
  void release() override { next_ = nullptr; }

 private:
  std::optional<Value> produce(Rendering& run) override;

  std::string_view type_name_;
  Next next_;
  int depth_;
};

/// dict.keys(), dict.values(), dict.items().
class MappingView : public Object {
 public:
  enum class Part { keys, values, items };
  MappingView(std::shared_ptr<const Mapping> mapping, Part part) : mapping_(std::move(mapping)), part_(part) {}

  std::string_view type_name() const override;
  void append_repr(Rendering& run, Builder& out) override;
  IteratorPtr iterate(Rendering& run) override;
  std::optional<std::size_t> length(Rendering& run) override;
  int depth() const override { return mapping_->depth(); }
  std::optional<Value> attribute(Rendering& run, std::string_view name) override;

  Part part() const { return part_; }
  const Mapping& mapping() const { return *mapping_; }
  Value at(Rendering& run, std::size_t i) const;

 private:
  std::shared_ptr<const Mapping> mapping_;
  Part part_;
};

/// namespace(): attributes that inner scopes can change. The rendering owns each, and empties it at the end.
class Namespace : public Object {
 public:
  std::string_view type_name() const override { return "Namespace"; }
  void append_repr(Rendering& run, Builder& out) override;
  std::optional<Value> attribute(Rendering& run, std::string_view name) override;
  void set(Rendering& run, std::string_view name, Value value);
  void release() override { attributes_.clear(); }

 private:
  std::vector<std::pair<std::string, Value>> attributes_;
};

/// The iterator of a value; fails if there is none.
IteratorPtr iterate(Rendering& run, const Value& value);
/// The same; null if there is none.
IteratorPtr try_iterate(Rendering& run, const Value& value);
/// All values of an iterable.
Values all_items(Rendering& run, const Value& value);
/// len(value), if it has one.
std::optional<std::size_t> length_of(Rendering& run, const Value& value);

}  // namespace alate::tokenizers::chat_templates
