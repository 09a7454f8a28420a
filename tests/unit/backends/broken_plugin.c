/* Backends with one fault each, named after it: the build defines NAME. Without its fault, each copies its only input
 * to its only output. */
#include <stdlib.h>
#include <string.h>

#include "alate/backend_abi.h"

#define QUOTED(x) #x
#define TEXT(x) QUOTED(x)

struct alate_executable {
  size_t bytes;
};

static int has(const char* fault) { return strcmp(TEXT(NAME), fault) == 0; }

static alate_status kStatus = {sizeof(alate_status), ALATE_UNSUPPORTED, "this backend never compiles"};

static void release_status(alate_status* status) { (void)status; }

static alate_status* visit_devices(void (*visit)(void* context, const alate_device* device), void* context) {
  alate_device device;
  int i;
  memset(&device, 0, sizeof device);
  device.struct_size = has("small_device") ? 8 : sizeof device;
  device.name = "cpu";
  device.description = "nothing";
  for (i = 0; i < (has("endless_devices") ? 100000 : 1); ++i) visit(context, &device);
  return NULL;
}

static alate_status* supports(const alate_support_query* query, alate_support* answer) {
  (void)query;
  answer->native = 1;
  return NULL;
}

static alate_status* compile(const alate_compile_arguments* arguments, alate_executable** executable) {
  (void)arguments;
  if (has("no_executable")) return NULL;
  if (has("small_status")) {
    kStatus.struct_size = 8;
    return &kStatus;
  }
  *executable = calloc(1, sizeof **executable);
  return *executable == NULL ? &kStatus : NULL;
}

static void release_executable(alate_executable* executable) { free(executable); }

static alate_status* visit_ports(alate_executable* executable,
                                 void (*visit)(void* context, int32_t is_output, const alate_port* port),
                                 void* context) {
  alate_port port;
  (void)executable;
  port.struct_size = sizeof port;
  port.name = "x";
  port.shape = has("other_ports") ? "f32[5]" : "f32[4]";
  visit(context, 0, &port);
  port.name = "y";
  if (!has("too_few_ports")) visit(context, 1, &port);
  return NULL;
}

static alate_status* run(alate_executable* executable, const alate_run_arguments* arguments) {
  alate_array* to = arguments->outputs[0];
  (void)executable;
  to->written = has("short_output") ? to->bytes / 2 : to->bytes;
  memcpy(to->data, arguments->inputs[0]->data, to->written);
  return NULL;
}

static alate_status* facts(alate_executable* executable, alate_facts* out) {
  (void)executable;
  (void)out;
  return NULL;
}

static const char* kAliases[] = {"No Alias"};
static alate_backend_api api;

const alate_backend_api* alate_backend_get_api(uint32_t abi_version);
const alate_backend_api* some_other_function(uint32_t abi_version);

const alate_backend_api* ENTRY(uint32_t abi_version) {
  (void)abi_version;
  if (has("null_table")) return NULL;
  api.struct_size = has("small_table") ? 64 : sizeof api;
  api.abi_version = has("other_version") ? ALATE_BACKEND_ABI_VERSION + 1 : ALATE_BACKEND_ABI_VERSION;
  api.name = has("other_name") ? "somebody_else" : TEXT(NAME);
  api.aliases = kAliases;
  api.alias_count = has("no_alias") ? 1 : 0;
  api.description = has("not_utf8") ? "caf\xe9" : "a backend with a fault";
  api.version = "Broken 1.0";
  api.release_status = release_status;
  api.visit_devices = visit_devices;
  api.supports = supports;
  api.compile = compile;
  api.release_executable = release_executable;
  api.visit_ports = visit_ports;
  api.run = has("without_run") ? NULL : run;
  api.facts = facts;
  return &api;
}
