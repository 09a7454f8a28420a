#include "runtime/profiling/profile.h"

#include <gtest/gtest.h>

#include <chrono>

namespace alate::runtime {
namespace {

using backends::Arithmetic;
using backends::StepTime;
using namespace std::chrono_literals;

// 100 GFLOP/s in f32 and 400 in bf16, no int8; 10 GB/s.
machine::MachinePeaks made_up() {
  return {.rates = {{std::string(machine::kPeakOfF32), "GFLOP/s", "avx2", 50, 100},
                    {std::string(machine::kPeakOfInt8), "GOP/s", "", 0, 0, "no int8 instructions"},
                    {std::string(machine::kPeakOfBf16), "GFLOP/s", "avx512_bf16", 200, 400},
                    {std::string(machine::kPeakOfReading), "GB/s", "avx2", 5, 10}},
          .threads = 2,
          .seconds = 0.5};
}

// Two runs of a model of two layers: 10 ms each, of which 8 in kernels.
Profile two_runs() {
  Profile profile;
  for (int run = 0; run < 2; ++run) {
    const StepTime calls[] = {
        {"gemm", "model.layer.0.output", 2ms, {.flops = 100e6, .bytes = 8e6, .arithmetic = Arithmetic::f32}},
        {"gemm", "model.layer.1.output", 3ms, {.flops = 100e6, .bytes = 8e6, .arithmetic = Arithmetic::f32}},
        {"gemm", "model.layer.1.output", 1ms, {.flops = 200e6, .bytes = 4e6, .arithmetic = Arithmetic::bf16}},
        {"gather", "model.embeddings", 2ms, {.bytes = 40e6}},
    };
    profile.add(calls, 0.010);
  }
  return profile;
}

TEST(Profile, AddsUpCallsByKernelAndNode) {
  const Profile profile = two_runs();
  EXPECT_DOUBLE_EQ(profile.seconds(), 0.020);
  EXPECT_DOUBLE_EQ(profile.kernel_seconds(), 0.016);
  const std::vector<ProfileRow> kernels = profile.by_kernel();
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].kernel, "gemm");
  EXPECT_EQ(kernels[0].arithmetic, Arithmetic::f32);
  EXPECT_EQ(kernels[0].calls, 4U);
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 0.010);
  EXPECT_DOUBLE_EQ(kernels[0].flops, 400e6);
  EXPECT_DOUBLE_EQ(kernels[0].bytes, 32e6);
  EXPECT_EQ(kernels[1].kernel, "gather");
  EXPECT_EQ(kernels[2].arithmetic, Arithmetic::bf16);
  const std::vector<ProfileRow> nodes = profile.by_node();
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[0].source, "model.layer.1.output");
  EXPECT_DOUBLE_EQ(nodes[0].seconds, 0.006);
}

TEST(Profile, LayersAreOnePart) {
  const std::vector<ProfileRow> parts = two_runs().by_part();
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].source, "model.layer.*.output");
  EXPECT_EQ(parts[0].calls, 4U);
  Profile other;
  const StepTime calls[] = {{"a", "/encoder/layer.11/query8", 3us}, {"a", "12", 2us}, {"a", "", 1us}};
  other.add(calls, 1);
  const std::vector<ProfileRow> named = other.by_part();
  ASSERT_EQ(named.size(), 3U);
  EXPECT_EQ(named[0].source, "/encoder/layer.*/query8");
  EXPECT_EQ(named[1].source, "*");
  EXPECT_EQ(named[2].source, "");
}

TEST(Profile, TheShareOfThePeakIsThatOfEachArithmetic) {
  const Profile profile = two_runs();
  const machine::MachinePeaks peaks = made_up();
  EXPECT_DOUBLE_EQ(peak_flops(peaks, Arithmetic::f32), 100e9);
  EXPECT_DOUBLE_EQ(peak_flops(peaks, Arithmetic::int8), 0);
  EXPECT_DOUBLE_EQ(peak_flops(peaks, Arithmetic::other), 0);
  // 400 MFLOP at 100 GFLOP/s are 4 ms, 400 at 400 are 1: five of 20 ms.
  EXPECT_DOUBLE_EQ(share_of_peak(profile.by_kernel(), profile.seconds(), peaks), 0.25);
  EXPECT_EQ(share_of_peak(profile.by_kernel(), 0, peaks), 0);
}

