#include "base/hardware/cpu_facts.h"
#include "base/hardware/built_instruction_sets.h"

#include <gtest/gtest.h>

#include <string>

#include "base/files/kernel_files.h"
#include "base/hardware/processor_list.h"
#include "base/os/process_limits.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

// A machine of 4 cores with two hyperthreads each: processor n and n + 4 share a core.
class MadeUpMachine {
 public:
  MadeUpMachine() {
    write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Made Up 9000\nflags\t: fpu\n");
    write("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
    write("sys/devices/system/cpu/online", "0-7\n");
    for (int i = 0; i < 8; ++i) {
      write("sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/thread_siblings_list",
            std::to_string(i % 4) + "," + std::to_string(i % 4 + 4) + "\n");
    }
    cache(0, "1", "Data", "48K");
    cache(1, "1", "Instruction", "32K");
    cache(2, "2", "Unified", "2048K");
    cache(3, "3", "Unified", "36M");
  }

  void write(const std::string& relative, std::string_view text) const { folder_.write(relative, text); }
  CpuFacts cpu() const { return read_cpu_facts(folder_.path()); }
  std::vector<std::size_t> one_of_each_core() const {
    const std::filesystem::path& root = folder_.path();
    return base::one_of_each_core(root, allowed_processors(root, online_processors(root)));
  }
  MemoryFacts memory() const { return read_memory_facts(folder_.path()); }
  ProcessLimits limits() const { return read_process_limits(folder_.path()); }

  void use_cgroup_v2(std::string_view group) const {
    write("proc/self/cgroup", "0::" + std::string(group) + "\n");
    write("proc/self/mountinfo",
          "20 1 0:1 / / rw - ext4 /dev/sda rw\n30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  void use_cgroup_v1(std::string_view group, std::string_view mounted = "/") const {
    write("proc/self/cgroup",
          "5:memory:" + std::string(group) + "\n4:cpu,cpuacct:" + std::string(group) + "\n1:name=systemd:/x\n");
    const std::string root(mounted);
    write("proc/self/mountinfo",
          "31 20 0:27 " + root + " /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct\n32 20 0:28 " +
              root + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }

 private:
  void cache(int index, std::string_view level, std::string_view type, std::string_view size) const {
    const std::string folder = "sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    write(folder + "level", level);
    write(folder + "type", type);
    write(folder + "size", size);
  }

  TemporaryFolder folder_;
};

TEST(CpuFacts, HyperthreadsCountOnce) {
  const CpuFacts facts = MadeUpMachine().cpu();
  EXPECT_EQ(facts.brand, "Made Up 9000");
  EXPECT_EQ(facts.logical_cores, 8U);
  EXPECT_EQ(facts.affinity_cores, 8U);
  EXPECT_EQ(facts.physical_cores, 4U);
  EXPECT_EQ(facts.usable_cores, 4U);
  EXPECT_EQ(facts.quota_cores, 0);
}

TEST(CpuFacts, CachesAreThoseOfOneCore) {
  const CpuFacts facts = MadeUpMachine().cpu();
  EXPECT_EQ(facts.l1d_bytes, 48U * 1024);
  EXPECT_EQ(facts.l2_bytes, 2048U * 1024);
  EXPECT_EQ(facts.l3_bytes, 36U * 1024 * 1024);
}

TEST(CpuFacts, AffinityLimitsTheCores) {
  const MadeUpMachine machine;
  machine.write("proc/self/status", "Cpus_allowed_list:\t1,4-6,9-200\n");
  const CpuFacts facts = machine.cpu();
  EXPECT_EQ(facts.logical_cores, 8U);
  EXPECT_EQ(facts.affinity_cores, 4U);
  EXPECT_EQ(facts.physical_cores, 3U);  // 1 and 5 share a core
  EXPECT_EQ(facts.usable_cores, 3U);
}

TEST(CpuFacts, OneProcessorOfEachCoreIsTheFirstThatIsAllowed) {
  const MadeUpMachine machine;
  EXPECT_EQ(machine.one_of_each_core(), (std::vector<std::size_t>{0, 1, 2, 3}));
  machine.write("proc/self/status", "Cpus_allowed_list:\t1,4-6,9-200\n");
  EXPECT_EQ(machine.one_of_each_core(), (std::vector<std::size_t>{1, 4, 6}));
}

TEST(CpuFacts, QuotaOfVersionTwoIsRoundedUp) {
  const MadeUpMachine machine;
  machine.use_cgroup_v2("/a/b");
  machine.write("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
  const CpuFacts facts = machine.cpu();
  EXPECT_DOUBLE_EQ(facts.quota_cores, 1.5);
  EXPECT_EQ(facts.usable_cores, 2U);
}

TEST(CpuFacts, AQuotaBelowACoreIsOneThread) {
  const MadeUpMachine machine;
  machine.use_cgroup_v2("/a");
  machine.write("sys/fs/cgroup/a/cpu.max", "25000 100000\n");
  EXPECT_DOUBLE_EQ(machine.cpu().quota_cores, 0.25);
  EXPECT_EQ(machine.cpu().usable_cores, 1U);
}

TEST(CpuFacts, TheTightestQuotaOfAllParentsCounts) {
  const MadeUpMachine machine;
  machine.use_cgroup_v2("/a/b");
  machine.write("sys/fs/cgroup/cpu.max", "350000 100000\n");
  machine.write("sys/fs/cgroup/a/cpu.max", "50000 50000\n");
  machine.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(machine.cpu().quota_cores, 1.0);
  machine.write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(machine.cpu().quota_cores, 3.5);
}

TEST(CpuFacts, AQuotaAboveTheCoresDoesNotAddAny) {
  const MadeUpMachine machine;
  machine.use_cgroup_v2("/");
  machine.write("sys/fs/cgroup/cpu.max", "1600000 100000\n");
  EXPECT_DOUBLE_EQ(machine.cpu().quota_cores, 16.0);
  EXPECT_EQ(machine.cpu().usable_cores, 4U);
}

TEST(CpuFacts, QuotaOfVersionOneWithParents) {
  const MadeUpMachine machine;
  machine.use_cgroup_v1("/docker/x");
  machine.write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
  machine.write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(machine.cpu().quota_cores, 0);
  machine.write("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "250000\n");
  machine.write("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(machine.cpu().quota_cores, 2.5);
  EXPECT_EQ(machine.cpu().usable_cores, 3U);
}

TEST(CpuFacts, AContainerThatSeesOnlyItsOwnGroupAtTheMountPoint) {
  const MadeUpMachine machine;
  machine.use_cgroup_v1("/docker/x", "/docker/x");
  machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(machine.cpu().quota_cores, 2.0);
  machine.use_cgroup_v1("/elsewhere/y", "/docker/x");
  EXPECT_DOUBLE_EQ(machine.cpu().quota_cores, 2.0);
}

TEST(CpuFacts, MalformedFilesNeitherThrowNorCount) {
  const MadeUpMachine machine;
  machine.use_cgroup_v2("/../../a");
  machine.write("sys/fs/cgroup/cpu.max", "lots of it\n");
  machine.write("proc/self/status", "Cpus_allowed_list:\t7-3\n");
  machine.write("sys/devices/system/cpu/cpu0/cache/index2/size", "99999999999999999999K");
  const CpuFacts facts = machine.cpu();
  EXPECT_EQ(facts.quota_cores, 0);
  EXPECT_EQ(facts.affinity_cores, 8U);
  EXPECT_EQ(facts.l2_bytes, 0U);
}

TEST(CpuFacts, AnEmptyTreeStillHasACore) {
  const TemporaryFolder folder;
  const CpuFacts facts = read_cpu_facts(folder.path());
  EXPECT_GE(facts.usable_cores, 1U);
  EXPECT_EQ(facts.l2_bytes, 0U);
}

TEST(CpuFacts, ThisMachinesFactsFitTogether) {
  const CpuFacts& facts = cpu_facts();
  EXPECT_LE(facts.affinity_cores, facts.logical_cores);
  EXPECT_LE(facts.physical_cores, facts.affinity_cores);
  EXPECT_LE(facts.usable_cores, facts.physical_cores);
  EXPECT_GE(facts.usable_cores, 1U);
  if (facts.best >= InstructionSet::avx2) {
    EXPECT_TRUE(facts.has("avx2"));
    EXPECT_TRUE(facts.has("f16c"));
  }
  EXPECT_EQ(facts.best == InstructionSet::avx512, is_built("avx512") && facts.has("avx512vl") && facts.has("avx512bw"));
  EXPECT_FALSE(facts.has("no_such_feature"));
}

TEST(ParseCpuList, ListsAndRanges) {
  EXPECT_EQ(parse_cpu_list("0-2,8\n"), (std::vector<std::size_t>{0, 1, 2, 8}));
  EXPECT_EQ(parse_cpu_list("5,3,3-4"), (std::vector<std::size_t>{3, 4, 5}));
  for (const char* malformed : {"", "a", "1-", "-1", "3-1", "1,,2", "0-99999999999", "99999999999999999999999"}) {
    EXPECT_TRUE(parse_cpu_list(malformed).empty()) << malformed;
  }
}

constexpr std::string_view kMeminfo = "MemTotal:       16000 kB\nMemFree:    1000 kB\nMemAvailable:    9000 kB\n";
constexpr std::size_t kKilobyte = 1024;

TEST(MemoryFacts, WithoutAGroupTheMachineCounts) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", kMeminfo);
  const MemoryFacts facts = machine.memory();
  EXPECT_EQ(facts.total_bytes, 16000 * kKilobyte);
  EXPECT_EQ(facts.available_bytes, 9000 * kKilobyte);
  EXPECT_EQ(facts.limit_bytes, 0U);
}

TEST(MemoryFacts, VersionTwoTakesTheTightestOfAllParents) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", kMeminfo);
  machine.use_cgroup_v2("/a/b");
  machine.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  machine.write("sys/fs/cgroup/a/memory.max", std::to_string(8000 * kKilobyte));
  machine.write("sys/fs/cgroup/a/memory.current", std::to_string(3000 * kKilobyte));
  EXPECT_EQ(machine.memory().limit_bytes, 8000 * kKilobyte);
  EXPECT_EQ(machine.memory().available_bytes, 5000 * kKilobyte);
}

TEST(MemoryFacts, CachedPagesOfFilesCountAsAvailable) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", kMeminfo);
  machine.use_cgroup_v2("/a");
  machine.write("sys/fs/cgroup/a/memory.max", std::to_string(8000 * kKilobyte));
  machine.write("sys/fs/cgroup/a/memory.current", std::to_string(7900 * kKilobyte));
  machine.write("sys/fs/cgroup/a/memory.stat",
                "anon 1\nactive_file 5\ninactive_file " + std::to_string(2000 * kKilobyte) + "\n");
  EXPECT_EQ(machine.memory().available_bytes, 2100 * kKilobyte);
}

TEST(MemoryFacts, VersionOneWithItsHugeNumberForUnlimited) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", kMeminfo);
  machine.use_cgroup_v1("/x");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "123456\n");
  EXPECT_EQ(machine.memory().limit_bytes, 0U);
  EXPECT_EQ(machine.memory().available_bytes, 9000 * kKilobyte);
  machine.write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", std::to_string(4000 * kKilobyte));
  machine.write("sys/fs/cgroup/memory/x/memory.usage_in_bytes", std::to_string(1500 * kKilobyte));
  machine.write("sys/fs/cgroup/memory/x/memory.stat", "total_inactive_file " + std::to_string(500 * kKilobyte) + "\n");
  EXPECT_EQ(machine.memory().limit_bytes, 4000 * kKilobyte);
  EXPECT_EQ(machine.memory().available_bytes, 3000 * kKilobyte);
}

TEST(MemoryFacts, UsageAboveTheLimitLeavesNothing) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", kMeminfo);
  machine.use_cgroup_v2("/");
  machine.write("sys/fs/cgroup/memory.max", "1000\n");
  machine.write("sys/fs/cgroup/memory.current", "2000\n");
  EXPECT_EQ(machine.memory().available_bytes, 0U);
}

