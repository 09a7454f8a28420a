#include "formats/pytorch/pickle.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/little_endian.h"

namespace alate::formats {
namespace {

using Kind = PickleValue::Kind;
using Index = std::uint32_t;

constexpr std::string_view kOrderedDict = "collections OrderedDict";
constexpr Index kMark = std::numeric_limits<Index>::max();  // on the stack: where a list of operands begins

class PickleReader {
 public:
  PickleReader(std::span<const std::byte> bytes, std::span<const std::string_view> globals, std::string_view what,
               const PickleLimits& limits)
      : bytes_(bytes), left_(bytes), globals_(globals), what_(what), limits_(limits) {}

  Pickle read() {
    for (std::size_t operations = 0;; ++operations) {
      if (operations >= limits_.max_operations) exceed("operations", limits_.max_operations);
      const auto operation = static_cast<char>(take_byte());
      if (operation == '.') break;
      if (!read_literal(operation) && !read_container(operation) && !read_reference(operation))
        throw make_error(ErrorCode::unsupported, what_, ": the pickle has the operation ",
                         static_cast<int>(static_cast<unsigned char>(operation)),
                         ", which the weights of a model do not need; save them as safetensors");
    }
    made_.root = pop();
    if (!stack_.empty()) refuse("something is left over at its end");
    made_.byte_count = bytes_.size() - left_.size();
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) const {
    throw make_error(ErrorCode::corrupt, what_, ": the pickle is broken: ", reason);
  }
  [[noreturn]] void exceed(std::string_view of_what, std::size_t limit) const {
    throw make_error(ErrorCode::resource_exhausted, what_, ": the pickle has more than ", limit, " ", of_what,
                     "; save the weights as safetensors");
  }

