#include "server/settings/settings_loading.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "alate/error.h"
#include "backends/registry.h"
#include "base/nearest_name.h"
#include "base/os/environment.h"
#include "machine/selection.h"
#include "server/settings/settings_keys.h"

namespace alate::server {
namespace {

using Value = ConfigurationValue;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return text;
}

// The first part of a key: "batch" of "batch.max_tokens"; empty for a key without parts.
std::string_view section_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

bool is_section(std::string_view name) {
  return std::ranges::any_of(settings_table(), [&](const Setting& row) { return section_of(row.key) == name; });
}

// Looks up the file's keys in the table and normalizes their values.
class FileReader {
 public:
  FileReader(const ConfigurationFile& file, std::vector<std::string>* unknown_keys)
      : file_(file), unknown_keys_(unknown_keys) {
    for (const auto& [key, value] : file.root.members) {
      if (is_section(key.text)) {
        read_section(key, value);
      } else {
        read_key("", key, value);
      }
    }
  }

  const std::map<std::string_view, SettingValue>& values() const { return values_; }

 private:
  [[noreturn]] void fail(const Value& at, const std::string& what) const {
    throw make_error(ErrorCode::invalid_argument, file_.place(at), ": ", what);
  }

  void read_section(const Value& name, const Value& section) {
    if (section.kind == Value::Kind::none) return;
    if (section.kind != Value::Kind::map)
      fail(section, name.text + " is " + std::string(section.kind_name()) +
                        "; it must be a group of keys: " + keys_of(name.text));
    for (const auto& [key, value] : section.members) read_key(name.text, key, value);
  }

  static std::string keys_of(std::string_view section) {
    std::string out;
    for (const Setting& row : settings_table()) {
      if (section_of(row.key) == section)
        out += (out.empty() ? "" : ", ") + std::string(row.key.substr(section.size() + 1));
    }
    return out;
  }

  void read_key(const std::string& section, const Value& key, const Value& value) {
    const std::string name = section.empty() ? key.text : section + "." + key.text;
    const Setting* row = find_setting(name);
    if (row == nullptr || section_of(row->key) != section) return unknown(section, key);
    if (value.kind == Value::Kind::none) return;
    SettingValue out{.texts = {}, .origin = file_.place(value) + ": " + name};
    read_value(*row, value, out);
    values_.insert_or_assign(row->key, std::move(out));
  }

  void read_value(const Setting& row, const Value& value, SettingValue& out) const {
    const auto text_of = [&](const Value& each) {
      if (each.kind != Value::Kind::scalar)
        fail(each,
             std::string(row.key) + " is " + std::string(each.kind_name()) + "; it must be " + allowed_values(row));
      return each.text;
    };
    if (row.kind == SettingKind::list && value.kind == Value::Kind::list) {
      for (const Value& item : value.items) {
        const bool is_key = row.key == "api_keys" && item.kind == Value::Kind::map;
        out.texts.push_back(is_key ? read_key_entry(item) : text_of(item));
      }
    } else if (row.kind == SettingKind::list) {
      out.texts = split_list({text_of(value)});
    } else if (row.kind == SettingKind::strategies || row.kind == SettingKind::aliases ||
               row.kind == SettingKind::folders || row.kind == SettingKind::group) {
      if (value.kind != Value::Kind::map) {
        fail(value, std::string(row.key) + " is " + std::string(value.kind_name()) + "; it must be a group of keys" +
                        std::string(example_of(row.kind)));
      }
      if (row.kind == SettingKind::group) return;
      for (const auto& [name, member] : value.members) {
        // Only the form with "=" is checked later, where it could not be told from the separator.
        if (row.kind != SettingKind::strategies && name.text.find('=') != std::string::npos)
          fail(name, row.kind == SettingKind::aliases ? "an alias cannot have the character ="
                                                      : "the name of an index cannot have the character =");
        out.texts.push_back(name.text + "=" + text_of(member));
      }
    } else {
      out.texts.push_back(text_of(value));
      // YAML also allows True and TRUE.
      if (row.kind == SettingKind::boolean || row.kind == SettingKind::negation)
        out.texts.back() = lower(out.texts.back());
    }
  }

