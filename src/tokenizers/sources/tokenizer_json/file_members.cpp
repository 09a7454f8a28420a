#include "tokenizers/sources/tokenizer_json/file_members.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "alate/error.h"
#include "formats/json_reader.h"

namespace alate::tokenizers {
namespace {

using formats::Json;
using formats::JsonReader;

// Reads the members of the object that comes next; `take` may read a member instead.
template <typename Take>
Json read_members(JsonReader& reader, std::string_view text, std::string_view what, Take take) {
  Json::Object members;
  std::unordered_set<std::string> names;
  std::string_view key;
  for (reader.begin_object(); reader.next_member(key);) {
    std::string name(key);
    if (take(name)) continue;
    if (!names.insert(name).second) reader.fail("the key " + formats::quoted_name(name) + " occurs twice");
    const std::string_view value = reader.skip_value();
    const auto offset = static_cast<std::size_t>(value.data() - text.data());
    members.emplace_back(name, formats::parse_json(value, std::string(what) + ", " + formats::quoted_name(name) +
                                                              " from byte " + std::to_string(offset)));
  }
  return members;
}

}  // namespace

FileMembers read_file_members(std::string_view text, std::string_view what) {
  JsonReader reader(text, what);
  FileMembers members;
  if (reader.peek() != '{') {
    members.file = formats::parse_json(text, what);
    return members;
  }
  Json model;
  bool has_model = false;
  members.file = read_members(reader, text, what, [&](const std::string& name) {
    if (name != "model" || reader.peek() != '{') return false;
    if (has_model) reader.fail("the key \"model\" occurs twice");
    has_model = true;
    model = read_members(reader, text, what,
                         [&](const std::string& key) { return read_large_member(reader, key, members.large); });
    return true;
  });
  reader.finish();
  if (has_model) {
    Json::Object with_model = members.file.as_object(what);
    with_model.emplace_back("model", std::move(model));
    members.file = Json(std::move(with_model));
  }
  return members;
}

}  // namespace alate::tokenizers
