/* A library under a runtime's name that is none of it: it crashes, hangs, exits or has nothing while it is opened. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void begin(void) {
#if defined(CRASHES)
  fputs("broken_library: about to crash\n", stderr);
  raise(SIGSEGV);
#elif defined(EXITS)
  exit(3);
#endif
}

int nothing_that_anybody_looks_for(void) { return 0; }
