// Telemetry, which some foreign libraries send to their vendors unless disabled.
#pragma once

namespace alate::base {

/// Sets the environment variables that disable telemetry in such libraries, overriding earlier values: ONNX Runtime's
/// official builds read ORT_DISABLE_TELEMETRY when they are opened. Child processes started later inherit them. The
/// program calls it before it starts threads; `SharedLibrary::open` calls it again, for programs that use this project
/// as a library. Such programs must call it, or set the variables, before another thread reads the environment: setting
/// a variable concurrently is unsafe. Changes nothing if they already have these values.
void disable_telemetry();

}  // namespace alate::base
