#include "generation/constraint/schema_place.h"

#include <charconv>

#include "base/split_text.h"

namespace alate::generation {
namespace {

std::string escaped(std::string_view key) {
  std::string text;
  for (const char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      text += token[++i] == '0' ? '~' : '/';
      continue;
    }
    unsigned value = 0;
    if (token[i] == '%' && i + 2 < token.size() &&
        std::from_chars(token.data() + i + 1, token.data() + i + 3, value, 16).ptr == token.data() + i + 3) {
      text += static_cast<char>(value);
      i += 2;
      continue;
    }
    text += token[i];
  }
  return text;
}

}  // namespace

SchemaPlace SchemaPlace::at(std::string_view key) const { return {what, pointer + "/" + escaped(key)}; }
SchemaPlace SchemaPlace::at(std::string_view key, std::size_t index) const {
  return {what, pointer + "/" + std::string(key) + "/" + std::to_string(index)};
}

std::string SchemaPlace::text() const {
  constexpr std::size_t kMostShown = 200;
  const std::string shown = pointer.size() > kMostShown ? pointer.substr(0, kMostShown) + "…" : pointer;
  const std::string quoted = formats::to_json_text(shown);
  return std::string(what) + ", at " + quoted.substr(1, quoted.size() - 2);
}

void SchemaPlace::refuse(std::string_view problem) const {
  throw make_error(ErrorCode::invalid_argument, text(), " ", problem);
}

const formats::Json& referred(const formats::Json& root, std::string_view reference, const SchemaPlace& place,
                              CompileBudget& budget) {
  if (reference != "#" && !reference.starts_with("#/"))
    place.refuse(
        "has a $ref to another document or an anchor; only references within the schema (#/$defs/…) are supported");
  const formats::Json* found = &root;
  if (reference.size() > 2) {
    for (const std::string_view token : base::split_text(reference.substr(2), '/')) {
      const std::string key = unescaped(token);
      if (found->is_array()) {
        const formats::Json::Array& elements = found->as_array("schema");
        std::size_t index = elements.size();
        std::from_chars(key.data(), key.data() + key.size(), index);
        found = index < elements.size() ? &elements[index] : nullptr;
      } else {
        if (found->is_object()) budget.spend(10 + found->as_object("schema").size());
        found = found->find(key);
      }
      if (found == nullptr) place.refuse("has a $ref to a part that the schema lacks");
    }
  }
  return *found;
}

}  // namespace alate::generation
