// A run under way on a device.
#pragma once

#include <memory>
#include <vector>

#include "alate/cancellation.h"
#include "backends/xla/client.h"

namespace alate::xla {

/// Keeps all that the run reads and writes. Nothing can stop it: PJRT has no call for that. For one thread.
class Execution {
 public:
  /// `done` is null, or this one's from now on.
  Execution(std::shared_ptr<const Client> client, Program program, std::vector<Client::Argument> arguments,
            abi::Event* done);
  /// Waits until the device is done.
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  void add_result(DeviceBuffer result) { results_.push_back(std::move(result)); }

  /// Waits until the device is done, or the run is cancelled: false. Where the plugin is too old to tell when it is
  /// done (it has no PJRT_Event_OnReady), true at once.
  bool wait(Cancellation cancellation);
  /// Waits until the device is done, and gives the results. Throws what the run failed with.
  std::vector<DeviceBuffer> finish();

 private:
  struct Signal;
  bool watch();

  std::shared_ptr<const Client> client_;
  Program program_;
  std::vector<Client::Argument> arguments_;
  std::vector<DeviceBuffer> results_;
  abi::Event* done_;
  std::shared_ptr<Signal> signal_;  // the plugin's too; null until somebody waits
};

}  // namespace alate::xla