  static std::string_view example_of(SettingKind kind) {
    if (kind == SettingKind::strategies) return ": \"model: eager\" or \"model: lazy\"";
    if (kind == SettingKind::folders) return ": \"name: folder\"";
    return kind == SettingKind::aliases ? ": \"alias: model\"" : "";
  }

  // Converts {key: …, role: …} to the form used in options and variables.
  std::string read_key_entry(const Value& entry) const {
    std::string key, role = "use";
    for (const auto& [name, value] : entry.members) {
      std::string* const target = name.text == "key" ? &key : name.text == "role" ? &role : nullptr;
      if (target == nullptr) fail(name, "an entry of api_keys has a key and a role, and nothing else");
      if (value.kind != Value::Kind::scalar)
        fail(value, "the " + name.text + " of an entry of api_keys must be a word");
      *target = value.text;
    }
    if (key.empty()) fail(entry, "an entry of api_keys has no key: write {key: …, role: admin}");
    // Checked here, where the position is known: otherwise a key with a space would be read as a role and a key.
    if (key.find(' ') != std::string::npos) fail(entry, "a key of api_keys cannot have spaces");
    if (!parse_key_entry(role + " " + key))
      fail(entry, "the role of an entry of api_keys must be use, metrics or admin");
    return role + " " + key;
  }

  void unknown(const std::string& section, const Value& key) const {
    std::string message = "there is no key " + formats::quoted_name(key.text);
    if (!section.empty()) message += " in " + section;
    message += hint_for(section, key.text);
    if (!file_.lenient) fail(key, message);
    if (unknown_keys_ != nullptr) unknown_keys_->push_back(file_.place(key) + ": " + message);
  }

  // The end of the message: the key that is meant, or else the nearest one.
  static std::string hint_for(const std::string& section, const std::string& key) {
    std::vector<std::string_view> known;
    for (const Setting& row : settings_table()) {
      const std::string_view own = section_of(row.key), name = row.key.substr(own.empty() ? 0 : own.size() + 1);
      if (key == row.key || key == name)
        return own.empty() ? "; it stands by itself, outside " + section
                           : "; it belongs into a group: \"" + std::string(own) + ": {" + std::string(name) + ": …}\"";
      if (own == section) known.push_back(name);
      if (section.empty() && !own.empty()) known.push_back(own);
    }
    // As options spell it, or other files.
    std::string name = lower(key);
    std::ranges::replace(name, '-', '_');
    if (std::string hint = base::did_you_mean(name, known); !hint.empty()) return hint;
    if (!section.empty()) return "; there are " + keys_of(section);
    const std::string_view closest = base::closest_name(name, known);
    return (closest.empty() ? "" : "; the nearest one is " + std::string(closest)) +
           "; docs/configuration.md lists all keys";
  }

