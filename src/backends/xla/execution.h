// A run under way on a device.
#pragma once

#include <memory>
#include <vector>

#include "backends/xla/client.h"
#include "base/threads/cancellation.h"

namespace alate::xla {

/// Keeps alive all that the run reads and writes. Nothing can stop the run: PJRT has no call for that. For one thread
/// only.
class Execution {
 public:
  /// Takes ownership of `done`, which may be null.
  Execution(std::shared_ptr<const Client> client, Program program, std::vector<Client::Argument> arguments,
            abi::Event* done);
  /// Waits until the device is done.
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  void add_result(DeviceBuffer result) { results_.push_back(std::move(result)); }

  /// Waits until the device is done (true) or the run is cancelled (false). Returns true at once where the plugin is
  /// too old to report the end (it has no PJRT_Event_OnReady).
  bool wait(base::Cancellation cancellation);
  /// Waits until the device is done, and returns the results. Throws the error that the run failed with.
  std::vector<DeviceBuffer> finish();

 private:
  struct Signal;
  bool watch();

  std::shared_ptr<const Client> client_;
  Program program_;
  std::vector<Client::Argument> arguments_;
  std::vector<DeviceBuffer> results_;
  abi::Event* done_;
  std::shared_ptr<Signal> signal_;  // shared with the plugin; null until the first wait
};

}  // namespace alate::xla
