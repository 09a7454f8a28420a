#include "base/os/usage_reports.h"

#include "base/os/environment.h"
#include "base/threads/mutex.h"

namespace alate::base {

// Other runtimes need nothing: OpenVINO's telemetry is only in its Python tools; XLA's plugins have none.
void disable_telemetry() {
  static Mutex mutex;
  const std::lock_guard lock(mutex);
  set_environment("ORT_DISABLE_TELEMETRY", "1");
}

}  // namespace alate::base
