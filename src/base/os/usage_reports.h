// Reports of use, which some libraries of others send to their makers unless they are told not to.
#pragma once

namespace alate::base {

/// Sets the environment variables by which such libraries are told to send none, whatever the variables held: ONNX
/// Runtime's official builds read ORT_DISABLE_TELEMETRY when they are opened. Processes that are started later inherit
/// them. The program calls it before it has threads; `SharedLibrary::open` calls it again, for programs that use this
/// project as a library. Those call it, or set the variables, before another thread reads the environment: setting a
/// variable is not safe beside that. Changes nothing where they are set already.
void forbid_usage_reports();

}  // namespace alate::base
