// What tests tell the made-up plugin to be.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace alate::xla {

struct FakePlugin {
  std::size_t api_size = 0;  // of the table of functions; 0: all that abi.h declares
  int major = 0, minor = 115;
  bool knows_options = true;      // of client_create
  bool has_memory_stats = false;  // otherwise it answers with code 12
  bool can_serialize = false;
  bool can_run = false;       // has the functions for buffers, events and runs
  bool has_on_ready = true;   // of these
  int compile_error = 0;      // code of the error that compiling gives; 0: none
  std::int64_t devices = 1;   // that it has, whatever the options say
  std::int64_t created = 0;   // calls of client_create
  std::int64_t compiled = 0;  // calls of client_compile
};

/// What its runs do, which may be asked and told while some are under way.
struct FakeRuns {
  std::atomic<bool> are_held = false;  // runs that have begun do not end
  std::atomic<int> begun = 0;
  std::atomic<int> buffers = 0;  // that have not been destroyed
  std::atomic<int> events = 0;   // the same
};

/// Exported under the name "alate_fake_plugin": what the plugin reads and counts in.
using GetFakePlugin = FakePlugin* (*)();
/// Exported under the name "alate_fake_runs".
using GetFakeRuns = FakeRuns* (*)();

}  // namespace alate::xla
