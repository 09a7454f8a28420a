// Values of a template: what Python's objects are to Jinja.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tokenizers/chat_templates/values/budget.h"

namespace alate::tokenizers::chat_templates {

/// Python's integers have no limit; these are refused beyond 127 bits.
__extension__ typedef __int128 Integer;

class Value;
class Object;
class Rendering;
using Values = std::vector<Value>;
using Entries = std::vector<std::pair<Value, Value>>;

/// Containers nest no deeper than this, so that recursion over values is bounded.
inline constexpr int kMaxValueDepth = 300;

struct Text {
  std::string bytes;       // valid UTF-8
  std::size_t length;      // in code points
  bool is_markup = false;  // made by `safe` or `escape`: joining it with other text escapes that
  Charge charge;

  bool is_ascii() const { return length == bytes.size(); }
};

struct Sequence {
  Values items;
  bool is_tuple = false;
  bool is_group = false;  // a tuple of groupby, with the attributes grouper and list
  int depth = 1;
  Charge charge;
};

/// A dict: entries in the order of insertion, keys distinct.
class Mapping {
 public:
  Mapping(Entries entries, Charge charge);

  const Entries& entries() const { return entries_; }
  int depth() const { return depth_; }
  /// The value of a text key.
  const Value* find(std::string_view key) const;
  /// The value of any key. Throws as `==` may not; unhashable keys are never found.
  const Value* find(Rendering& run, const Value& key) const;

 private:
  Entries entries_;
  std::vector<std::uint32_t> by_key_;  // text keys in order, when there are many
  int depth_ = 1;
  Charge charge_;
};

class Value {
 public:
  enum class Kind : std::uint8_t { missing, undefined, none, boolean, integer, real, text, sequence, mapping, object };

  struct Missing {};  // a variable without a value; never seen by an expression
  struct None {};
  struct Message {
    std::string text;
    Charge charge;
  };
  struct Undefined {
    std::shared_ptr<const Message> message;  // what using it is refused with
  };

  Value() = default;  // missing
  static Value none() { return Value(Direct(), Data(None{})); }
  /// `charge` is for a message that contains text of the template.
  static Value undefined(std::string message, Charge charge = {}) {
    return Value(Direct(), Data(Undefined{std::shared_ptr<const Message>(
                               new Message{.text = std::move(message), .charge = std::move(charge)})}));
  }
  static Value boolean(bool value) { return Value(Direct(), Data(value)); }
  static Value integer(Integer value) { return Value(Direct(), Data(value)); }
  static Value real(double value) { return Value(Direct(), Data(value)); }
  Value(std::shared_ptr<const Text> value) : data_(std::move(value)) {}
  Value(std::shared_ptr<const Sequence> value) : data_(std::move(value)) {}
  Value(std::shared_ptr<const Mapping> value) : data_(std::move(value)) {}
  Value(std::shared_ptr<Object> value) : data_(std::move(value)) {}

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_missing() const { return is(Kind::missing); }
  bool is_undefined() const { return is(Kind::undefined); }
  bool is_none() const { return is(Kind::none); }
  bool is_text() const { return is(Kind::text); }
  bool is_sequence() const { return is(Kind::sequence); }
  bool is_list() const { return is_sequence() && !sequence().is_tuple; }
  bool is_tuple() const { return is_sequence() && sequence().is_tuple; }
  bool is_mapping() const { return is(Kind::mapping); }
  bool is_object() const { return is(Kind::object); }
  bool is_integral() const { return is(Kind::integer) || is(Kind::boolean); }
  bool is_number() const { return is_integral() || is(Kind::real); }

  // REQUIRES: the value is of the kind.
  bool boolean() const { return *std::get_if<bool>(&data_); }
  double real() const { return *std::get_if<double>(&data_); }
  /// Of an integer or a boolean.
  Integer integer() const { return is(Kind::boolean) ? Integer{boolean()} : *std::get_if<Integer>(&data_); }
  /// Of any number.
  double number() const { return is(Kind::real) ? real() : static_cast<double>(integer()); }
  const Text& text() const { return **std::get_if<std::shared_ptr<const Text>>(&data_); }
  const Sequence& sequence() const { return **std::get_if<std::shared_ptr<const Sequence>>(&data_); }
  const std::shared_ptr<const Sequence>& shared_sequence() const {
    return *std::get_if<std::shared_ptr<const Sequence>>(&data_);
  }
  const Mapping& mapping() const { return **std::get_if<std::shared_ptr<const Mapping>>(&data_); }
  const std::shared_ptr<const Mapping>& shared_mapping() const {
    return *std::get_if<std::shared_ptr<const Mapping>>(&data_);
  }
  Object& object() const { return **std::get_if<std::shared_ptr<Object>>(&data_); }
  const std::shared_ptr<Object>& shared_object() const { return *std::get_if<std::shared_ptr<Object>>(&data_); }
  const std::string& undefined_message() const { return std::get_if<Undefined>(&data_)->message->text; }

  std::string_view bytes() const { return text().bytes; }
  /// The object if it is of type T.
  template <typename T>
  T* as() const {
    return is_object() ? dynamic_cast<T*>(&object()) : nullptr;
  }

 private:
  using Data = std::variant<Missing, Undefined, None, bool, Integer, double, std::shared_ptr<const Text>,
                            std::shared_ptr<const Sequence>, std::shared_ptr<const Mapping>, std::shared_ptr<Object>>;
  struct Direct {};
  Value(Direct, Data data) : data_(std::move(data)) {}

  Data data_;
};

/// How deep containers nest in a value: 0 for scalars.
int depth_of(const Value& value);
/// The depth of what contains values of this depth. Throws resource_exhausted beyond the limit.
int deeper_than(int deepest);

/// Text of the template itself, outside every budget; `bytes` is valid UTF-8.
Value constant_text(std::string bytes);
Value make_text(Budget& budget, std::string bytes, bool is_markup = false);
/// What is found under a name or key that there is not.
Value make_undefined(Budget& budget, std::string message);
Value make_list(Budget& budget, Values items);
Value make_tuple(Budget& budget, Values items);
Value make_group(Budget& budget, Value grouper, Value list);
/// The keys must be distinct.
Value make_mapping(Budget& budget, Entries entries);

/// Collects the entries of a dict; a key that comes again changes the value and keeps its place.
class MappingBuilder {
 public:
  explicit MappingBuilder(Rendering& run);
  ~MappingBuilder();
  MappingBuilder(const MappingBuilder&) = delete;
  MappingBuilder& operator=(const MappingBuilder&) = delete;

  /// Fails for keys that Python cannot hash.
  void set(const Value& key, Value value);
  void set(std::string_view key, Value value);
  void set_all(const Mapping& other);
  /// Whether the key is new; its value is none.
  bool add(const Value& key);
  Value take();

 private:
  struct Places;
  Rendering& run_;
  Entries entries_;
  std::unique_ptr<Places> places_;
};

}  // namespace alate::tokenizers::chat_templates
