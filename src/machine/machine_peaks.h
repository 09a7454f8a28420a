// The machine's measured peak rates, by which models' speeds are judged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace alate::machine {

/// Names of the rates.
inline constexpr std::string_view kPeakOfF32 = "multiply-add f32", kPeakOfInt8 = "multiply-add int8",
                                  kPeakOfBf16 = "multiply-add bf16", kPeakOfReading = "reading memory";

struct PeakRate {
  std::string name;          // one of those above
  std::string unit;          // "GFLOP/s", "GOP/s", "GB/s"
  std::string instructions;  // that the measurement used: "avx512_vnni"
  double one_thread = 0;     // on one core
  double all_threads = 0;    // on all threads of the pool at once
  std::string absent = {};   // why it was not measured: "no bf16 instructions"
};

struct MachinePeaks {
  std::vector<PeakRate> rates;  // f32, int8, bf16, reading memory
  std::size_t threads = 1;      // of the pool
  double seconds = 0;           // that the measurement took
};

/// Measures for less than two seconds, on the shared pool's threads; other work at the same time makes it slower and
/// lowers the figures.
MachinePeaks measure_peaks();

/// Operations or bytes a second on all threads, of the rate of this name; 0 where it was not measured.
double rate_of(const MachinePeaks& peaks, std::string_view name);

/// [{"name", "unit", "instructions", "one_thread", "all_threads"}] or, for a rate that was not measured, "absent"
/// instead of the figures.
formats::Json to_json(const MachinePeaks& peaks);
/// One line for each rate: "multiply-add f32 95.3 GFLOP/s on one thread, 187 on 2 (avx512)".
std::string peaks_listing(const MachinePeaks& peaks);

}  // namespace alate::machine
