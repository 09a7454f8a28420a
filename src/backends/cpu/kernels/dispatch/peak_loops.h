// Loops of a CPU's fastest instructions, to measure its peak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace alate::cpu {

/// Independent chains in registers. `run` is null if the CPU has no such instructions.
struct PeakLoop {
  std::string_view instructions = {};                  // "avx512_vnni"
  std::size_t operations_per_round = 0;                // a multiplication and an addition count as two
  std::uint32_t (*run)(std::size_t rounds) = nullptr;  // the result only keeps the loop from being optimized away
};

/// A sum over memory, bound by reading it.
struct ReadLoop {
  std::string_view instructions = {};
  std::uint64_t (*run)(const std::uint64_t* words, std::size_t count) = nullptr;  // count is a multiple of 64
};

struct PeakLoops {
  PeakLoop int8;  // products of 8-bit integers summed in 32 bits
  PeakLoop bf16;  // products of bfloat16 summed in f32
  ReadLoop read;
};

/// The fastest loops that this CPU and build have, whatever ALATE_ISA says.
PeakLoops peak_loops();

}  // namespace alate::cpu