std::string limits_file(std::string_view address_space, std::string_view data) {
  const auto line = [](std::string_view name, std::string_view soft) {
    return std::string(name) + std::string(26 - name.size(), ' ') + std::string(soft) +
           "            unlimited            bytes\n";
  };
  return "Limit                     Soft Limit           Hard Limit           Units\n" + line("Max data size", data) +
         line("Max stack size", "8388608") + line("Max address space", address_space);
}

TEST(MemoryFacts, AnAddressSpaceLimitLeavesWhatIsNotMapped) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", kMeminfo);
  machine.write("proc/self/limits", limits_file(std::to_string(3000 * kKilobyte), "unlimited"));
  machine.write("proc/self/status", "Name:\tx\nVmSize:\t    1200 kB\nVmData:\t     400 kB\n");
  EXPECT_EQ(machine.limits().limit_bytes, 3000 * kKilobyte);
  EXPECT_EQ(machine.memory().available_bytes, 1800 * kKilobyte);
  EXPECT_EQ(machine.memory().limit_bytes, 0U);
}

TEST(MemoryFacts, TheTightestOfDataAddressSpaceAndGroupCounts) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", kMeminfo);
  machine.write("proc/self/limits", limits_file(std::to_string(9000 * kKilobyte), std::to_string(2000 * kKilobyte)));
  machine.write("proc/self/status", "VmSize:\t4000 kB\nVmData:\t1500 kB\n");
  EXPECT_EQ(machine.limits().limit_bytes, 2000 * kKilobyte);
  EXPECT_EQ(machine.memory().available_bytes, 500 * kKilobyte);
  machine.use_cgroup_v2("/a");
  machine.write("sys/fs/cgroup/a/memory.max", std::to_string(1000 * kKilobyte));
  machine.write("sys/fs/cgroup/a/memory.current", std::to_string(800 * kKilobyte));
  EXPECT_EQ(machine.memory().available_bytes, 200 * kKilobyte);
}

