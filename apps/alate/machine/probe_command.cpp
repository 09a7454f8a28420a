// alate __probe: the process in which a foreign library is tried (machine/probe.h). Not for people.
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
  // Libraries write to standard output as they like; what they write must not be taken for the answer.
  const int answer = base::set_standard_output_aside();
  if (answer < 0) throw Error(ErrorCode::unavailable, "standard output cannot be set aside");
  const machine::Probe probe = machine::probe_here(backends::get_backend(backend), library);
  write_to_descriptor(answer, machine::to_text(probe), "standard output");
  (void)base::close_descriptor(answer);
  base::end_process_now(0);  // a library's own ending may be what is broken; there is nothing left to do
}

}  // namespace alate::app
