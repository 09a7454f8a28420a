// Where the time of runs went: kernel calls added up, and how near they came to what the machine can do.
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

/// Calls that were added up.
struct ProfileRow {
  std::string kernel;       // the backend's spelling
  std::string source = {};  // of the graph's node; empty where all of a kernel's are added up
  backends::Arithmetic arithmetic = backends::Arithmetic::none;
  std::size_t calls = 0;
  double seconds = 0, flops = 0, bytes = 0;  // as backends::Work counts them
};

/// Sums over kernel calls. Not thread-safe.
class Profile {
 public:
  /// What ran in `seconds` by the caller's clock, kernel calls and whatever was between them.
  void add(std::span<const backends::StepTime> calls, double seconds);

  double seconds() const { return seconds_; }
  double kernel_seconds() const { return kernel_seconds_; }
  /// A row a kernel and kind of arithmetic; the longest time first.
  std::vector<ProfileRow> by_kernel() const;
  /// A row a node of the graph and kernel; the longest time first.
  std::vector<ProfileRow> by_node() const;
  /// The same with the layers of a model as one: "layer.3.output" and "layer.4.output" are "layer.*.output".
  std::vector<ProfileRow> by_part() const;

 private:
  using Key = std::tuple<std::string, std::string, backends::Arithmetic>;  // kernel, source
  template <typename Name>
  std::vector<ProfileRow> rows(const Name& source_of) const;

  std::map<Key, ProfileRow> rows_;
  double seconds_ = 0, kernel_seconds_ = 0;
};

/// Operations a second of `arithmetic` on all threads at best; 0 where it was not measured.
double peak_flops(const machine::MachinePeaks& peaks, backends::Arithmetic arithmetic);

/// What part of `seconds` the operations of all rows take at the machine's peak, each at that of its arithmetic: the
/// share of the peak that the whole came to. Operations without a measured peak take no time.
double share_of_peak(std::span<const ProfileRow> rows, double seconds, const machine::MachinePeaks& peaks);

/// {"runs", "seconds" (of all runs), "kernel_seconds", "outside_seconds", "flops", "bytes", "share_of_peak",
/// "kernels": […], "nodes": […], "peaks": as to_json(peaks)}. Rows have "kernel", "source" (nodes), "arithmetic",
/// "calls", "seconds", "share_of_time", "flops", "bytes", "gflops_per_second", "share_of_peak", "gbytes_per_second",
/// "share_of_memory_peak"; null where it is not known.
formats::Json to_json(const Profile& profile, std::size_t runs, const machine::MachinePeaks& peaks);

/// The same for people: tables by kernel and by part, times and calls of one of the `runs`.
std::string profile_listing(const Profile& profile, std::size_t runs, const machine::MachinePeaks& peaks);

}  // namespace alate::runtime
