// alate __probe: the process in which a foreign library is tried (machine/probe.h). Not meant for users.
#include <string>

#include "alate/error.h"
#include "apps/alate/arguments.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"
#include "backends/registry.h"
#include "base/files/descriptor_io.h"
#include "base/os/child_process.h"
#include "machine/probe.h"

namespace alate::app {

void run_probe(Arguments& arguments) {
  std::string backend, library;
  arguments.positional("BACKEND", true, backend);
  arguments.positional("LIBRARY", true, library);
  if (!arguments.parse()) return;
  // Libraries may write to standard output; their text must not be taken for the answer.
  const int answer = base::redirect_stdout_to_stderr();
  if (answer < 0) throw Error(ErrorCode::unavailable, "standard output cannot be set aside");
  const machine::Probe probe = machine::probe_in_process(backends::get_backend(backend), library);
  write_to_descriptor(answer, machine::to_text(probe), "standard output");
  (void)base::close_descriptor(answer);
  base::end_process_now(0);  // skips the library's cleanup, which may be what is broken; nothing is left to do
}

}  // namespace alate::app
