#include "base/libraries/shared_library.h"

#include <dlfcn.h>
#include <elf.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>

#include "alate/error.h"
#include "base/os/usage_reports.h"

namespace alate::base {
namespace {

// The ELF machine of this program itself.
std::uint16_t own_machine() {
  Elf64_Ehdr header{};
  std::ifstream self("/proc/self/exe", std::ios::binary);
  self.read(reinterpret_cast<char*>(&header), sizeof header);
  return self ? header.e_machine : static_cast<std::uint16_t>(EM_NONE);
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_386: return "32-bit x86";
    case EM_AARCH64: return "AArch64";
    case EM_ARM: return "32-bit ARM";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "PowerPC";
    default: return "machine " + std::to_string(machine);
  }
}

// The loader maps what the header states; a truncated file would cause a bus error at first use.
std::string problem_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return "it cannot be read: " + error.message();
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (file.gcount() < EI_NIDENT || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "it is not a library";
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "it is a 32-bit library, and this program has 64 bits";
  if (!file) return "it is cut off";
  const std::uint16_t machine = own_machine();
  if (machine != EM_NONE && header.e_machine != machine)
    return "it is for " + machine_name(header.e_machine) + ", and this machine is " + machine_name(machine);
  if (header.e_type != ET_DYN) return "it is not a shared library";
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return "its header is damaged";
  for (std::uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return "it is cut off";
    if (segment.p_type == PT_LOAD && (segment.p_offset > size || segment.p_filesz > size - segment.p_offset))
      return "it is cut off: it has " + std::to_string(size) + " bytes, and its header says more";
  }
  return {};
}

}  // namespace

SharedLibrary SharedLibrary::open(const std::filesystem::path& path) {
  // The loader looks up a bare name.
  if (const std::string problem = path.has_parent_path() ? problem_of(path) : ""; !problem.empty())
    throw make_error(ErrorCode::unavailable, path.string(), " cannot be opened: ", problem);
  disable_telemetry();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw make_error(ErrorCode::unavailable, path.string(), " cannot be opened: ", std::string_view(dlerror()));
  return SharedLibrary(handle);
}

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace alate::base