  const ConfigurationFile& file_;
  std::vector<std::string>* unknown_keys_;
  std::map<std::string_view, SettingValue> values_;
};

bool is_truthy(const std::string& text) {
  const std::string word = lower(text);
  return word == "1" || word == "true" || word == "yes" || word == "on";
}

// Translates another system's variable to a setting; nothing if that is impossible here. Whoever set the variable may
// not know about this program, so it is only a preference and never an error.
using Wish = std::optional<std::string> (*)(const std::string& value);

std::optional<std::string> preferred_gpu(const std::string& value) {
  return parse_accelerator_kind(value) ? std::optional(value) : std::nullopt;
}

bool is_backend_name(std::string_view name) {
  const auto elsewhere = machine::names_elsewhere();
  return std::ranges::find(elsewhere, name) != elsewhere.end() ||
         std::ranges::any_of(backends::registrations(), [&](const backends::Registration& row) {
           return row.name == name || std::ranges::find(row.aliases, name) != row.aliases.end();
         });
}

// GoMLX's "name:config"; if the configuration begins with a device name, it selects a device here too.
std::optional<std::string> preferred_backend(const std::string& value) {
  const BackendPlace place = BackendPlace::parse(value);
  if (!is_backend_name(place.backend())) return std::nullopt;
  const std::string device = place.device().substr(0, place.device().find(','));
  constexpr std::array<std::string_view, 5> kDevices = {"cpu", "cuda", "rocm", "tpu", "metal"};
  const bool has_device = std::ranges::find(kDevices, device) != kDevices.end();
  return to_string(BackendPlace(place.backend(), has_device ? device : std::string()));
}

std::optional<std::string> preferred_array_backend(const std::string& value) {
  constexpr std::array<std::string_view, 5> kNames = {"cpu", "metal", "cuda", "onnx", "auto"};
  return std::ranges::find(kNames, value) == kNames.end() ? std::nullopt : std::optional(value);
}

struct ForeignVariable {
  const char* variable;
  std::string_view key;
  Wish wish;
};

constexpr std::array<ForeignVariable, 5> kForeign = {{
    {"TERMITE_FORCE_COREML", "gpu",
     [](const std::string& value) { return is_truthy(value) ? std::optional<std::string>("coreml") : std::nullopt; }},
    {"TERMITE_GPU", "gpu", preferred_gpu},
    {"GOMLX_BACKEND", "backend_priority", preferred_backend},
    {"MLX_BACKEND", "backend_priority", preferred_array_backend},
    {"HF_HUB_OFFLINE", "offline",
     [](const std::string& value) { return is_truthy(value) ? std::optional<std::string>("true") : std::nullopt; }},
}};

std::optional<std::string> variable(const SettingSources& sources, const std::string& name) {
  return sources.environment ? sources.environment(name) : std::nullopt;
}

std::optional<SettingValue> foreign_value(const Setting& setting, const SettingSources& sources) {
  for (const ForeignVariable& row : kForeign) {
    if (row.key != setting.key) continue;
    if (const auto text = variable(sources, row.variable)) {
      if (auto wished = row.wish(*text)) return SettingValue{{std::move(*wished)}, row.variable};
    }
  }
  return std::nullopt;
}

// Value of an option or variable: one text, or a comma-separated list.
SettingValue given_value(const Setting& setting, std::vector<std::string> texts, std::string origin) {
  const bool is_list = setting.kind == SettingKind::list || setting.kind == SettingKind::strategies ||
                       setting.kind == SettingKind::aliases || setting.kind == SettingKind::folders;
  return {is_list ? split_list(texts) : std::move(texts), std::move(origin)};
}

std::optional<SettingValue> strongest_value(const Setting& setting, const SettingSources& sources,
                                            const std::map<std::string_view, SettingValue>& of_file) {
  if (const auto given = sources.options.find(setting.option); given != sources.options.end())
    return given_value(setting, given->second, std::string(setting.option));
  const std::string name = environment_variable(setting);
  if (const auto text = name.empty() ? std::nullopt : variable(sources, name))
    return given_value(setting, {*text}, name);
  if (const auto found = of_file.find(setting.key); found != of_file.end()) return found->second;
  return foreign_value(setting, sources);
}

[[noreturn]] void contradiction(std::string_view message) {
  throw Error(ErrorCode::invalid_argument, std::string(message));
}

// Checks and adjustments that involve several rows.
void settle(Settings& settings, const std::set<std::string_view>& given) {
  if (settings.tls_certificate.empty() != settings.tls_key.empty())
    contradiction("tls.cert and tls.key belong together (--tls-cert, --tls-key); give both, or none");
  settings.listens_on_tcp = settings.unix_socket.empty() || given.contains("host") || given.contains("port");
  if (settings.health_port != 0 && settings.listens_on_tcp && settings.health_port == settings.port)
    contradiction("health_port is the same as port; health answers there anyway: leave health_port out");
  if (settings.max_total_body_mb < settings.max_body_mb) {
    if (given.contains("max_total_body_mb"))
      contradiction("max_total_body_mb is less than max_body_mb; one request would not fit");
    settings.max_total_body_mb = settings.max_body_mb;
  }
  while (settings.base_path.ends_with('/')) settings.base_path.pop_back();
  if (settings.models_dir.empty()) {
    try {
      settings.models_dir = base::cache_directory() / "models";
    } catch (const Error&) {
      // Without a home folder there are no models by name; a model given by its path can still be served.
    }
  }
}

// Settings that are accepted but have no effect yet, reported so that nobody relies on them.
void list_idle_settings(const Settings& settings, const std::set<std::string_view>& given,
                        std::vector<std::string>& idle) {
  if (settings.allow_downloads && settings.download_owners.empty())
    idle.emplace_back("allow_downloads has no effect: download_owners says whose models may be fetched, and is empty");
  if (!settings.allow_downloads && !settings.download_owners.empty())
    idle.emplace_back("download_owners has no effect without allow_downloads");
  if (given.contains("content_security"))
    idle.emplace_back("content_security has no effect: this version fetches no images and no audio");
}

}  // namespace