  std::span<const std::byte> take(std::uint64_t size) {
    if (size > left_.size()) refuse("it ends too early; is the file whole?");
    const auto taken = left_.first(static_cast<std::size_t>(size));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::uint8_t take_byte() { return std::to_integer<std::uint8_t>(take(1)[0]); }
  template <typename Integer>
  Integer take_number() {
    return load_little_endian<Integer>(take(sizeof(Integer)));
  }
  std::string_view take_text(std::uint64_t size) {
    const auto taken = take(size);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  std::string_view take_line() {
    const auto end = std::ranges::find(left_, std::byte{'\n'});
    const std::string_view line = take_text(static_cast<std::size_t>(end - left_.begin()));
    (void)take(1);
    return line;
  }

  void push(PickleValue value) {
    if (made_.values.size() >= limits_.max_values) exceed("values", limits_.max_values);
    stack_.push_back(static_cast<Index>(made_.values.size()));
    made_.values.push_back(std::move(value));
  }
  void push_integer(std::int64_t integer, Kind kind = Kind::integer) {
    push({.kind = kind, .integer = integer, .text = {}, .items = {}});
  }
  void push_text(std::string_view text) { push({.kind = Kind::text, .text = text, .items = {}}); }
  void push_items(Kind kind, std::vector<Index> items) { push({.kind = kind, .text = {}, .items = std::move(items)}); }

  Index pop() {
    if (stack_.empty() || stack_.back() == kMark) refuse("an operand is missing");
    const Index top = stack_.back();
    stack_.pop_back();
    return top;
  }
  Index top() const {
    if (stack_.empty() || stack_.back() == kMark) refuse("an operand is missing");
    return stack_.back();
  }
  std::vector<Index> pop_last(std::size_t count) {
    std::vector<Index> items(count);
    for (std::size_t i = count; i > 0; --i) items[i - 1] = pop();
    return items;
  }
  std::vector<Index> pop_to_mark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
    if (mark == stack_.rend()) refuse("the beginning of a list is missing");
    std::vector<Index> items(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return items;
  }

  void append(Kind kind, std::span<const Index> items) {
    PickleValue& container = made_.values[top()];
    if (kind == Kind::dict && items.size() % 2 != 0) refuse("a key has no value");
    // The items of an object that is no plain container are not data of a model.
    if (container.kind == Kind::object) return;
    if (container.kind != kind) refuse("elements are added to what is no container");
    container.items.insert(container.items.end(), items.begin(), items.end());
  }

  // Integers of up to 8 bytes are sign-extended.
  void push_long(std::span<const std::byte> digits) {
    if (digits.size() > sizeof(std::uint64_t)) {
      push({.kind = Kind::integer, .text = {reinterpret_cast<const char*>(digits.data()), digits.size()}, .items = {}});
      return;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(value); ++i) {
      const bool is_negative = !digits.empty() && std::to_integer<unsigned>(digits.back()) >= 0x80;
      const std::uint64_t byte = i < digits.size() ? std::to_integer<std::uint64_t>(digits[i]) : is_negative ? 0xFF : 0;
      value |= byte << (8 * i);
    }
    push_integer(static_cast<std::int64_t>(value));
  }

  void push_global(std::string_view module, std::string_view name) {
    const std::string whole = std::string(module) + ' ' + std::string(name);
    const auto* known = &kOrderedDict;
    if (whole != kOrderedDict) {
      const auto found = std::ranges::find(globals_, std::string_view(whole));
      if (found == globals_.end())
        throw make_error(
            ErrorCode::unsupported, what_, ": the pickle asks for Python's ", quoted_name(whole),
            ", which is no part of a model's weights and is not run; save the weights as safetensors: ", "pickle");
      known = &*found;
    }
    push({.kind = Kind::global, .text = *known, .items = {}});
  }

  void call() {
    const Index arguments = pop(), callee = pop();
    if (made_.values[callee].kind != Kind::global || made_.values[arguments].kind != Kind::tuple)
      refuse("something is called that is no function");
    if (made_.values[callee].text == kOrderedDict) return push_items(Kind::dict, ordered_items(arguments));
    push_items(Kind::object, {callee, arguments});
  }

  // OrderedDict() and OrderedDict([[key, value], …]).
  std::vector<Index> ordered_items(Index arguments) {
    std::vector<Index> items;
    if (made_.values[arguments].items.empty()) return items;
    for (const Index pair : made_.values[made_.values[arguments].items[0]].items) {
      const std::vector<Index>& both = made_.values[pair].items;
      if (both.size() != 2) refuse("an OrderedDict is made of what are no pairs");
      items.insert(items.end(), both.begin(), both.end());
      if (++ordered_items_ > limits_.max_values) exceed("pairs", limits_.max_values);
    }
    return items;
  }

  bool read_literal(char operation) {
    switch (operation) {
      case 'N': push({}); return true;
      case '\x88': push_integer(1, Kind::boolean); return true;
      case '\x89': push_integer(0, Kind::boolean); return true;
      case 'J': push_integer(static_cast<std::int32_t>(take_number<std::uint32_t>())); return true;
      case 'K': push_integer(take_byte()); return true;
      case 'M': push_integer(take_number<std::uint16_t>()); return true;
      case '\x8a': push_long(take(take_byte())); return true;
      case '\x8b': push_long(take(take_number<std::uint32_t>())); return true;
      case 'G': {
        const auto bytes = take(sizeof(double));
        std::uint64_t bits = 0;
        for (const std::byte byte : bytes) bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
        push({.kind = Kind::number, .number = std::bit_cast<double>(bits), .text = {}, .items = {}});
        return true;
      }
      case 'U':
      case '\x8c':
      case 'C': push_text(take_text(take_byte())); return true;
      case 'T':
      case 'X':
      case 'B': push_text(take_text(take_number<std::uint32_t>())); return true;
      case '\x8d':
      case '\x8e': push_text(take_text(take_number<std::uint64_t>())); return true;
      default: return false;
    }
  }

  bool read_container(char operation) {
    switch (operation) {
      case '(': stack_.push_back(kMark); return true;
      case ')': push_items(Kind::tuple, {}); return true;
      case ']': push_items(Kind::list, {}); return true;
      case '}': push_items(Kind::dict, {}); return true;
      case 't': push_items(Kind::tuple, pop_to_mark()); return true;
      case 'l': push_items(Kind::list, pop_to_mark()); return true;
      case 'd': {
        std::vector<Index> items = pop_to_mark();
        if (items.size() % 2 != 0) refuse("a key has no value");
        push_items(Kind::dict, std::move(items));
        return true;
      }
      case '\x85': push_items(Kind::tuple, pop_last(1)); return true;
      case '\x86': push_items(Kind::tuple, pop_last(2)); return true;
      case '\x87': push_items(Kind::tuple, pop_last(3)); return true;
      case 'a': append(Kind::list, pop_last(1)); return true;
      case 'e': append(Kind::list, pop_to_mark()); return true;
      case 's': append(Kind::dict, pop_last(2)); return true;
      case 'u': append(Kind::dict, pop_to_mark()); return true;
      default: return false;
    }
  }

  bool read_reference(char operation) {
    switch (operation) {
      case '\x80': (void)take_byte(); return true;                   // the protocol
      case '\x95': (void)take_number<std::uint64_t>(); return true;  // a frame
      case 'q': remember(take_byte()); return true;
      case 'r': remember(take_number<std::uint32_t>()); return true;
      case '\x94': remember(static_cast<Index>(memo_.size())); return true;
      case 'h': stack_.push_back(remembered(take_byte())); return true;
      case 'j': stack_.push_back(remembered(take_number<std::uint32_t>())); return true;
      case '0': (void)pop(); return true;
      case 'c': {
        const std::string_view module = take_line();
        push_global(module, take_line());
        return true;
      }
      case '\x93': {
        const PickleValue &name = made_.values[pop()], &module = made_.values[pop()];
        if (name.kind != Kind::text || module.kind != Kind::text) refuse("the name of a global is no text");
        push_global(module.text, name.text);
        return true;
      }
      case 'Q': push_items(Kind::persistent, pop_last(1)); return true;
      case 'R':
      case '\x81': call(); return true;
      case 'b':  // an object's state
        (void)pop();
        (void)top();
        return true;
      default: return false;
    }
  }

  void remember(Index place) {
    if (place >= limits_.max_values) exceed("values", limits_.max_values);
    if (place >= memo_.size()) memo_.resize(std::size_t{place} + 1, kMark);
    memo_[place] = top();
  }
  Index remembered(Index place) const {
    if (place >= memo_.size() || memo_[place] == kMark) refuse("it refers to what was not made");
    return memo_[place];
  }

  std::span<const std::byte> bytes_, left_;
  std::span<const std::string_view> globals_;
  std::string_view what_;
  const PickleLimits& limits_;
  Pickle made_;
  std::vector<Index> stack_;
  std::vector<Index> memo_;        // kMark: nothing there
  std::size_t ordered_items_ = 0;  // copied by ordered_items
};

}  // namespace

Pickle parse_pickle(std::span<const std::byte> bytes, std::span<const std::string_view> globals, std::string_view what,
                    const PickleLimits& limits) {
  return PickleReader(bytes, globals, what, limits).read();
}

}  // namespace alate::formats
