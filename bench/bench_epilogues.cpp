// Cost of GEMM epilogues relative to the GEMM without one. Each epilogue and the plain GEMM are timed alternately, so
// that a changing clock affects both. One thread; prints the median of the rounds' ratios and their interquartile
// range.
//
//   bench_epilogues [MxKxN...]    default: a list of shapes; ALATE_ISA selects the instruction set
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "aligned_floats.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/gemm/gemm.h"

namespace {

using namespace alate;
using bench::AlignedFloats;
using bench::filled;
using Clock = std::chrono::steady_clock;

struct Sizes {
  std::size_t m, k, n;
};

constexpr Sizes kShapes[] = {{32, 384, 1536}, {128, 384, 384}, {128, 384, 1536}, {128, 1536, 384}, {128, 768, 3072}};
constexpr std::size_t kGroups = 4;  // quantization groups per row of results

struct Kind {
  std::string_view name;
  cpu::GemmKernel kernel;
};

// Values covering the range of activations.
AlignedFloats random_floats(std::size_t count) {
  AlignedFloats floats = filled(count, 0);
  std::minstd_rand random(1);
  std::normal_distribution<float> normal(0, 1.5f);
  std::generate_n(floats.get(), count, [&] { return normal(random); });
  return floats;
}

// Small integers or bf16, sized so that sums stay in the range of random_floats.
AlignedFloats random_words(std::size_t count, cpu::WordKind kind) {
  AlignedFloats floats = filled(count, 0);
  std::minstd_rand random(2);
  std::uniform_real_distribution<float> uniform(-0.1f, 0.1f);
  auto* words = reinterpret_cast<std::uint32_t*>(floats.get());
  for (std::size_t i = 0; i < count; ++i) {
    if (kind == cpu::WordKind::f32) {
      floats[i] = uniform(random);
    } else if (kind == cpu::WordKind::bf16) {
      words[i] = 0x3d003d00 ^ static_cast<std::uint32_t>(random() & 0x80ff80ff);
    } else {
      words[i] = static_cast<std::uint32_t>(random()) & (kind == cpu::WordKind::bytes ? 0x7f7f7f7f : 0x007f007f);
    }
  }
  return floats;
}

double seconds(const std::function<void()>& run) {
  const auto begin = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void measure(const Kind& kind, const Sizes& shape) {
  const auto& [m, values, n] = shape;
  const std::size_t k = values / cpu::values_per_word(kind.kernel.kind);  // words
  const AlignedFloats a = random_words(m * k, kind.kernel.kind),
                      packed = random_words(cpu::packed_word_count(n, k, kind.kernel), kind.kernel.kind);
  const AlignedFloats bias = random_floats(n), residual = random_floats(m * n), c = filled(m * n, 0);
  const AlignedFloats row_scales = filled(m, 1e-3f), row_offsets = filled(m, -1e-3f), column_scales = filled(n, 1e-2f),
                      column_sums = filled(n, 64);
  const AlignedFloats words = filled(m * n, 0), scales = filled(2 * m * kGroups, 0);
  cpu::GemmArguments alone{.a = a.get(), .a_stride = k, .packed = packed.get()};
  alone.scales = {row_scales.get(), row_offsets.get(), column_scales.get(), column_sums.get(), 1};
  alone.residual_stride = alone.c_stride = n;
  alone.c = c.get();
  alone.m = m;
  alone.n = n;
  alone.k = k;

  std::vector<std::pair<const char*, cpu::GemmArguments>> epilogues;
  const auto add = [&](const char* name, auto change) {
    epilogues.emplace_back(name, alone);
    change(epilogues.back().second);
  };
  add("bias", [&](cpu::GemmArguments& g) { g.bias = bias.get(); });
  add("bias, residual", [&](cpu::GemmArguments& g) {
    g.bias = bias.get();
    g.residual = residual.get();
  });
  const auto add_activation = [&](const char* name, cpu::Activation activation) {
    add(name, [&](cpu::GemmArguments& g) {
      g.bias = bias.get();
      g.activation = activation;
    });
  };
  add_activation("bias, relu", cpu::Activation::relu);
  add_activation("bias, gelu", cpu::Activation::gelu_erf);
  add_activation("bias, silu", cpu::Activation::silu);
  add_activation("bias, quick gelu", cpu::Activation::quick_gelu);
  if (kind.kernel.kind == cpu::WordKind::bf16) {
    add("bias, gelu, to bf16", [&](cpu::GemmArguments& g) {
      g.bias = bias.get();
      g.activation = cpu::Activation::gelu_erf;
      g.halves = reinterpret_cast<std::uint16_t*>(words.get());
      g.halves_stride = n;
    });
  }
  if (cpu::can_quantize_output(n, kGroups, kind.kernel)) {
    add("bias, gelu, to 8 bits", [&](cpu::GemmArguments& g) {
      g.bias = bias.get();
      g.activation = cpu::Activation::gelu_erf;
      g.integers.words = words.get();
      g.integers.words_stride = n;
      g.integers.scales = scales.get();
      g.integers.offsets = scales.get() + m * kGroups;
      g.integers.groups = kGroups;
      g.integers.kind = cpu::kernels().integers.kind;
    });
  }

  base::ThreadPool pool(1);
  const auto repeats = static_cast<std::size_t>(1 + 1e8 / (2.0 * static_cast<double>(m * n * values)));
  const auto run = [&](const cpu::GemmArguments& g) {
    return seconds([&] {
      for (std::size_t i = 0; i < repeats; ++i) cpu::gemm(g, pool, 1, kind.kernel);
    });
  };
  for (const auto& [name, with] : epilogues) {
    run(alone);
    run(with);
    std::vector<double> ratios;
    for (int round = 0; round < 101; ++round) {
      const double before = run(alone), time = run(with), after = run(alone);
      ratios.push_back(2 * time / (before + after));
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("%-5s %4zu x %4zu x %4zu  %-22s %.3f  (%.3f to %.3f)\n", kind.name.data(), m, values, n, name,
                ratios[50], ratios[25], ratios[75]);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Sizes> shapes;
  for (int i = 1; i < argc; ++i) {
    Sizes shape{};
    if (std::sscanf(argv[i], "%zux%zux%zu", &shape.m, &shape.k, &shape.n) == 3) shapes.push_back(shape);
  }
  if (shapes.empty()) shapes.assign(std::begin(kShapes), std::end(kShapes));
  const cpu::Kernels& set = cpu::kernels();
  for (const Kind& kind : {Kind{"f32", set.f32}, Kind{"bf16", set.bf16}, Kind{"int8", set.integers}}) {
    for (const Sizes& shape : shapes) measure(kind, shape);
  }
}
