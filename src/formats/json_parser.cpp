#include <algorithm>
#include <bit>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <numeric>

#include "alate/error.h"
#include "formats/json.h"
#include "formats/utf8.h"

namespace alate::formats {
namespace {

using boost::json::error_code;
using Text = boost::json::string_view;

std::string_view view(Text text) { return {text.data(), text.size()}; }

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

// The position of a member with the same key as an earlier member, or `members.size()`.
std::size_t sorted_duplicate(std::span<const Json::Member> members) {
  std::vector<std::uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t left, std::uint32_t right) {
    const int compared = members[left].first.compare(members[right].first);
    return compared != 0 ? compared < 0 : left < right;
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (members[order[i - 1]].first == members[order[i]].first) return order[i];
  }
  return members.size();
}

std::size_t find_duplicate(std::span<const Json::Member> members) {
  constexpr std::size_t kFew = 8;
  if (members.size() <= kFew) {
    for (std::size_t i = 1; i < members.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (members[i].first == members[j].first) return i;
      }
    }
    return members.size();
  }
  // Open addressing; a longer probe means that keys were chosen to collide, and sorting is used instead.
  constexpr std::size_t kLongestProbe = 64;
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t member_plus_one = 0;
  };
  const std::size_t mask = std::bit_ceil(members.size() * 2) - 1;
  std::vector<Slot> slots(mask + 1);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uint64_t hash = hash_of(members[i].first);
    const auto high = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = hash & mask;
    std::size_t probes = 0;
    while (slots[at].member_plus_one != 0) {
      if (slots[at].hash == high && members[slots[at].member_plus_one - 1].first == members[i].first) return i;
      if (++probes > kLongestProbe) return sorted_duplicate(members);
      at = (at + 1) & mask;
    }
    slots[at] = {high, static_cast<std::uint32_t>(i + 1)};
  }
  return members.size();
}

// Receives the parser's events. Values stay on two stacks, one for elements and one for members, until their container
// ends and takes them over with its exact size.
class Handler {
 public:
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);

  explicit Handler(std::size_t max_values) : values_left_(max_values) {}

  Json take_result() { return std::move(elements_.front()); }
  const std::string& reason() const { return reason_; }
  ErrorCode reason_code() const { return reason_code_; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }

  bool on_array_begin(error_code& error) { return begin(false, elements_.size(), error); }
  bool on_array_end(std::size_t, error_code& error) {
    const auto first = elements_.begin() + static_cast<std::ptrdiff_t>(frames_.back().first);
    Json::Array array(std::make_move_iterator(first), std::make_move_iterator(elements_.end()));
    elements_.erase(first, elements_.end());
    frames_.pop_back();
    return put(Json(std::move(array)), error);
  }
  bool on_object_begin(error_code& error) { return begin(true, members_.size(), error); }
  bool on_object_end(std::size_t, error_code& error) {
    const std::size_t start = frames_.back().first;
    const auto members = std::span<const Json::Member>(members_).subspan(start);
    if (const std::size_t twice = find_duplicate(members); twice < members.size()) {
      return refuse("the key " + quoted_name(members[twice].first) + " occurs twice in the object that ends here",
                    error);
    }
    const auto first = members_.begin() + static_cast<std::ptrdiff_t>(start);
    Json::Object object(std::make_move_iterator(first), std::make_move_iterator(members_.end()));
    members_.erase(first, members_.end());
    frames_.pop_back();
    return put(Json(std::move(object)), error);
  }

  bool on_key_part(Text part, std::size_t, error_code&) { return keep(part); }
  bool on_key(Text part, std::size_t, error_code&) {
    members_.emplace_back(take_text(part), Json());
    return true;
  }
  bool on_string_part(Text part, std::size_t, error_code&) { return keep(part); }
  bool on_string(Text part, std::size_t, error_code& error) {
    return count(error) && put(Json(take_text(part)), error);
  }

  bool on_number_part(Text part, error_code&) { return keep(part); }
  bool on_int64(std::int64_t value, Text, error_code& error) {
    partial_.clear();
    return count(error) && put(Json(value), error);
  }
  bool on_uint64(std::uint64_t value, Text, error_code& error) {
    partial_.clear();
    return count(error) && put(Json(value), error);
  }
  // The parser's own double is a power of ten times a mantissa and may be off by one bit, so the text is converted
  // exactly.
  bool on_double(double estimate, Text part, error_code& error) {
    const std::string text = take_text(part);
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc::result_out_of_range) {
      if (std::fabs(estimate) > 1) return refuse("the number is too large for a double", error);
      value = std::copysign(0.0, estimate);
    } else if (status != std::errc() || end != text.data() + text.size()) {
      return refuse("the number cannot be read", error);
    }
    return count(error) && put(Json(value), error);
  }
  bool on_bool(bool value, error_code& error) { return count(error) && put(Json(value), error); }
  bool on_null(error_code& error) { return count(error) && put(Json(), error); }
  bool on_comment_part(Text, error_code&) { return true; }
  bool on_comment(Text, error_code&) { return true; }

 private:
  struct Frame {
    bool is_object;
    std::size_t first;  // of its values, on the stack of its kind
  };

  bool begin(bool is_object, std::size_t first, error_code& error) {
    frames_.push_back({is_object, first});
    return count(error);
  }
  bool count(error_code& error) {
    if (values_left_ == 0) {
      reason_code_ = ErrorCode::resource_exhausted;
      return refuse("there are more values than the limit allows", error);
    }
    --values_left_;
    return true;
  }
  bool put(Json value, error_code&) {
    if (!frames_.empty() && frames_.back().is_object) {
      members_.back().second = std::move(value);
    } else {
      elements_.push_back(std::move(value));
    }
    return true;
  }
  bool keep(Text part) {
    partial_.append(part.data(), part.size());
    return true;
  }
  std::string take_text(Text last) {
    if (partial_.empty()) return std::string(view(last));
    partial_.append(last.data(), last.size());
    std::string text = partial_;
    partial_.clear();
    return text;
  }
  bool refuse(std::string reason, error_code& error) {
    reason_ = std::move(reason);
    error = boost::json::error::syntax;
    return false;
  }

  std::vector<Frame> frames_;
  std::vector<Json> elements_;
  std::vector<Json::Member> members_;
  std::string partial_;
  std::string reason_;
  ErrorCode reason_code_ = ErrorCode::corrupt;
  std::size_t values_left_;
};

