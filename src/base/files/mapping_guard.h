// File mappings that survive truncation of the file, which otherwise ends a process that reads the lost part with
// SIGBUS.
#pragma once

#include <atomic>
#include <cstddef>

namespace alate::base {

/// A mapping whose lost pages read as zeros if the SIGBUS handler (below) is installed; it then stays marked as broken.
/// Destroy it before the memory is unmapped. Not on Windows.
class MappingGuard {
 public:
  MappingGuard(const std::byte* begin, std::size_t size);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  bool is_broken() const { return entry_->broken.load(std::memory_order_acquire); }

  /// The handler reads entries and may interrupt anything, so an entry is never freed, only reused.
  struct Entry {
    std::atomic<std::size_t> begin{0}, end{0};  // addresses; an end of 0: not in use
    std::atomic<bool> broken{false};
    std::atomic<bool> taken{false};
    Entry* next = nullptr;
  };

 private:
  Entry* entry_;
};

/// Whether the address lies in a guarded mapping.
bool is_guarded(const std::byte* address);

/// Installs a SIGBUS handler that replaces lost pages of guarded mappings by zeros and passes every other SIGBUS on to
/// the previous handler. Repeated calls do nothing. Thread-safe. No-op on Windows, which does not allow truncating a
/// mapped file.
void catch_bus_errors();

/// As catch_bus_errors, unless the process has its own handler, which then receives all such errors, including those of
/// guarded mappings.
void catch_bus_errors_if_unhandled();

}  // namespace alate::base
