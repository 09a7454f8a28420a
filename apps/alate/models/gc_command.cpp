// alate gc
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "base/ascii_case.h"
#include "base/byte_text.h"
#include "base/log.h"
#include "folders/cache_cleaning.h"
#include "folders/hub_models.h"
#include "formats/json.h"
#include "server/settings/duration.h"

namespace alate::app {
namespace {

using folders::Cleaning;
using formats::Json;

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr std::array kUnits = std::to_array<Unit>({{"", 1},
                                                   {"b", 1},
                                                   {"kb", 1e3},
                                                   {"mb", 1e6},
                                                   {"gb", 1e9},
                                                   {"tb", 1e12},
                                                   {"kib", 0x1p10},
                                                   {"mib", 0x1p20},
                                                   {"gib", 0x1p30},
                                                   {"tib", 0x1p40}});

// "20GB", "1.5 GiB", "1000000".
std::uint64_t parse_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const std::string unit = base::ascii_lower(rest);
  for (const Unit& each : kUnits) {
    constexpr double kMost = 0x1p62;
    if (error != std::errc() || each.name != unit || !(number >= 0) || number * each.bytes > kMost) continue;
    return static_cast<std::uint64_t>(std::llround(number * each.bytes));
  }
  throw make_error(ErrorCode::invalid_argument, formats::quoted_name(text), " is no size: write 500MB or 20GB");
}

std::chrono::seconds parse_age(std::string_view text) {
  const bool is_days = text.ends_with('d');
  std::size_t days = 0;
  if (is_days) {
    const char* last = text.data() + text.size() - 1;
    const auto [end, error] = std::from_chars(text.data(), last, days);
    if (error == std::errc() && end == last && days <= 36'500) return std::chrono::hours(24 * days);
  } else if (const auto age = server::parse_duration(text); age && age->count() >= 0) {
    return std::chrono::duration_cast<std::chrono::seconds>(*age);
  }
  throw make_error(ErrorCode::invalid_argument, formats::quoted_name(text), " is no age: write 12h or 30d");
}

struct Outcome {
  std::vector<Cleaning> done;
  std::vector<std::string> failed;  // why
  std::uint64_t bytes = 0;
};

Outcome clean(std::vector<Cleaning> plan, bool is_dry_run) {
  Outcome outcome;
  for (Cleaning& each : plan) {
    try {
      if (!is_dry_run) folders::carry_out(each.removal);
    } catch (const Error& error) {  // another process has it, or a permission is missing: the others can be removed
      outcome.failed.push_back(each.model + ": " + error.message());
      continue;
    }
    outcome.bytes += each.removal.bytes;
    outcome.done.push_back(std::move(each));
  }
  return outcome;
}

std::string in_json(const Outcome& outcome, bool is_dry_run) {
  Json::Array removed;
  for (const Cleaning& each : outcome.done) {
    Json::Array entries;
    for (const auto& entry : each.removal.entries) entries.emplace_back(entry.string());
    removed.emplace_back(Json::Object{{"model", each.model},
                                      {"reason", to_string(each.reason)},
                                      {"bytes", each.removal.bytes},
                                      {"entries", std::move(entries)}});
  }
  return formats::to_json_text(Json::Object{{"removed", !is_dry_run},
                                            {"bytes", outcome.bytes},
                                            {"items", std::move(removed)},
                                            {"failed", Json::Array(outcome.failed.begin(), outcome.failed.end())}}) +
         "\n";
}

std::string in_text(const Outcome& outcome, bool is_dry_run) {
  std::string text;
  for (const Cleaning& each : outcome.done) {
    const std::string& entry = each.removal.entries.front().filename().string();
    text += each.model + "  " + std::string(to_string(each.reason)) + "  " + terminal_text(entry) + "  " +
            base::byte_text(each.removal.bytes) + "\n";
  }
  return text + (is_dry_run ? "would free " : "freed ") + base::byte_text(outcome.bytes) + "\n";
}

}  // namespace

void run_gc(Arguments& arguments) {
  folders::CleaningOptions how;
  bool is_dry_run = false;
  CommonOptions options;
  arguments.option("--older-than", "AGE", "leave what has changed since: 12h, 30d; default: 1d",
                   [&](std::string_view text) { how.older_than = parse_age(text); });
  arguments.option("--max-size", "SIZE",
                   "remove the models that were fetched longest ago, until the cache has so much: 20GB",
                   [&](std::string_view text) { how.max_bytes = parse_size(text); });
  arguments.flag("--dry-run", "say what would be removed, and remove nothing", is_dry_run);
  const auto written = {OutputFormat::text, OutputFormat::json};
  declare(arguments, options, {}, written);
  if (!arguments.parse()) return;
  apply(options);
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  const auto cache = folders::user_hub_cache();
  const Outcome outcome = clean(cache ? folders::plan_cleaning(*cache, how) : std::vector<Cleaning>(), is_dry_run);
  if (!options.quiet)
    output.write(format == OutputFormat::json ? in_json(outcome, is_dry_run) : in_text(outcome, is_dry_run));
  output.finish();
  for (const std::string& reason : outcome.failed)
    base::log(base::LogLevel::warn, "not removed", {{"reason", reason}}, "not removed: " + reason);
}

}  // namespace alate::app
