// Profiles as JSON and as tables.
#include <array>
#include <cstdio>
#include <optional>

#include "runtime/profiling/profile.h"

namespace alate::runtime {
namespace {

using backends::Arithmetic;
using formats::Json;

constexpr double kGiga = 1e9;
constexpr std::size_t kMostParts = 40;  // most rows of a table

std::string_view name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::none: break;
    case Arithmetic::other: return "other";
    case Arithmetic::f32: return "f32";
    case Arithmetic::bf16: return "bf16";
    case Arithmetic::int8: return "int8";
    case Arithmetic::int16: return "int16";
  }
  return "";
}

// Rates of a row, as far as they are known.
struct Rates {
  std::optional<double> flops, of_peak, bytes, of_memory;
};

Rates rates_of(const ProfileRow& row, const machine::MachinePeaks& peaks) {
  Rates rates;
  if (row.seconds <= 0) return rates;
  const double peak = peak_flops(peaks, row.arithmetic), memory = rate_of(peaks, machine::kPeakOfReading);
  if (row.flops > 0) rates.flops = row.flops / row.seconds;
  if (rates.flops && peak > 0) rates.of_peak = *rates.flops / peak;
  if (row.bytes > 0) rates.bytes = row.bytes / row.seconds;
  if (rates.bytes && memory > 0) rates.of_memory = *rates.bytes / memory;
  return rates;
}

ProfileRow sum_of(std::span<const ProfileRow> rows) {
  ProfileRow sum{.kernel = "all kernels"};
  for (const ProfileRow& row : rows) {
    sum.calls += row.calls;
    sum.seconds += row.seconds;
    sum.flops += row.flops;
    sum.bytes += row.bytes;
  }
  return sum;
}

double part_of(double some, double all) { return all > 0 ? some / all : 0; }

Json or_null(std::optional<double> value, double unit = 1) { return value ? Json(*value / unit) : Json(); }

Json to_json(const ProfileRow& row, bool is_node, double all_seconds, const machine::MachinePeaks& peaks) {
  const Rates rates = rates_of(row, peaks);
  Json::Object object = {{"kernel", row.kernel}};
  if (is_node) object.emplace_back("source", row.source);
  const std::string_view arithmetic = name_of(row.arithmetic);
  object.emplace_back("arithmetic", arithmetic.empty() ? Json() : Json(arithmetic));
  object.emplace_back("calls", std::uint64_t{row.calls});
  object.emplace_back("seconds", row.seconds);
  object.emplace_back("share_of_time", part_of(row.seconds, all_seconds));
  object.emplace_back("flops", row.flops > 0 ? Json(row.flops) : Json());
  object.emplace_back("bytes", row.bytes);
  object.emplace_back("gflops_per_second", or_null(rates.flops, kGiga));
  object.emplace_back("share_of_peak", or_null(rates.of_peak));
  object.emplace_back("gbytes_per_second", or_null(rates.bytes, kGiga));
  object.emplace_back("share_of_memory_peak", or_null(rates.of_memory));
  return object;
}

Json to_json(std::span<const ProfileRow> rows, bool is_node, double all_seconds, const machine::MachinePeaks& peaks) {
  Json::Array array;
  for (const ProfileRow& row : rows) array.push_back(to_json(row, is_node, all_seconds, peaks));
  return array;
}

// ---- for people

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

constexpr std::size_t kRateWidth = 10, kShareWidth = 9;

std::string right(std::string text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}
std::string rate(std::optional<double> value) {
  return right(value ? formatted("%.1f", *value / kGiga) : std::string(), kRateWidth);
}
std::string share(std::optional<double> value) {
  return right(value ? formatted("%.1f %%", 100 * *value) : std::string(), kShareWidth);
}

std::string heading(std::string_view names) {
  return right("ms", 10) + right("of time", kShareWidth) + right("calls", 8) + right("GF/s", kRateWidth) +
         right("of peak", kShareWidth) + right("GB/s", kRateWidth) + right("of peak", kShareWidth) + "  " +
         std::string(names) + "\n";
}

