#include "backends/cpu/kernels/dispatch/peak_loops.h"
#include "base/hardware/cpu_facts.h"
#include "base/hardware/matrix_tiles.h"

namespace alate::cpu {

std::uint32_t run_maddubs_avx2(std::size_t rounds);
std::uint32_t run_vnni_avx2(std::size_t rounds);
std::uint64_t read_words_avx2(const std::uint64_t* words, std::size_t count);
std::uint32_t run_maddubs_avx512(std::size_t rounds);
std::uint32_t run_vnni_avx512(std::size_t rounds);
std::uint32_t run_bf16_avx512(std::size_t rounds);
std::uint32_t run_amx_int8(std::size_t rounds);
std::uint32_t run_amx_bf16(std::size_t rounds);
std::uint64_t read_words_avx512(const std::uint64_t* words, std::size_t count);

// A round of each loop is 12 instructions, or triples of instructions; with tiles 6, of 16 rows by 16 columns.
constexpr std::size_t kChains = 12, kTileChains = 6, kTileElements = 16 * 16;

void add_vector_peak_loops(PeakLoops& loops);
void add_vector_peak_loops(PeakLoops& loops) {
  const base::CpuFacts& facts = base::cpu_facts();
  if (facts.best >= base::InstructionSet::avx2) {
    loops.read = {.instructions = "avx2", .run = read_words_avx2};
    loops.int8 = {.instructions = "avx2 maddubs", .operations_per_round = kChains * 2 * 32, .run = run_maddubs_avx2};
    if (facts.has("avx_vnni"))
      loops.int8 = {.instructions = "avx_vnni", .operations_per_round = kChains * 2 * 32, .run = run_vnni_avx2};
  }
  if (facts.best < base::InstructionSet::avx512) return;
  loops.read = {.instructions = "avx512", .run = read_words_avx512};
  if (!facts.has("avx_vnni"))
    loops.int8 = {
        .instructions = "avx512 maddubs", .operations_per_round = kChains * 2 * 64, .run = run_maddubs_avx512};
  if (facts.has("avx512_vnni"))
    loops.int8 = {.instructions = "avx512_vnni", .operations_per_round = kChains * 2 * 64, .run = run_vnni_avx512};
  if (facts.has("avx512_bf16"))
    loops.bf16 = {.instructions = "avx512_bf16", .operations_per_round = kChains * 2 * 32, .run = run_bf16_avx512};
  if ((!facts.has("amx_int8") && !facts.has("amx_bf16")) || !base::request_matrix_tiles()) return;
  if (facts.has("amx_int8"))
    loops.int8 = {
        .instructions = "amx_int8", .operations_per_round = kTileChains * 2 * 64 * kTileElements, .run = run_amx_int8};
  if (facts.has("amx_bf16"))
    loops.bf16 = {
        .instructions = "amx_bf16", .operations_per_round = kTileChains * 2 * 32 * kTileElements, .run = run_amx_bf16};
}

}  // namespace alate::cpu
