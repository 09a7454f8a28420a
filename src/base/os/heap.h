// The process's heap as a whole.
#pragma once

#include <cstddef>
#include <span>

namespace alate::base {

/// For programs that run for long: from now on large blocks go back to the system when they are freed. Otherwise the
/// heap learns from each large block to keep as much, and a thread that has loaded a model keeps its size for ever.
/// Call it before there are threads.
void keep_little_free_memory();

/// Gives memory that was freed, but kept for later, back to the system. Takes milliseconds; meant for after something
/// large has gone. Thread-safe.
void return_free_memory();

/// Gives the whole pages of a block back to the system before the block is freed; their values are lost. For large
/// blocks that are used up from the front. Does nothing on Windows.
void discard_pages(std::span<char> block);

/// Less unused memory is not worth a search for it.
inline constexpr std::size_t kWorthReturning = std::size_t{8} << 20;

/// Returns freed memory after a burst: the heap gives back only what lies at its end, and one small block that is in
/// use keeps all before it. For one thread.
class FreeMemoryReturn {
 public:
  /// What the process has now is what it needs.
  FreeMemoryReturn();
  /// The same, for a process that has so much memory that it does not use.
  explicit FreeMemoryReturn(std::size_t spare_bytes) : kept_bytes_(spare_bytes) {}

  /// To be called about once a second. Unused memory that the process has had for some seconds, beyond what it kept the
  /// last time, is given back.
  void tick();
  /// Whether it would be, with so much unused memory at this tick.
  bool is_due(std::size_t spare_bytes);

 private:
  std::size_t kept_bytes_;       // unused after the last time, or less if it shrank since
  std::size_t least_bytes_ = 0;  // that the process ever had
  unsigned ticks_ = 0;           // for which there was more that is unused
};

}  // namespace alate::base
