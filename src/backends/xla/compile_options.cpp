// Field numbers: xla/pjrt/proto/compile_options.proto and xla/xla_data.proto of OpenXLA.
#include "backends/xla/compile_options.h"

#include "exchange/protobuf_writer.h"

namespace alate::xla {
namespace {

using exchange::ProtobufWriter;

ProtobufWriter device_assignment(std::int64_t device_id) {
  ProtobufWriter computation, assignment;
  computation.integer(1, device_id);  // replica_device_ids
  assignment.integer(1, 1);           // replica_count
  assignment.integer(2, 1);           // computation_count
  assignment.message(3, computation);
  return assignment;
}

}  // namespace

std::string compile_options(std::int64_t device_id, const Settings& settings) {
  ProtobufWriter build, options;
  build.integer(4, 1);  // num_replicas
  build.integer(5, 1);  // num_partitions
  build.message(9, device_assignment(device_id));
  options.message(3, build);
  for (const auto& [name, value] : settings) {
    ProtobufWriter override_value, entry;
    if (value == "true" || value == "false") {
      override_value.integer(2, value == "true" ? 1 : 0);
    } else {
      override_value.bytes(1, value);
    }
    entry.bytes(1, name);
    entry.message(2, override_value);
    options.message(7, entry);
  }
  return options.take();
}

Settings exact_settings() { return {{"xla_cpu_enable_fast_math", "false"}, {"xla_cpu_enable_fast_min_max", "false"}}; }

}  // namespace alate::xla