bool is_foreign_variable(std::string_view origin) {
  return std::ranges::any_of(kForeign, [&](const ForeignVariable& row) { return row.variable == origin; });
}

LoadedSettings load_settings(const SettingSources& sources) {
  LoadedSettings out;
  std::map<std::string_view, SettingValue> of_file;
  if (sources.file != nullptr) {
    of_file = FileReader(*sources.file, &out.unknown_keys).values();
    // A value must be valid even if an option overrides it, so that the file works without the option.
    Settings scratch;
    for (const auto& [key, value] : of_file) assign(scratch, *find_setting(key), value);
  }
  std::set<std::string_view> given;
  for (const Setting& setting : settings_table()) {
    const auto value = strongest_value(setting, sources, of_file);
    if (!value) continue;
    assign(out.settings, setting, *value);
    if (setting.key == "backend_priority") out.settings.backend_priority_origin = value->origin;
    if (setting.key == "gpu") out.settings.gpu_origin = value->origin;
    given.insert(setting.key);
  }
  settle(out.settings, given);
  list_idle_settings(out.settings, given, out.idle_settings);
  return out;
}

std::optional<SettingValue> configured_value(const Setting& setting, const SettingSources& sources) {
  if (sources.file != nullptr) {
    const FileReader reader(*sources.file, nullptr);
    if (const auto found = reader.values().find(setting.key); found != reader.values().end()) return found->second;
  }
  return foreign_value(setting, sources);
}

std::optional<std::filesystem::path> default_configuration_path() {
  if (const auto folder = base::configuration_directory()) return *folder / "alate.yaml";
  return std::nullopt;
}

formats::Json settings_as_json(const Settings& settings) {
  formats::Json::Object out;
  std::vector<std::pair<std::string, formats::Json::Object>> sections;
  for (const Setting& row : settings_table()) {
    if (std::holds_alternative<std::monostate>(row.target)) continue;
    const std::string section(section_of(row.key));
    if (section.empty()) {
      out.emplace_back(row.key, value_of(settings, row));
      continue;
    }
    if (sections.empty() || sections.back().first != section) sections.push_back({section, {}});
    sections.back().second.emplace_back(row.key.substr(section.size() + 1), value_of(settings, row));
  }
  for (auto& [name, members] : sections) out.emplace_back(name, std::move(members));
  return out;
}

std::string settings_as_yaml(const Settings& settings) {
  // Strings, lists and objects in JSON syntax are valid YAML too.
  std::string out;
  const formats::Json json = settings_as_json(settings);
  for (const auto& [key, value] : json.as_object("settings")) {
    const Setting* row = find_setting(key);
    if (row != nullptr && row->is_secret) {
      out += "# " + key + ": " + formats::to_json_text(value) + ", not shown\n";
    } else if (row != nullptr) {
      out += key + ": " + formats::to_json_text(value) + "\n";
    } else {
      out += key + ":\n";
      for (const auto& [part, member] : value.as_object(key))
        out += "  " + part + ": " + formats::to_json_text(member) + "\n";
    }
  }
  return out;
}

}  // namespace alate::server
