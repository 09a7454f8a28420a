// Profiles of runs: summed kernel calls, and how close they came to the machine's peaks.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "backends/backend.h"
#include "formats/json.h"
#include "machine/machine_peaks.h"

namespace alate::runtime {

/// Summed kernel calls.
struct ProfileRow {
  std::string kernel;       // the backend's spelling
  std::string source = {};  // of the graph's node; empty where the sum covers all nodes of a kernel
  backends::Arithmetic arithmetic = backends::Arithmetic::none;
  std::size_t calls = 0;
  double seconds = 0, flops = 0, bytes = 0;  // as backends::Work counts them
};

/// Sums over kernel calls. Not thread-safe.
class Profile {
 public:
  /// Adds the kernel calls of a run that took `seconds` by the caller's clock, with the time between calls.
  void add(std::span<const backends::StepTime> calls, double seconds);

  double seconds() const { return seconds_; }
  double kernel_seconds() const { return kernel_seconds_; }
  /// A row for each kernel and arithmetic; longest time first.
  std::vector<ProfileRow> by_kernel() const;
  /// A row for each node of the graph and kernel; longest time first.
  std::vector<ProfileRow> by_node() const;
  /// The same with all layers of a model merged: "layer.3.output" and "layer.4.output" are "layer.*.output".
  std::vector<ProfileRow> by_part() const;

 private:
  using Key = std::tuple<std::string, std::string, backends::Arithmetic>;  // kernel, source
  template <typename Name>
  std::vector<ProfileRow> rows(const Name& source_of) const;

  std::map<Key, ProfileRow> rows_;
  double seconds_ = 0, kernel_seconds_ = 0;
};

/// Peak operations per second of `arithmetic` on all threads; 0 where not measured.
double peak_flops(const machine::MachinePeaks& peaks, backends::Arithmetic arithmetic);

/// The share of peak that all rows reached together: the time that their operations take at the machine's peak for
/// their arithmetic, divided by `seconds`. Operations without a measured peak count as no time.
double share_of_peak(std::span<const ProfileRow> rows, double seconds, const machine::MachinePeaks& peaks);

/// {"runs", "seconds" (of all runs), "kernel_seconds", "outside_seconds", "flops", "bytes", "share_of_peak",
/// "kernels": […], "nodes": […], "peaks": as to_json(peaks)}. Rows have "kernel", "source" (nodes), "arithmetic",
/// "calls", "seconds", "share_of_time", "flops", "bytes", "gflops_per_second", "share_of_peak", "gbytes_per_second",
/// "share_of_memory_peak"; null where unknown.
formats::Json to_json(const Profile& profile, std::size_t runs, const machine::MachinePeaks& peaks);

/// The same for people: tables by kernel and by part, with times and calls per run.
std::string profile_listing(const Profile& profile, std::size_t runs, const machine::MachinePeaks& peaks);

}  // namespace alate::runtime