int hexadecimal_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  const char lower = static_cast<char>(digit | 32);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The code unit of "\uXXXX" at `at`, or -1 when there is no such escape.
int escaped_unit(std::string_view text, std::size_t at) {
  if (text.size() - at < 6 || text[at] != '\\' || text[at + 1] != 'u') return -1;
  int unit = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const int digit = hexadecimal_digit(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

// The text with each escape of a lone surrogate, which the parser would reject, replaced by an escape of U+FFFD. Both
// are equally long, so offsets stay correct. Empty if there is none.
std::string without_lone_surrogates(std::string_view text) {
  std::string changed;
  for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at)) {
    const int unit = escaped_unit(text, at);
    if (unit < 0) {
      at = std::min(at + 2, text.size());
      continue;
    }
    const bool leads = unit >= 0xD800 && unit < 0xDC00;
    const bool trails = unit >= 0xDC00 && unit < 0xE000;
    const int next = leads ? escaped_unit(text, at + 6) : -1;
    if (next >= 0xDC00 && next < 0xE000) {
      at += 12;
      continue;
    }
    if (leads || trails) {
      if (changed.empty()) changed = text;
      changed.replace(at, 6, "\\ufffd");
    }
    at += 6;
  }
  return changed;
}

std::string_view reason_of(const error_code& error) {
  using Reason = boost::json::error;
  if (error == Reason::incomplete) return "the text ends too early";
  if (error == Reason::extra_data) return "there is more text after the value";
  if (error == Reason::too_deep) return "it is nested too deeply";
  if (error == Reason::expected_hex_digit) return "a hexadecimal digit is expected";
  if (error == Reason::exponent_overflow) return "the number's exponent is too large";
  return "this is no JSON";
}

}  // namespace

Json parse_json(std::string_view text, std::string_view what, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    throw make_error(ErrorCode::resource_exhausted, what, " has ", text.size(), " bytes of JSON; the limit is ",
                     limits.max_bytes);
  }
  const std::string replaced = without_lone_surrogates(text);
  if (!replaced.empty()) text = replaced;

  boost::json::parse_options options;
  options.max_depth = limits.max_depth;
  boost::json::basic_parser<Handler> parser(options, limits.max_values);
  error_code error;
  const std::size_t consumed = parser.write_some(false, text.data(), text.size(), error);
  if (!error && consumed < text.size()) error = boost::json::error::extra_data;
  if (error) {
    if (const std::size_t valid = valid_utf8_prefix(text); valid < text.size() && valid <= consumed + 4) {
      throw make_error(ErrorCode::corrupt, what, ": JSON, byte ", valid, ": this is no UTF-8");
    }
    const Handler& handler = parser.handler();
    throw make_error(handler.reason_code(), what, ": JSON, byte ", consumed, ": ",
                     handler.reason().empty() ? reason_of(error) : std::string_view(handler.reason()));
  }
  return parser.handler().take_result();
}

}  // namespace alate::formats
