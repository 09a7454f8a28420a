// What the process needs before anything else: its three streams, and an answer to signals.
#pragma once

namespace alate::app {

/// Opens standard streams that are closed, so that no file takes their place; ignores SIGPIPE, so that a reader that
/// goes away is an error of writing; ends with exit code 130 and one line at SIGINT, unless that is ignored already.
void set_up_process();

}  // namespace alate::app