TEST(Profile, ShortsTakeAsLongAsBytesThatAreWidened) {
  machine::MachinePeaks peaks = made_up();
  EXPECT_DOUBLE_EQ(peak_flops(peaks, Arithmetic::int16), 0);
  machine::PeakRate& bytes = peaks.rates[1];
  ASSERT_EQ(bytes.name, machine::kPeakOfInt8);
  bytes = {std::string(machine::kPeakOfInt8), "GOP/s", "avx512_vnni", 100, 200};
  EXPECT_DOUBLE_EQ(peak_flops(peaks, Arithmetic::int16), 100e9);
  bytes.instructions = "avx2 maddubs";
  EXPECT_DOUBLE_EQ(peak_flops(peaks, Arithmetic::int16), 200e9);
}

TEST(Profile, AsJson) {
  const formats::Json json = to_json(two_runs(), 2, made_up());
  EXPECT_EQ(json.get_int("runs", 0), 2);
  EXPECT_DOUBLE_EQ(json.get_double("seconds", 0), 0.020);
  EXPECT_NEAR(json.get_double("outside_seconds", 0), 0.004, 1e-12);
  EXPECT_DOUBLE_EQ(json.get_double("flops", 0), 800e6);
  EXPECT_DOUBLE_EQ(json.get_double("share_of_peak", 0), 0.25);
  EXPECT_EQ(json.find("nodes")->as_array("nodes").size(), 4U);
  EXPECT_EQ(json.find("peaks")->as_array("peaks").size(), 4U);
  const auto& kernels = json.find("kernels")->as_array("kernels");
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].get_string("kernel", ""), "gemm");
  EXPECT_EQ(kernels[0].get_string("arithmetic", ""), "f32");
  EXPECT_EQ(kernels[0].find("source"), nullptr);
  EXPECT_DOUBLE_EQ(kernels[0].get_double("share_of_time", 0), 0.5);
  EXPECT_DOUBLE_EQ(kernels[0].get_double("gflops_per_second", 0), 40);
  EXPECT_DOUBLE_EQ(kernels[0].get_double("share_of_peak", 0), 0.4);
  EXPECT_DOUBLE_EQ(kernels[0].get_double("gbytes_per_second", 0), 3.2);
  EXPECT_DOUBLE_EQ(kernels[0].get_double("share_of_memory_peak", 0), 0.32);
  // Nobody counted what a gather computes.
  for (const char* key : {"arithmetic", "flops", "gflops_per_second", "share_of_peak"})
    EXPECT_TRUE(kernels[1].find(key)->is_null()) << key;
  EXPECT_DOUBLE_EQ(kernels[1].get_double("share_of_memory_peak", 0), 2);  // from the caches
}

TEST(Profile, InTables) {
  const std::string text = profile_listing(two_runs(), 2, made_up());
  EXPECT_TRUE(text.starts_with(
      "Profile: 10.000 ms, mean of 2 runs\n"
      "        ms  of time   calls      GF/s  of peak      GB/s  of peak  kernel\n"
      "     5.000   50.0 %       2      40.0   40.0 %       3.2   32.0 %  gemm f32\n"
      "     2.000   20.0 %       1                         20.0  200.0 %  gather\n"
      "     1.000   10.0 %       1     200.0   50.0 %       4.0   40.0 %  gemm bf16\n"
      "     8.000   80.0 %       4      50.0   31.2 %       7.5   75.0 %  all kernels\n"
      "     2.000   20.0 %                                                outside kernels\n"
      "    10.000  100.0 %              40.0   25.0 %                     in all\n"
      "\n"
      "        ms  of time   calls      GF/s  of peak      GB/s  of peak  kernel, part of the model\n"
      "     5.000   50.0 %       2      40.0   40.0 %       3.2   32.0 %  gemm model.layer.*.output\n"))
      << text;
  EXPECT_NE(text.find("no int8 instructions"), std::string::npos) << text;
}

TEST(Profile, LongTablesEndInTheirRest) {
  Profile profile;
  for (int i = 0; i < 100; ++i) {
    const std::string source = "node" + std::to_string(i);
    const StepTime call{"k", source, 1us * (100 - i)};
    profile.add({&call, 1}, 1e-3);
  }
  const std::string text = profile_listing(profile, 1, made_up());
  EXPECT_NE(text.find(" node39\n"), std::string::npos) << text;
  EXPECT_EQ(text.find(" node40\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  60 more"), std::string::npos) << text;
}

TEST(Profile, OfNothingIsEmpty) {
  const Profile profile;
  EXPECT_TRUE(profile.by_kernel().empty());
  EXPECT_EQ(to_json(profile, 1, made_up()).get_double("share_of_peak", 1), 0);
  EXPECT_NE(profile_listing(profile, 1, made_up()).find("outside kernels"), std::string::npos);
}

}  // namespace
}  // namespace alate::runtime
