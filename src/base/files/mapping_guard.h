// Mappings of files that survive when somebody cuts the file off: the system then ends, with SIGBUS, a process that
// reads what is gone.
#pragma once

#include <atomic>
#include <cstddef>

namespace alate::base {

/// A mapping whose lost pages read as zeros, where a handler of SIGBUS is installed (below); it then counts as broken
/// for good. To be destroyed before the memory is unmapped. Not on Windows.
class MappingGuard {
 public:
  MappingGuard(const std::byte* begin, std::size_t size);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  bool is_broken() const { return entry_->broken.load(std::memory_order_acquire); }

  /// What the handler reads, which may interrupt anything: an entry is never freed, only used again.
  struct Entry {
    std::atomic<std::size_t> begin{0}, end{0};  // addresses; an end of 0: not in use
    std::atomic<bool> broken{false};
    std::atomic<bool> taken{false};
    Entry* next = nullptr;
  };

 private:
  Entry* entry_;
};

/// Whether a guarded mapping has this address.
bool is_guarded(const std::byte* address);

/// Installs a handler of SIGBUS that replaces lost pages of guarded mappings by zeros, and passes every other SIGBUS on
/// to the handler before it. Does nothing when called again. Thread-safe. Nothing to do on Windows, which does not let
/// a mapped file be cut off.
void catch_bus_errors();

/// The same, unless the process has a handler of its own: it then learns of all errors, ours too.
void catch_bus_errors_where_nobody_does();

}  // namespace alate::base
