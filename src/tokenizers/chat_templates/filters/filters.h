// The filters: value | name(arguments).
#pragma once

#include <span>
#include <string_view>

#include "tokenizers/chat_templates/values/object.h"

namespace alate::tokenizers::chat_templates {

struct Filter {
  std::string_view name;
  Value (*apply)(Rendering& run, const Value& input, Arguments arguments);
};

/// Null if there is none.
const Filter* find_filter(std::string_view name);
/// Fails where find_filter has found none of `name`.
Value apply_filter(Rendering& run, const Filter* filter, std::string_view name, const Value& input,
                   Arguments arguments);

// The families.
std::span<const Filter> text_filters();
std::span<const Filter> markup_filters();
std::span<const Filter> sequence_filters();
std::span<const Filter> selection_filters();
std::span<const Filter> value_filters();

/// "a.b.0" as the steps that lead from a value to what is asked for; none for none.
class AttributePath {
 public:
  AttributePath() = default;
  AttributePath(Rendering& run, const Value& path);
  /// Steps that lead to nothing give `otherwise`, if there is one.
  Value of(Rendering& run, const Value& value, const Value* otherwise = nullptr) const;

 private:
  Values steps_;
};

/// The text in lower case; other values as they are.
Value without_case(Rendering& run, const Value& value);
/// Python's sorted() by keys that were made before.
std::vector<std::size_t> sorted_order(Rendering& run, const Values& keys, bool is_reversed);

/// textwrap.wrap for each line.
Value wrap_text(Rendering& run, const Value& input, Arguments arguments);
/// pprint.pformat(value)
Value pretty_print(Rendering& run, const Value& input, Arguments arguments);
/// value as JSON, as transformers' filter of this name writes it.
Value to_json(Rendering& run, const Value& input, Arguments arguments);

}  // namespace alate::tokenizers::chat_templates
