// The filter pprint: Python's pprint.pformat, with lines of 80 characters and keys in order.
#include <algorithm>
#include <string>
#include <vector>

#include "tokenizers/chat_templates/filters/filters.h"
#include "tokenizers/chat_templates/methods/methods.h"
#include "tokenizers/chat_templates/text/python_characters.h"
#include "tokenizers/chat_templates/values/arguments.h"
#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/python_text.h"
#include "tokenizers/chat_templates/values/rendering.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

using Width = std::ptrdiff_t;
constexpr Width kWidth = 80;

Width width_of(std::string_view text) { return static_cast<Width>(count_code_points(text)); }

// Groups of groupby have a repr of their own, which is not taken apart.
bool is_taken_apart(const Value& value) {
  if (value.is_text()) return !value.text().is_markup;
  return value.is_mapping() || (value.is_sequence() && !value.sequence().is_group);
}

class Printer {
 public:
  explicit Printer(Rendering& run) : run_(run), out_(run.budget()) {}

  std::string print(const Value& value) {
    append(value, 0, 0, 0);
    return out_.take();
  }

 private:
  // `indent`: the column where the value begins; `allowance`: what must still fit behind it.
  void append(const Value& value, Width indent, Width allowance, int level) {
    const Rendering::Nesting nesting(run_);
    const std::string repr = repr_of(value);
    if (width_of(repr) <= kWidth - indent - allowance || !is_taken_apart(value)) return out_.append(repr);
    if (value.is_text()) return append_text_in_lines(value, indent, allowance, level == 0);
    if (value.is_mapping()) return append_mapping(value.mapping(), indent, allowance, level);
    const bool is_tuple = value.is_tuple();
    const std::string_view end = !is_tuple ? "]" : value.sequence().items.size() == 1 ? ",)" : ")";
    out_.append(is_tuple ? '(' : '[');
    const Values& items = value.sequence().items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) start_line(indent + 1);
      append(items[i], indent + 1, i + 1 == items.size() ? allowance + width_of(end) : 1, level + 1);
    }
    out_.append(end);
  }

  void append_mapping(const Mapping& mapping, Width indent, Width allowance, int level) {
    out_.append('{');
    const std::vector<std::size_t> order = order_of(mapping);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) start_line(indent + 1);
      const auto& [key, value] = mapping.entries()[order[i]];
      const std::string repr = repr_of(key);
      out_.append(repr);
      out_.append(": ");
      append(value, indent + 1 + width_of(repr) + 2, i + 1 == order.size() ? allowance + 1 : 1, level + 1);
    }
    out_.append('}');
  }

  void start_line(Width indent) {
    out_.append(",\n");
    out_.append_repeated(" ", static_cast<std::uint64_t>(indent));
  }

  // A long text as literals of a line each, which Python joins again.
  void append_text_in_lines(const Value& value, Width indent, Width allowance, bool is_outermost) {
    if (is_outermost) ++indent, ++allowance;
    const std::vector<std::string_view> lines = split_lines(value.bytes(), true);
    std::vector<std::string> literals;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Width last_width = kWidth - indent - (i + 1 == lines.size() ? allowance : 0);
      std::string whole = literal(lines[i]);
      if (width_of(whole) <= last_width) {
        literals.push_back(std::move(whole));
      } else {
        split_line(lines[i], kWidth - indent, last_width, literals);
      }
    }
    if (literals.size() == 1) return out_.append(literals.front());
    if (is_outermost) out_.append('(');
    for (std::size_t i = 0; i < literals.size(); ++i) {
      if (i > 0) out_.append('\n');
      if (i > 0) out_.append_repeated(" ", static_cast<std::uint64_t>(std::max(indent, Width{0})));
      out_.append(literals[i]);
    }
    if (is_outermost) out_.append(')');
  }

  // Words with the white space behind them, as many as fit.
  void split_line(std::string_view line, Width width, Width last_width, std::vector<std::string>& literals) {
    std::string current;
    while (!line.empty()) {
      std::size_t end = 0;
      const auto skip = [&](bool spaces) {
        while (end < line.size() && is_space(decode_utf8(line, end).value) == spaces) {
          end += decode_utf8(line, end).length;
        }
      };
      skip(false);
      skip(true);
      const std::string word(line.substr(0, end));
      line.remove_prefix(end);
      run_.budget().work(1 + current.size() / 16);
      if (width_of(literal(current + word)) > (line.empty() ? last_width : width)) {
        if (!current.empty()) literals.push_back(literal(current));
        current = word;
      } else {
        current += word;
      }
    }
    if (!current.empty()) literals.push_back(literal(current));
  }

  std::string literal(std::string_view text) {
    Builder out(run_.budget());
    append_quoted(out, text);
    return out.take();
  }

  // Keys that have no order are sorted by the names of their types.
  std::vector<std::size_t> order_of(const Mapping& mapping) {
    const Entries& entries = mapping.entries();
    std::vector<std::size_t> order(entries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      run_.budget().work();
      const Value &left = entries[a].first, &right = entries[b].first;
      const bool are_comparable = (left.is_number() && right.is_number()) || (left.is_text() && right.is_text());
      return are_comparable ? less(run_, left, right) : type_name(left) < type_name(right);
    });
    return order;
  }

  // repr() with sorted keys.
  std::string repr_of(const Value& value) {
    Builder out(run_.budget());
    append_sorted_repr(out, value);
    return out.take();
  }

  void append_sorted_repr(Builder& out, const Value& value) {
    if (value.is_text() || !is_taken_apart(value)) return append_repr(run_, out, value);
    const Rendering::Nesting nesting(run_);
    run_.budget().work();
    const auto append_items = [&](std::size_t count, auto append_item) {
      for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) out.append(", ");
        append_item(i);
      }
    };
    if (value.is_mapping()) {
      const std::vector<std::size_t> order = order_of(value.mapping());
      out.append('{');
      append_items(order.size(), [&](std::size_t i) {
        const auto& [key, item] = value.mapping().entries()[order[i]];
        append_sorted_repr(out, key);
        out.append(": ");
        append_sorted_repr(out, item);
      });
      return out.append('}');
    }
    const Values& items = value.sequence().items;
    out.append(value.is_tuple() ? '(' : '[');
    append_items(items.size(), [&](std::size_t i) { append_sorted_repr(out, items[i]); });
    if (value.is_tuple() && items.size() == 1) out.append(',');
    out.append(value.is_tuple() ? ')' : ']');
  }

  Rendering& run_;
  Builder out_;
};

}  // namespace

Value pretty_print(Rendering& run, const Value& input, Arguments arguments) {
  const Parameters none(run, "pprint", std::move(arguments), {});
  return make_text(run.budget(), Printer(run).print(input));
}

}  // namespace alate::tokenizers::chat_templates
