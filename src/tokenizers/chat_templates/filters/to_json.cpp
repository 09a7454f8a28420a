// The filter tojson: Python's json.dumps, with the defaults that transformers gives it.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

class JsonWriter {
 public:
  JsonWriter(Rendering& run, const Parameters& given) : run_(run), out_(run.budget()) {
    only_ascii_ = given.flag(0, false);
    if (given.is_set(1)) {
      indents_ = true;
      if (given[1].is_text()) {
        indent_ = given[1].bytes();
      } else {
        constexpr std::size_t kMaxIndent = 1000;
        const std::size_t width = given.size(1, 0);
        if (width > kMaxIndent) run.fail_limit("tojson with an indent of more than 1000");
        indent_ = std::string(width, ' ');
      }
      between_ = ",";
    }
    if (given.is_set(2)) {
      const Values separators = all_items(run, given[2]);
      if (separators.size() != 2 || !separators[0].is_text() || !separators[1].is_text()) {
        run.fail("tojson: separators must be two strings");
      }
      between_ = separators[0].bytes();
      after_key_ = separators[1].bytes();
    }
    sorts_keys_ = given.flag(3, false);
  }

  std::string write(const Value& value) {
    append(value, 0);
    return out_.take();
  }

 private:
  void append(const Value& value, std::size_t level) {
    run_.budget().work();
    switch (value.kind()) {
      case Value::Kind::none: return out_.append("null");
      case Value::Kind::boolean: return out_.append(value.boolean() ? "true" : "false");
      case Value::Kind::integer: return out_.append(decimal(value.integer()));
      case Value::Kind::real: return out_.append(number(value.real()));
      case Value::Kind::text: return append_string(value.bytes());
      case Value::Kind::sequence: return append_sequence(value.sequence().items, level);
      case Value::Kind::mapping: return append_mapping(value.mapping(), level);
      default: run_.fail("object of type ", type_name(value), " is not JSON serializable");
    }
  }

  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return real_text(value);
  }

  void append_escape(unsigned unit) {
    char escape[16];
    std::snprintf(escape, sizeof(escape), "\\u%04x", unit);
    out_.append(escape);
  }

  void append_string(std::string_view text) {
    run_.budget().work(text.size() / 8);
    out_.append('"');
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;  // of what is copied as it is
      while (end < text.size() && text[end] != '"' && text[end] != '\\' &&
             static_cast<unsigned char>(text[end]) >= 0x20 &&
             (!only_ascii_ || static_cast<unsigned char>(text[end]) < 0x80)) {
        ++end;
      }
      out_.append(text.substr(at, end - at));
      if (end == text.size()) break;
      at = end + append_special(text, end);
    }
    out_.append('"');
  }

  // Returns the length of what it has written.
  std::size_t append_special(std::string_view text, std::size_t at) {
    constexpr std::string_view kSpecial = "\"\\\n\r\t\f\b", kLetters = "\"\\nrtfb";
    if (const std::size_t found = kSpecial.find(text[at]); found != std::string_view::npos) {
      out_.append('\\');
      out_.append(kLetters[found]);
      return 1;
    }
    const CodePoint point = decode_utf8(text, at);
    if (point.value < 0x10000) {
      append_escape(point.value);
    } else {
      append_escape(0xD800 + ((point.value - 0x10000) >> 10));
      append_escape(0xDC00 + ((point.value - 0x10000) & 0x3FF));
    }
    return point.length;
  }

  void start_line(std::size_t level) {
    if (!indents_) return;
    out_.append('\n');
    out_.append_repeated(indent_, level);
  }

  void append_sequence(const Values& items, std::size_t level) {
    if (items.empty()) return out_.append("[]");
    out_.append('[');
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_.append(between_);
      start_line(level + 1);
      append(items[i], level + 1);
    }
    start_line(level);
    out_.append(']');
  }

  std::string key_text(const Value& key) {
    switch (key.kind()) {
      case Value::Kind::text: return std::string(key.bytes());
      case Value::Kind::none: return "null";
      case Value::Kind::boolean: return key.boolean() ? "true" : "false";
      case Value::Kind::integer: return decimal(key.integer());
      case Value::Kind::real: return number(key.real());
      default: run_.fail("keys must be str, int, float, bool or None, not ", type_name(key));
    }
  }

  void append_mapping(const Mapping& mapping, std::size_t level) {
    const Entries& entries = mapping.entries();
    if (entries.empty()) return out_.append("{}");
    std::vector<std::size_t> order(entries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (sorts_keys_) {
      Values keys;
      for (const auto& [key, value] : entries) keys.push_back(key);
      order = sorted_order(run_, keys, false);
    }
    out_.append('{');
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) out_.append(between_);
      start_line(level + 1);
      append_string(key_text(entries[order[i]].first));
      out_.append(after_key_);
      append(entries[order[i]].second, level + 1);
    }
    start_line(level);
    out_.append('}');
  }

  Rendering& run_;
  Builder out_;
  bool only_ascii_ = false, indents_ = false, sorts_keys_ = false;
  std::string indent_, between_ = ", ", after_key_ = ": ";
};

}  // namespace

Value to_json(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters given(run, "tojson", std::move(arguments), {"ensure_ascii", "indent", "separators", "sort_keys"});
  return make_text(run.budget(), JsonWriter(run, given).write(input));
}

}  // namespace alate::tokenizers::chat_templates
