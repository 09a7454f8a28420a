#include "server/settings/settings_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "alate/error.h"
#include "server/settings/duration.h"

namespace alate::server {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

constexpr double kNanosecondsOfMillisecond = 1e6;
constexpr std::string_view kAutomatic = "auto";
constexpr std::array<std::string_view, 2> kStrategies = {"eager", "lazy"};

[[noreturn]] void refuse(const Setting& setting, const SettingValue& value, std::string_view text) {
  const std::string shown = setting.is_secret ? "has a value that it cannot have" : "is " + formats::quoted_name(text);
  throw make_error(ErrorCode::invalid_argument, value.origin, " ", shown, "; it must be ", allowed_values(setting));
}

[[noreturn]] void refuse_chain(const SettingValue& value, std::string_view name, std::string_view model) {
  throw make_error(ErrorCode::invalid_argument, value.origin, ": ", formats::quoted_name(name), " stands for ",
                   formats::quoted_name(model), ", which is an alias too; name the model itself");
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

std::optional<bool> read_bool(std::string_view text) {
  for (const std::string_view yes : {"true", "1", "yes", "on"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "0", "no", "off"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::optional<Nanoseconds> read_milliseconds(std::string_view text) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  // About a year in milliseconds: far above every limit, and far below the range of 64-bit nanoseconds.
  if (problem != std::errc() || end != text.data() + text.size() || !(std::abs(number) < 3e10)) return std::nullopt;
  return Nanoseconds(std::llround(number * kNanosecondsOfMillisecond));
}

bool is_within(const Setting& setting, std::uint64_t number) {
  return number >= setting.least && number <= setting.most;
}

bool is_within(const Setting& setting, Nanoseconds duration) {
  return duration >= Nanoseconds(0) && is_within(setting, static_cast<std::uint64_t>(duration.count()));
}

LoadStrategy read_strategy(const Setting& setting, const SettingValue& value, std::string_view text) {
  const auto found = std::ranges::find(kStrategies, text);
  if (found == kStrategies.end()) refuse(setting, value, text);
  return static_cast<LoadStrategy>(found - kStrategies.begin());
}

// Stores a parsed value in the row's member, whatever its type.
struct Assigner {
  Settings& settings;
  const Setting& setting;
  const SettingValue& value;

  const std::string& text() const {
    static const std::string nothing;
    return value.texts.empty() ? nothing : value.texts.back();
  }

  void check_text(std::string_view each) const {
    if (setting.fits != nullptr && !setting.fits(each)) refuse(setting, value, each);
    if (!setting.choices.empty() && std::ranges::find(setting.choices, each) == setting.choices.end())
      refuse(setting, value, each);
  }

  template <typename Count>
  void set_count(Count& target) const {
    const auto count = parse_count(text());
    if (!count || !is_within(setting, *count)) refuse(setting, value, text());
    target = static_cast<Count>(*count);
  }

  // A setting of the commands: only checks whether the value is valid.
  void operator()(std::monostate) const {
    if (setting.kind == SettingKind::count) {
      std::uint64_t count = 0;
      set_count(count);
    } else {
      check_text(text());
    }
  }
  void operator()(std::string Settings::*target) const {
    check_text(text());
    settings.*target = text();
  }
  void operator()(std::filesystem::path Settings::*target) const { settings.*target = text(); }
  void operator()(bool Settings::*target) const {
    const auto flag = read_bool(text());
    if (!flag) refuse(setting, value, text());
    settings.*target = setting.kind == SettingKind::negation ? !*flag : *flag;
  }
  void operator()(std::uint16_t Settings::*target) const { set_count(settings.*target); }
  void operator()(std::size_t Settings::*target) const { set_count(settings.*target); }
  void operator()(std::optional<std::size_t> Settings::*target) const {
    if (text() == kAutomatic) {
      (settings.*target).reset();
    } else {
      set_count((settings.*target).emplace());
    }
  }
  void operator()(Nanoseconds Settings::*target) const {
    const auto duration =
        setting.kind == SettingKind::milliseconds ? read_milliseconds(text()) : parse_duration(text());
    if (!duration || !is_within(setting, *duration)) refuse(setting, value, text());
    settings.*target = *duration;
  }
  void operator()(std::vector<std::string> Settings::*target) const {
    for (const std::string& each : value.texts) check_text(each);
    settings.*target = value.texts;
  }
  void operator()(std::map<std::string, LoadStrategy> Settings::*target) const {
    std::map<std::string, LoadStrategy> strategies;
    for (const std::string& each : value.texts) {
      const std::size_t middle = each.rfind('=');
      if (middle == std::string::npos || middle == 0) refuse(setting, value, each);
      strategies[each.substr(0, middle)] = read_strategy(setting, value, std::string_view(each).substr(middle + 1));
    }
    settings.*target = std::move(strategies);
  }
  void operator()(std::map<std::string, std::string> Settings::*target) const {
    std::map<std::string, std::string> named;
    for (const std::string& each : value.texts) {
      const std::size_t middle = each.find('=');
      if (middle == std::string::npos || middle + 1 == each.size()) refuse(setting, value, each);
      check_text(each.substr(0, middle));
      named[each.substr(0, middle)] = each.substr(middle + 1);
    }
    for (const auto& [name, model] : named) {
      if (setting.kind == SettingKind::aliases && named.contains(model)) refuse_chain(value, name, model);
    }
    settings.*target = std::move(named);
  }
  void operator()(base::LogLevel Settings::*target) const {
    const auto level = base::parse_log_level(text());
    if (!level) refuse(setting, value, text());
    settings.*target = *level;
  }
  void operator()(base::LogStyle Settings::*target) const {
    const auto style = base::parse_log_style(text());
    if (!style) refuse(setting, value, text());
    settings.*target = *style;
  }
};

struct Shower {
  const Settings& settings;
  const Setting& setting;

  formats::Json operator()(std::monostate) const { return {}; }
  formats::Json operator()(std::string Settings::*target) const { return settings.*target; }
  formats::Json operator()(std::filesystem::path Settings::*target) const { return (settings.*target).string(); }
  formats::Json operator()(bool Settings::*target) const {
    return setting.kind == SettingKind::negation ? !(settings.*target) : settings.*target;
  }
  formats::Json operator()(std::uint16_t Settings::*target) const { return std::uint64_t{settings.*target}; }
  formats::Json operator()(std::size_t Settings::*target) const { return std::uint64_t{settings.*target}; }
  formats::Json operator()(std::optional<std::size_t> Settings::*target) const {
    if (const auto& limit = settings.*target) return std::uint64_t{*limit};
    return kAutomatic;
  }
  formats::Json operator()(Nanoseconds Settings::*target) const {
    const Nanoseconds duration = settings.*target;
    if (setting.kind != SettingKind::milliseconds) return to_text(duration);
    const double number = static_cast<double>(duration.count()) / kNanosecondsOfMillisecond;
    if (number == std::floor(number)) return static_cast<std::uint64_t>(number);
    return number;
  }
  formats::Json operator()(std::vector<std::string> Settings::*target) const {
    if (setting.is_secret) return std::uint64_t{(settings.*target).size()};
    return formats::Json::Array((settings.*target).begin(), (settings.*target).end());
  }
  formats::Json operator()(std::map<std::string, LoadStrategy> Settings::*target) const {
    formats::Json::Object out;
    for (const auto& [name, strategy] : settings.*target)
      out.emplace_back(name, kStrategies.at(static_cast<std::size_t>(strategy)));
    return out;
  }
  formats::Json operator()(std::map<std::string, std::string> Settings::*target) const {
    formats::Json::Object out;
    for (const auto& [name, model] : settings.*target) out.emplace_back(name, model);
    return out;
  }
  formats::Json operator()(base::LogLevel Settings::*target) const { return alate::to_string(settings.*target); }
  formats::Json operator()(base::LogStyle Settings::*target) const { return base::to_string(settings.*target); }
};

}  // namespace

std::string to_text(Nanoseconds duration) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kUnits = {
      {{"h", 3'600'000'000'000}, {"m", 60'000'000'000}, {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}}};
  const std::int64_t count = duration.count();
  if (count == 0) return "0";
  for (const auto& [unit, length] : kUnits) {
    if (count % length == 0) return std::to_string(count / length) + std::string(unit);
  }
  return std::to_string(count) + "ns";
}

std::vector<std::string> split_list(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t to = std::min(text.find(',', from), text.size());
      const std::size_t first = text.find_first_not_of(" \t", from);
      if (first < to) items.push_back(text.substr(first, text.find_last_not_of(" \t", to - 1) + 1 - first));
      from = to + 1;
    }
  }
  return items;
}

void assign(Settings& settings, const Setting& setting, const SettingValue& value) {
  std::visit(Assigner{settings, setting, value}, setting.target);
}

std::string allowed_values(const Setting& setting) {
  const auto range = [&](const auto& shown) {
    const std::string least = shown(setting.least);
    return " from " + least + " to " + shown(setting.most);
  };
  const auto as_time = [](std::uint64_t number) { return to_text(Nanoseconds(static_cast<std::int64_t>(number))); };
  switch (setting.kind) {
    case SettingKind::choice: {
      std::string out = "one of ";
      for (const std::string_view choice : setting.choices)
        out += (choice == setting.choices.front() ? "" : ", ") + std::string(choice);
      return out;
    }
    case SettingKind::boolean:
    case SettingKind::negation: return "true or false";
    case SettingKind::count:
    case SettingKind::limit: {
      const std::string numbers = "a whole number" + range([](std::uint64_t number) { return std::to_string(number); });
      return setting.kind == SettingKind::limit ? "auto, or " + numbers : numbers;
    }
    case SettingKind::duration: return "a time like 500ms, 30s, 5m or 1h," + range(as_time);
    case SettingKind::milliseconds:
      return "a number" + range([](std::uint64_t number) { return std::to_string(number / 1'000'000); });
    case SettingKind::strategies: return "eager or lazy for each model";
    case SettingKind::group: return "a group of keys";
    case SettingKind::text:
    case SettingKind::aliases:
    case SettingKind::folders:
    case SettingKind::list: break;
  }
  if (!setting.must_be.empty()) return std::string(setting.must_be);
  return setting.kind == SettingKind::list ? "a list of texts" : "a text";
}

formats::Json value_of(const Settings& settings, const Setting& setting) {
  return std::visit(Shower{settings, setting}, setting.target);
}

}  // namespace alate::server