TEST(MemoryFacts, ProcessLimitsThatAreNoneOrMalformedDoNotCount) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", kMeminfo);
  for (const std::string_view limit : {"unlimited", "many", "18446744073709551615", ""}) {
    machine.write("proc/self/limits", limits_file(limit, "unlimited"));
    EXPECT_EQ(machine.limits().limit_bytes, 0U) << limit;
    EXPECT_EQ(machine.memory().available_bytes, 9000 * kKilobyte) << limit;
  }
}

TEST(MemoryFacts, MoreMappedThanTheLimitLeavesNothing) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", kMeminfo);
  machine.write("proc/self/limits", limits_file("4096", "unlimited"));
  machine.write("proc/self/status", "VmSize:\t4000 kB\n");
  EXPECT_EQ(machine.memory().available_bytes, 0U);
}

TEST(MemoryFacts, SwapDoesNotCount) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", std::string(kMeminfo) + "SwapTotal:      9000 kB\nSwapFree:       9000 kB\n");
  EXPECT_EQ(machine.memory().available_bytes, 9000 * kKilobyte);
  EXPECT_EQ(machine.memory().total_bytes, 16000 * kKilobyte);
}

TEST(MemoryFacts, ThisMachineHasMemory) {
  const MemoryFacts facts = memory_facts();
  EXPECT_GT(facts.total_bytes, std::size_t{1} << 26);
  EXPECT_GT(facts.available_bytes, 0U);
  EXPECT_LE(facts.available_bytes, facts.total_bytes);
}

}  // namespace
}  // namespace alate::base
