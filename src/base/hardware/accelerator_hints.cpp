#include "base/hardware/accelerator_hints.h"

#include <array>
#include <string_view>

#include "base/files/kernel_files.h"

namespace alate::base {

bool may_have_accelerators(const std::filesystem::path& root) {
  // NVIDIA; AMD's compute driver; any GPU that renders; neural engines and TPUs; WSL's GPU; VFIO devices of TPU
  // machines.
  constexpr std::array<std::string_view, 6> kDevices = {"nvidiactl", "kfd", "dri", "accel", "dxg", "vfio"};
  std::error_code ignored;
  for (const std::string_view name : kDevices) {
    if (std::filesystem::exists(root / "dev" / name, ignored)) return true;
  }
  return std::filesystem::exists(root / "dev" / "accel0", ignored);
}

std::string accelerator_drivers(const std::filesystem::path& root) {
  std::string versions;
  for (const char* file : {"proc/driver/nvidia/version", "sys/module/amdgpu/version", "sys/module/nvidia/version"})
    versions += read_kernel_file(root / file).value_or("");
  return versions;
}

}  // namespace alate::base
