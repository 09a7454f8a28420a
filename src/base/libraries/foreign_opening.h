// Protection while a foreign library opens files: its mappings are known only afterwards, and a file may be truncated
// before.
#pragma once

#include <cstddef>

namespace alate::base {

/// While an object exists, lost pages of unguarded mappings (mapping_guard.h) read as zeros too. They count for every
/// ForeignOpening of the process: two concurrent openings fail together. Thread-safe. Installs the SIGBUS handler
/// unless the process has one. No-op on Windows.
class ForeignOpening {
 public:
  ForeignOpening();
  ~ForeignOpening();
  ForeignOpening(const ForeignOpening&) = delete;
  ForeignOpening& operator=(const ForeignOpening&) = delete;

  /// Whether zeros may have been read since this object was made; the opened files must then not be used.
  bool has_lost_pages() const;

 private:
  std::size_t lost_before_;
};

}  // namespace alate::base
