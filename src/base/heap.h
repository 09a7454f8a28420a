// The process's heap as a whole.
#pragma once

namespace alate::base {

/// For programs that run for long: from now on large blocks go back to the system when they are freed. Otherwise the
/// heap learns from each large block to keep as much, and a thread that has loaded a model keeps its size for ever.
/// Call it before there are threads.
void keep_little_free_memory();

/// Gives memory that was freed, but kept for later, back to the system. Takes milliseconds; meant for after something
/// large has gone. Thread-safe.
void return_free_memory();

}  // namespace alate::base
