#include "backends/cpu/kernels/scratch.h"

#include <memory>
#include <new>

#include "alate/error.h"

namespace alate::cpu {
namespace {

constexpr std::align_val_t kLine{kScratchAlignment};

struct FreeMemory {
  void operator()(float* memory) const { ::operator delete(memory, kLine); }
};

}  // namespace

float* thread_scratch(std::size_t floats) {
  thread_local std::unique_ptr<float, FreeMemory> memory;
  thread_local std::size_t size = 0;
  if (size < floats) {
    const std::size_t bytes = floats * sizeof(float);
    memory.reset();
    size = 0;
    memory.reset(static_cast<float*>(::operator new(bytes, kLine, std::nothrow)));
    if (memory == nullptr) {
      throw make_error(ErrorCode::resource_exhausted, "no memory for a thread's ", bytes,
                       " bytes of scratch: use fewer threads or give the process more memory");
    }
    size = floats;
  }
  return memory.get();
}

}  // namespace alate::cpu
