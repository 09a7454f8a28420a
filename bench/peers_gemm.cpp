// GEMMs with constant weights in Alate and in oneDNN, measured alternately on the same machine: best speed of each in
// 1e9 operations per second, median of their ratios, and interquartile range. Results are f32; integers are u8 by s8,
// with a scale per column in oneDNN and with gemm.h's IntegerScales in Alate. oneDNN has its weights in its preferred
// layout.
//   bench_peers_gemm [ROUNDS [THREADS]]    set OMP_NUM_THREADS to the same number for oneDNN
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "aligned_floats.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/gemm/gemm.h"

namespace {

using namespace alate;
using bench::AlignedFloats;
using bench::filled;
using Clock = std::chrono::steady_clock;
using Type = dnnl::memory::data_type;

struct Sizes {
  std::size_t m, k, n;
};

constexpr Sizes kShapes[] = {{32, 384, 1152}, {128, 384, 1536}, {1024, 1536, 384}, {2048, 2048, 2048}};

// Idle threads spin for some milliseconds before they sleep; this keeps the other library's spinning out of the timing.
constexpr std::chrono::milliseconds kSettling{10};

template <typename Run>
double seconds(std::size_t repeats, const Run& run) {
  const auto before = Clock::now();
  while (Clock::now() - before < kSettling) run();
  const auto start = Clock::now();
  for (std::size_t i = 0; i < repeats; ++i) run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Alate {
 public:
  Alate(const cpu::GemmKernel& kernel, const Sizes& sizes, base::ThreadPool& pool) : kernel_(kernel), pool_(pool) {
    const std::size_t k = sizes.k / cpu::values_per_word(kernel.kind), m = sizes.m, n = sizes.n;
    a_ = filled(m * k, 0.5f);
    packed_ = filled(cpu::packed_word_count(n, k, kernel), 0.25f);
    c_ = filled(m * n, 0.0f);
    scales_ = filled(2 * (m + n), 0.5f);
    arguments_.a = a_.get();
    arguments_.a_stride = arguments_.k = k;
    arguments_.packed = packed_.get();
    arguments_.scales = {scales_.get(), scales_.get() + m, scales_.get() + 2 * m, scales_.get() + 2 * m + n, 1};
    arguments_.c = c_.get();
    arguments_.c_stride = arguments_.n = n;
    arguments_.m = m;
  }
  void run() { cpu::gemm(arguments_, pool_, pool_.size(), kernel_); }

 private:
  const cpu::GemmKernel& kernel_;
  base::ThreadPool& pool_;
  AlignedFloats a_, packed_, c_, scales_;
  cpu::GemmArguments arguments_;
};

class Dnnl {
 public:
  Dnnl(Type a, Type w, const Sizes& sizes) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const auto m = static_cast<dnnl::memory::dim>(sizes.m), k = static_cast<dnnl::memory::dim>(sizes.k),
               n = static_cast<dnnl::memory::dim>(sizes.n);
    using Tag = dnnl::memory::format_tag;
    dnnl::primitive_attr attributes;
    if (w == Type::s8) attributes.set_output_scales(1 << 1, std::vector<float>(sizes.n, 0.5f));
    const dnnl::matmul::primitive_desc chosen(
        {dnnl::memory::desc({m, k}, a, Tag::ab), dnnl::memory::desc({k, n}, w, Tag::any),
         dnnl::memory::desc({m, n}, Type::f32, Tag::ab)},
        attributes, engine_);
    primitive_ = dnnl::matmul(chosen);
    arguments_ = {{DNNL_ARG_SRC, dnnl::memory(chosen.src_desc(), engine_)},
                  {DNNL_ARG_WEIGHTS, dnnl::memory(chosen.weights_desc(), engine_)},
                  {DNNL_ARG_DST, dnnl::memory(chosen.dst_desc(), engine_)}};
    for (auto& [argument, memory] : arguments_) {
      bench::prefer_large_pages(memory.get_data_handle(), memory.get_desc().get_size());
      std::fill_n(static_cast<unsigned char*>(memory.get_data_handle()), memory.get_desc().get_size(),
                  static_cast<unsigned char>(0x3d));
    }
  }
  static bool has(Type a, Type w) {
    try {
      const Dnnl smallest(a, w, {1, 1, 1});
      return true;
    } catch (const dnnl::error&) {
      return false;
    }
  }
  void run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace

int main(int count, char** values) {
  const std::size_t rounds = count > 1 ? std::strtoul(values[1], nullptr, 10) : 30;
  base::ThreadPool pool(count > 2 ? std::strtoul(values[2], nullptr, 10) : 1);
  const cpu::Kernels& set = cpu::kernels();
  struct Kind {
    const char* name;
    const cpu::GemmKernel& kernel;
    Type a, w;
  };
  const Kind kinds[] = {{"f32", set.f32, Type::f32, Type::f32},
                        {"bf16", set.bf16, Type::bf16, Type::bf16},
                        {"int8", set.integers, Type::u8, Type::s8}};
  std::printf("%s kernels\n           M x    K x    N    alate   oneDNN   ratio\n", base::to_string(set.set).data());
  for (const Kind& kind : kinds) {
    if (!Dnnl::has(kind.a, kind.w)) {
      std::printf("%-5s oneDNN has none for this processor\n", kind.name);
      continue;
    }
    for (const Sizes& sizes : kShapes) {
      Alate ours(kind.kernel, sizes, pool);
      Dnnl theirs(kind.a, kind.w, sizes);
      const double operations = 2e-9 * static_cast<double>(sizes.m * sizes.k * sizes.n);
      const auto repeats = static_cast<std::size_t>(1 + 2 / operations);
      std::vector<double> ratios;
      double best = 1e300, theirs_best = 1e300;
      for (std::size_t round = 0; round < rounds; ++round) {
        const double mine = seconds(repeats, [&] { ours.run(); });
        const double other = seconds(repeats, [&] { theirs.run(); });
        ratios.push_back(other / mine);
        best = std::min(best, mine);
        theirs_best = std::min(theirs_best, other);
      }
      std::sort(ratios.begin(), ratios.end());
      const double all = operations * static_cast<double>(repeats);
      std::printf("%-5s %6zu x %4zu x %4zu %8.1f %8.1f %7.2f  (%.2f-%.2f)\n", kind.name, sizes.m, sizes.k, sizes.n,
                  all / best, all / theirs_best, ratios[rounds / 2], ratios[rounds / 4], ratios[rounds * 3 / 4]);
      std::fflush(stdout);
    }
  }
}
