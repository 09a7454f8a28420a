#include "runtime/profiling/profile.h"

#include <algorithm>

namespace alate::runtime {
namespace {

using backends::Arithmetic;

bool ends_part(char c) { return c == '.' || c == '/'; }

// Replaces numbers between dots or slashes, which count layers.
std::string without_layers(const std::string& source) {
  std::string text;
  for (std::size_t from = 0; from <= source.size();) {
    const auto end = std::find_if(source.begin() + static_cast<std::ptrdiff_t>(from), source.end(), ends_part);
    const auto to = static_cast<std::size_t>(end - source.begin());
    const std::string part = source.substr(from, to - from);
    const bool is_number = !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    text += is_number ? "*" : part;
    if (to < source.size()) text += source[to];
    from = to + 1;
  }
  return text;
}

void add_to(ProfileRow& sum, const ProfileRow& row) {
  sum.calls += row.calls;
  sum.seconds += row.seconds;
  sum.flops += row.flops;
  sum.bytes += row.bytes;
}

}  // namespace

void Profile::add(std::span<const backends::StepTime> calls, double seconds) {
  seconds_ += seconds;
  for (const backends::StepTime& call : calls) {
    ProfileRow row{.kernel = std::string(call.kernel),
                   .source = std::string(call.source),
                   .arithmetic = call.work.arithmetic,
                   .calls = 1,
                   .seconds = std::chrono::duration<double>(call.time).count(),
                   .flops = call.work.flops,
                   .bytes = call.work.bytes};
    kernel_seconds_ += row.seconds;
    const auto [place, is_new] = rows_.try_emplace({row.kernel, row.source, row.arithmetic}, row);
    if (!is_new) add_to(place->second, row);
  }
}

template <typename Name>
std::vector<ProfileRow> Profile::rows(const Name& source_of) const {
  std::map<Key, ProfileRow> sums;
  for (const auto& [key, row] : rows_) {
    ProfileRow named = row;
    named.source = source_of(row.source);
    const auto [place, is_new] = sums.try_emplace({named.kernel, named.source, named.arithmetic}, named);
    if (!is_new) add_to(place->second, named);
  }
  std::vector<ProfileRow> sorted;
  for (const auto& [key, row] : sums) sorted.push_back(row);
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &ProfileRow::seconds);
  return sorted;
}

std::vector<ProfileRow> Profile::by_kernel() const {
  return rows([](const std::string& /*source*/) { return std::string(); });
}
std::vector<ProfileRow> Profile::by_node() const {
  return rows([](const std::string& source) { return source; });
}
std::vector<ProfileRow> Profile::by_part() const { return rows(without_layers); }

namespace {

// Instructions that multiply int8 directly process half as many int16. Without them, int8 is widened by another
// multiplication, so its rate equals that of int16.
double int16_rate(const machine::MachinePeaks& peaks) {
  const auto bytes = std::ranges::find(peaks.rates, machine::kPeakOfInt8, &machine::PeakRate::name);
  const bool widens = bytes != peaks.rates.end() && bytes->instructions.ends_with("maddubs");
  return rate_of(peaks, machine::kPeakOfInt8) / (widens ? 1 : 2);
}

}  // namespace

double peak_flops(const machine::MachinePeaks& peaks, Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::none:
    case Arithmetic::other: return 0;
    case Arithmetic::f32: return rate_of(peaks, machine::kPeakOfF32);
    case Arithmetic::bf16: return rate_of(peaks, machine::kPeakOfBf16);
    case Arithmetic::int8: return rate_of(peaks, machine::kPeakOfInt8);
    case Arithmetic::int16: return int16_rate(peaks);
  }
  return 0;
}

double share_of_peak(std::span<const ProfileRow> rows, double seconds, const machine::MachinePeaks& peaks) {
  double least = 0;
  for (const ProfileRow& row : rows) {
    if (const double peak = peak_flops(peaks, row.arithmetic); peak > 0) least += row.flops / peak;
  }
  return seconds > 0 ? least / seconds : 0;
}

}  // namespace alate::runtime
