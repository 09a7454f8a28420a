/* A library under a runtime's name that is none of it: it crashes, exits, reports its use or has nothing while it is
   opened. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void begin(void) {
#if defined(CRASHES)
  fputs("broken_library: about to crash\n", stderr);
  raise(SIGSEGV);
#elif defined(EXITS)
  exit(3);
#elif defined(REPORTS)
  /* As ONNX Runtime does it: unless it is told not to, it leaves a file in the user's folder. */
  const char *told = getenv("ORT_DISABLE_TELEMETRY"), *home = getenv("HOME");
  char path[4096];
  if (told != NULL && strcmp(told, "1") == 0) return;
  snprintf(path, sizeof path, "%s/report-of-use", home == NULL ? "/tmp" : home);
  FILE* report = fopen(path, "w");
  if (report != NULL) fclose(report);
#endif
}

int nothing_that_anybody_looks_for(void) { return 0; }
