#include "backends/cpu/kernels/vectors/scratch.h"

#include <memory>
#include <new>

#include "alate/error.h"

namespace alate::cpu {
namespace {

constexpr std::align_val_t kLine{kScratchAlignment};

struct FreeMemory {
  void operator()(float* memory) const { ::operator delete(memory, kLine); }
};

class GrowingMemory {
 public:
  float* at_least(std::size_t floats) {
    if (size_ < floats) {
      const std::size_t bytes = floats * sizeof(float);
      memory_.reset();
      size_ = 0;
      memory_.reset(static_cast<float*>(::operator new(bytes, kLine, std::nothrow)));
      if (memory_ == nullptr) {
        throw make_error(ErrorCode::resource_exhausted, "no memory for a thread's ", bytes,
                         " bytes of scratch: use fewer threads or give the process more memory");
      }
      size_ = floats;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<float, FreeMemory> memory_;
  std::size_t size_ = 0;
};

}  // namespace

float* thread_scratch(std::size_t floats, ThreadScratch use) {
  thread_local GrowingMemory memory, rotated_groups;
  return (use == ThreadScratch::rotated_groups ? rotated_groups : memory).at_least(floats);
}

}  // namespace alate::cpu
