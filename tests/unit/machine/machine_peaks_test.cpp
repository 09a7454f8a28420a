#include "machine/machine_peaks.h"

#include <gtest/gtest.h>

#include "machine/machine_facts.h"

namespace alate::machine {
namespace {

TEST(MachinePeaks, EachIsMeasuredOrSaysWhyNot) {
  const MachinePeaks peaks = measure_peaks();
  ASSERT_EQ(peaks.rates.size(), 4U);
  EXPECT_GE(peaks.threads, 1U);
  EXPECT_GT(peaks.seconds, 0);
  for (const PeakRate& rate : peaks.rates) {
    SCOPED_TRACE(rate.name);
    EXPECT_EQ(rate.absent.empty(), rate.one_thread > 0);
    EXPECT_EQ(rate.absent.empty(), rate.all_threads > 0);
    EXPECT_EQ(rate.absent.empty(), !rate.instructions.empty());
  }
  EXPECT_TRUE(peaks.rates[0].absent.empty());
  EXPECT_TRUE(peaks.rates[3].absent.empty());
  const base::CpuFacts& cpu = base::cpu_facts();
  EXPECT_EQ(peaks.rates[1].absent.empty(), cpu.best >= base::InstructionSet::avx2);
  EXPECT_EQ(peaks.rates[2].absent.empty(), cpu.best >= base::InstructionSet::avx512 && cpu.has("avx512_bf16"));
}

TEST(MachinePeaks, InLinesAndAsJson) {
  const MachinePeaks peaks{.rates = {{"multiply-add f32", "GFLOP/s", "avx2", 95.26, 187.4},
                                     {"multiply-add bf16", "GFLOP/s", "", 0, 0, "no bf16 instructions"}},
                           .threads = 2,
                           .seconds = 0.5};
  EXPECT_EQ(peaks_listing(peaks),
            "multiply-add f32    95.3 GFLOP/s on one thread, 187 on 2 (avx2)\n"
            "multiply-add bf16   no bf16 instructions\n");
  EXPECT_EQ(
      formats::to_json_text(to_json(peaks)),
      R"([{"name":"multiply-add f32","unit":"GFLOP/s","instructions":"avx2","one_thread":95.26,"all_threads":187.4},)"
      R"({"name":"multiply-add bf16","unit":"GFLOP/s","absent":"no bf16 instructions"}])");
}

MachineFacts made_up() {
  MachineFacts facts;
  facts.processor.brand = "Made Up 9000";
  facts.processor.features = {"avx2", "fma", "sse2"};
  facts.processor.logical_cores = 8;
  facts.processor.usable_cores = 4;
  facts.processor.l2_bytes = std::size_t{2} << 20;
  facts.memory.total_bytes = std::size_t{16} << 30;
  facts.memory.available_bytes = std::size_t{8} << 30;
  facts.kernels = base::InstructionSet::avx2;
  return facts;
}

TEST(MachineFacts, InLines) {
  MachineFacts facts = made_up();
  EXPECT_EQ(facts_listing(facts),
            "processor           Made Up 9000, 4 cores usable of 8\n"
            "instructions        avx2, fma; kernels of avx2\n"
            "caches              L2 2.00 MiB\n"
            "memory              8.00 GiB available of 16.0 GiB\n"
            "memory limits       none\n");
  facts.processor.quota_cores = 1.5;
  facts.memory.limit_bytes = std::size_t{4} << 30;
  facts.limits.limit_bytes = std::size_t{2} << 30;
  const std::string text = facts_listing(facts);
  EXPECT_NE(text.find("8, a quota of 1.5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("4.00 GiB by the control group, 2.00 GiB by the process's limits\n"), std::string::npos) << text;
}

TEST(MachineFacts, AsJson) {
  const formats::Json json = to_json(made_up());
  const formats::Json* processor = json.find("processor");
  ASSERT_NE(processor, nullptr);
  EXPECT_EQ(processor->get_string("name", ""), "Made Up 9000");
  EXPECT_EQ(processor->get_int("usable_cores", 0), 4);
  EXPECT_TRUE(processor->find("quota_cores")->is_null());
  EXPECT_TRUE(processor->find("l3_bytes")->is_null());
  EXPECT_EQ(json.find("memory")->get_int("total_bytes", 0), std::int64_t{16} << 30);
  EXPECT_TRUE(json.find("memory")->find("process_limit_bytes")->is_null());
}

}  // namespace
}  // namespace alate::machine
