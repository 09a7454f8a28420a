#include "backends/plugin/plugin_search.h"

#include <algorithm>
#include <optional>

namespace alate::plugin {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStem = "alate_backend_";

// The NAME in the file's name.
std::optional<std::string> name_in(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension != ".so" && extension != ".dylib" && extension != ".dll") return {};
  std::string name = file.stem().string();
  if (name.starts_with("lib")) name.erase(0, 3);
  if (!name.starts_with(kStem)) return {};
  return name.substr(kStem.size());
}

class Search {
 public:
  explicit Search(std::span<const std::string_view> taken) : taken_(taken) {}

  void look_at(const fs::path& place) {
    std::error_code problem;
    if (fs::is_directory(place, problem)) return look_in(place);
    if (!fs::exists(place, problem)) return refuse(place, "it is not there");
    const std::optional<std::string> name = name_in(place);
    if (!name) return refuse(place, "a backend's file is called libalate_backend_NAME.so");
    take(*name, place);
  }

  PluginSearch take_result() { return std::move(result_); }

 private:
  void look_in(const fs::path& folder) {
    std::error_code problem;
    std::vector<FoundPlugin> here;
    fs::directory_iterator entry(folder, problem);
    for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
      std::error_code ignored;
      const std::optional<std::string> name = name_in(entry->path());
      if (name && !entry->is_directory(ignored)) here.push_back({*name, entry->path()});
    }
    if (problem) refuse(folder, "it cannot be read: " + problem.message());
    std::ranges::sort(here, {}, &FoundPlugin::name);
    for (const FoundPlugin& each : here) take(each.name, each.file);
  }

  void take(const std::string& name, const fs::path& file) {
    if (!is_plugin_name(name))
      return refuse(file, "a backend's name is up to 32 of a-z, 0-9, '_' and '-', beginning with a letter");
    if (std::ranges::find(taken_, name) != taken_.end())
      return refuse(file, "'" + name + "' is a backend of Alate itself: name the library otherwise");
    const auto same = std::ranges::find(result_.found, name, &FoundPlugin::name);
    if (same != result_.found.end()) return refuse(file, same->file.string() + " has that name already");
    result_.found.push_back({name, file});
  }

  void refuse(const fs::path& place, const std::string& why) { result_.refused.push_back(place.string() + ": " + why); }

  std::span<const std::string_view> taken_;
  PluginSearch result_;
};

}  // namespace

bool is_plugin_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= 32 && is_letter(name.front()) && std::ranges::all_of(name, may_follow);
}

PluginSearch find_plugins(std::string_view path, std::span<const std::string_view> taken) {
  Search search(taken);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(fs::path::preferred_separator == '/' ? ':' : ';'), path.size());
    if (end > 0) search.look_at(fs::path(path.substr(0, end)));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return search.take_result();
}

}  // namespace alate::plugin