// Table lines: times and calls per run.
class Lines {
 public:
  Lines(const Profile& profile, std::size_t runs, const machine::MachinePeaks& peaks)
      : all_(profile.seconds()), runs_(static_cast<double>(runs)), peaks_(peaks) {}

  std::string line(const ProfileRow& row, const std::string& name, std::optional<double> of_peak = std::nullopt) const {
    Rates rates = rates_of(row, peaks_);
    if (of_peak) rates.of_peak = of_peak;
    const std::string calls = row.calls > 0 ? formatted("%.0f", static_cast<double>(row.calls) / runs_) : std::string();
    return right(formatted("%.3f", 1e3 * row.seconds / runs_), 10) + share(part_of(row.seconds, all_)) +
           right(calls, 8) + rate(rates.flops) + share(rates.of_peak) + rate(rates.bytes) + share(rates.of_memory) +
           "  " + name + "\n";
  }

 private:
  double all_, runs_;
  const machine::MachinePeaks& peaks_;
};

std::string kernel_name(const ProfileRow& row) {
  const std::string_view arithmetic = name_of(row.arithmetic);
  return arithmetic.empty() ? row.kernel : row.kernel + " " + std::string(arithmetic);
}

}  // namespace

Json to_json(const Profile& profile, std::size_t runs, const machine::MachinePeaks& peaks) {
  const std::vector<ProfileRow> kernels = profile.by_kernel();
  const ProfileRow sum = sum_of(kernels);
  return Json::Object{{"runs", std::uint64_t{runs}},
                      {"seconds", profile.seconds()},
                      {"kernel_seconds", profile.kernel_seconds()},
                      {"outside_seconds", profile.seconds() - profile.kernel_seconds()},
                      {"flops", sum.flops},
                      {"bytes", sum.bytes},
                      {"share_of_peak", share_of_peak(kernels, profile.seconds(), peaks)},
                      {"kernels", to_json(kernels, false, profile.seconds(), peaks)},
                      {"nodes", to_json(profile.by_node(), true, profile.seconds(), peaks)},
                      {"peaks", to_json(peaks)}};
}

std::string profile_listing(const Profile& profile, std::size_t runs, const machine::MachinePeaks& peaks) {
  const Lines lines(profile, runs, peaks);
  const std::vector<ProfileRow> kernels = profile.by_kernel(), parts = profile.by_part();
  const ProfileRow sum = sum_of(kernels);
  std::string text = "Profile: " + formatted("%.3f", 1e3 * profile.seconds() / static_cast<double>(runs)) + " ms" +
                     (runs == 1 ? "" : ", mean of " + std::to_string(runs) + " runs") + "\n" + heading("kernel");
  for (const ProfileRow& row : kernels) text += lines.line(row, kernel_name(row));
  text += lines.line(sum, sum.kernel, share_of_peak(kernels, sum.seconds, peaks));
  text += lines.line({.kernel = {}, .seconds = profile.seconds() - profile.kernel_seconds()}, "outside kernels");
  text += lines.line({.kernel = {}, .seconds = profile.seconds(), .flops = sum.flops}, "in all",
                     share_of_peak(kernels, profile.seconds(), peaks));
  text += "\n" + heading("kernel, part of the model");
  for (std::size_t i = 0; i < std::min(parts.size(), kMostParts); ++i)
    text += lines.line(parts[i], parts[i].kernel + " " + (parts[i].source.empty() ? "-" : parts[i].source));
  if (parts.size() > kMostParts) {
    const ProfileRow rest = sum_of(std::span(parts).subspan(kMostParts));
    text += lines.line(rest, std::to_string(parts.size() - kMostParts) + " more, all in --output json");
  }
  return text + "\nMeasured peaks, of which those of all threads count\n" + peaks_listing(peaks);
}

}  // namespace alate::runtime
