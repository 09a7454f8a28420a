// A library of others that opens files: what it maps is known only when it has done so, and a file may be cut off
// before.
#pragma once

#include <cstddef>

namespace alate::base {

/// While one exists, lost pages of mappings that nobody guards (mapping_guard.h) read as zeros too, and are counted for
/// every opening of the process: what two libraries open at the same time fails together. Thread-safe. Installs the
/// handler of SIGBUS where nobody has one. Nothing to do on Windows.
class ForeignOpening {
 public:
  ForeignOpening();
  ~ForeignOpening();
  ForeignOpening(const ForeignOpening&) = delete;
  ForeignOpening& operator=(const ForeignOpening&) = delete;

  /// Whether zeros may have been read since it was made: what was opened is not to be used.
  bool has_lost_pages() const;

 private:
  std::size_t lost_before_;
};

}  // namespace alate::base
