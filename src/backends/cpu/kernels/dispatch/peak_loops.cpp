#include "backends/cpu/kernels/dispatch/peak_loops.h"

namespace alate::cpu {

// Adds the CPU family's loops: in peak_loops_x86.cpp or peak_loops_other.cpp, as the build chooses.
void add_vector_peak_loops(PeakLoops& loops);

namespace {

std::uint64_t read_words(const std::uint64_t* words, std::size_t count) {
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  for (std::size_t i = 0; i < count; i += 4) {
    a += words[i];
    b += words[i + 1];
    c += words[i + 2];
    d += words[i + 3];
  }
  return a + b + c + d;
}

}  // namespace

PeakLoops peak_loops() {
  PeakLoops loops;
  loops.read = {.instructions = "64-bit words", .run = read_words};
  add_vector_peak_loops(loops);
  return loops;
}

}  // namespace alate::cpu
