// Management of the process's heap.
#pragma once

#include <cstddef>
#include <span>

namespace alate::base {

/// For long-running programs: from now on large blocks are returned to the system when freed. Otherwise the heap raises
/// its thresholds with each large block and keeps as much, so a thread that has loaded a model keeps its size forever.
/// Call it before starting threads.
void limit_retained_heap();

/// Returns freed memory that the heap keeps to the system. Takes milliseconds; meant for use after freeing something
/// large. Thread-safe.
void return_free_memory();

/// Returns the whole pages of a block to the system before the block is freed; their contents are lost. For large
/// blocks consumed from the front. Does nothing on Windows.
void discard_pages(std::span<char> block);

/// Minimum of unused memory worth searching for.
inline constexpr std::size_t kMinBytesToReturn = std::size_t{8} << 20;

/// Returns freed memory after a burst: by itself the heap returns only memory at its end, and one small block in use
/// there retains everything before it. For use by one thread.
class FreeMemoryReturn {
 public:
  /// Takes the process's current memory as what it needs.
  FreeMemoryReturn();
  /// The same, for a process with this much unused memory.
  explicit FreeMemoryReturn(std::size_t spare_bytes) : kept_bytes_(spare_bytes) {}

  /// Call it about once a second. Returns memory that has been unused for some seconds, beyond the amount kept the last
  /// time.
  void tick();
  /// Whether this tick would return memory, given this much unused memory.
  bool is_due(std::size_t spare_bytes);

 private:
  std::size_t kept_bytes_;       // unused after the last return, or less if it shrank since
  std::size_t least_bytes_ = 0;  // minimum the process has ever had
  unsigned ticks_ = 0;           // consecutive ticks with more unused memory
};

}  // namespace alate::base
