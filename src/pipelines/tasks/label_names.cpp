#include "pipelines/tasks/label_names.h"

#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/log.h"

namespace alate::pipelines {
namespace {

using formats::Json;

using Names = std::map<std::size_t, std::string>;  // by label

constexpr std::string_view kById = "id2label", kByName = "label2id";

// Null for one that is absent or says nothing.
const Json* table_of(const Json& config, std::string_view key) {
  const Json* table = config.find(key);
  return table != nullptr && table->is_object() && !table->as_object(key).empty() ? table : nullptr;
}

std::optional<std::size_t> label_of(std::string_view text) {
  std::size_t label = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(label) : std::nullopt;
}

// Numbers stand for their text, as people read them.
std::string text_of(const Json& value) {
  return value.is_string() ? value.as_string("a label") : formats::to_json_text(value);
}

Names names_by_id(const Json& config) {
  Names names;
  const Json* table = table_of(config, kById);
  if (table == nullptr) return names;
  for (const auto& [id, name] : table->as_object(kById)) {
    if (const auto label = label_of(id)) names.emplace(*label, text_of(name));
  }
  return names;
}

// Of several names of one label, the first.
Names ids_by_name(const Json& config) {
  Names names;
  const Json* table = table_of(config, kByName);
  if (table == nullptr) return names;
  for (const auto& [name, id] : table->as_object(kByName)) {
    if (const auto label = label_of(text_of(id))) names.emplace(*label, name);
  }
  return names;
}

}  // namespace

std::int64_t stated_label_count(const Json& config) {
  const auto size = [](const Json& table) { return static_cast<std::int64_t>(table.as_object("labels").size()); };
  if (const Json* names = table_of(config, kById)) return size(*names);
  if (const Json* count = config.find_value("num_labels")) return count->as_int("num_labels");
  const Json* ids = table_of(config, kByName);
  return ids == nullptr ? 2 : size(*ids);
}

std::vector<std::string> label_names(const Json& config, std::size_t count) {
  const Names stated = names_by_id(config).empty() ? ids_by_name(config) : names_by_id(config);
  std::vector<std::string> names;
  for (std::size_t label = 0; label < count; ++label) {
    const auto found = stated.find(label);
    names.push_back(found == stated.end() ? "LABEL_" + std::to_string(label) : found->second);
  }
  return names;
}

LabelTables label_tables(const Json& config) {
  const Json *by_id = table_of(config, kById), *by_name = table_of(config, kByName);
  if (by_id != nullptr && by_name != nullptr) return {*by_id, *by_name};
  Names names = by_id != nullptr ? names_by_id(config) : ids_by_name(config);
  if (names.empty()) names = {{0, "LABEL_0"}};
  Json::Object id2label, label2id;
  for (const auto& [label, name] : names) {
    id2label.emplace_back(std::to_string(label), name);
    label2id.emplace_back(name, static_cast<std::int64_t>(label));
  }
  return {by_id != nullptr ? *by_id : Json(std::move(id2label)),
          by_name != nullptr ? *by_name : Json(std::move(label2id))};
}

void warn_of_differing_labels(const Json& config) {
  const Names by_id = names_by_id(config), by_name = ids_by_name(config);
  if (by_id.empty()) return;
  for (const auto& [label, name] : by_name) {
    const auto found = by_id.find(label);
    const std::string other = found == by_id.end() ? std::string() : found->second;
    if (other == name) continue;
    base::log(base::LogLevel::warn, "config.json: id2label and label2id name labels differently; id2label is taken",
              {{"label", std::to_string(label)}, {"id2label", other}, {"label2id", name}});
    break;
  }
  const std::int64_t names = stated_label_count(config);
  const Json* stated = config.find("num_labels");
  const std::int64_t count = stated != nullptr && stated->is_integer() ? stated->as_int("num_labels") : names;
  if (count == names) return;
  base::log(base::LogLevel::warn, "config.json: num_labels is not the number of labels in id2label, which is taken",
            {{"num_labels", std::to_string(count)}, {"id2label", std::to_string(names)}});
}

}  // namespace alate::pipelines
