// Client's functions for programs: compiling, serializing, loading and running.
#include "alate/error.h"
#include "backends/xla/client.h"
#include "backends/xla/execution.h"

namespace alate::xla {
namespace {

constexpr std::string_view kFormat = "mlir";

}  // namespace

std::string Client::options_for(std::size_t device, const Settings& settings) const {
  return compile_options(describe(device).id, settings);
}

Program Client::owned(abi::LoadedExecutable* executable) const {
  return {executable, [client = shared_from_this()](abi::LoadedExecutable* program) {
            abi::LoadedExecutableCall destroy;
            destroy.executable = program;
            client->plugin_->try_call(&abi::Api::loaded_executable_destroy, destroy);
          }};
}

Program Client::compile(std::string_view module, const std::string& options) const {
  std::string code(module);
  abi::Program program;
  program.code = code.data();
  program.code_size = code.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  abi::ClientCompile compile;
  compile.client = client_;
  compile.program = &program;
  compile.options = options.data();
  compile.options_size = options.size();
  plugin_->call(&abi::Api::client_compile, compile, "compiling for xla");
  return owned(compile.executable);
}

std::optional<std::string> Client::serialize(const Program& program) const {
  if (!plugin_->has(&abi::Api::deserialize_and_load)) return std::nullopt;
  abi::GetExecutable get;
  get.loaded = program.get();
  if (!plugin_->try_call(&abi::Api::loaded_executable_get_executable, get)) return std::nullopt;
  abi::ExecutableSerialize serialize;
  serialize.executable = get.executable;
  std::optional<std::string> bytes;
  if (plugin_->try_call(&abi::Api::executable_serialize, serialize)) {
    bytes.emplace(serialize.bytes, serialize.byte_count);
    if (serialize.destroy != nullptr) serialize.destroy(serialize.owner);
  }
  abi::ExecutableDestroy destroy;
  destroy.executable = get.executable;
  plugin_->try_call(&abi::Api::executable_destroy, destroy);
  return bytes;
}

std::optional<ProgramMemory> Client::memory_of(const Program& program) const {
  abi::GetExecutable get;
  get.loaded = program.get();
  if (!plugin_->has(&abi::Api::executable_memory) ||
      !plugin_->try_call(&abi::Api::loaded_executable_get_executable, get))
    return std::nullopt;
  abi::ExecutableMemory memory;
  memory.executable = get.executable;
  const bool is_known = plugin_->try_call(&abi::Api::executable_memory, memory);
  abi::ExecutableDestroy destroy;
  destroy.executable = get.executable;
  plugin_->try_call(&abi::Api::executable_destroy, destroy);
  if (!is_known || memory.aliased < 0 || memory.temporary < 0) return std::nullopt;
  return ProgramMemory{static_cast<std::size_t>(memory.aliased), static_cast<std::size_t>(memory.temporary)};
}

Program Client::load(std::string_view bytes, const std::string& options) const {
  abi::DeserializeAndLoad load;
  load.client = client_;
  load.bytes = bytes.data();
  load.byte_count = bytes.size();
  load.other_options = options.data();
  load.other_options_size = options.size();
  if (!plugin_->try_call(&abi::Api::deserialize_and_load, load)) return nullptr;
  return owned(load.executable);
}

std::unique_ptr<Execution> Client::start(Program program, std::vector<Argument> arguments, std::size_t outputs) const {
  std::vector<abi::Buffer*> given, made(outputs);
  std::vector<std::int64_t> kept;
  for (const Argument& argument : arguments) {
    if (!argument.is_donated) kept.push_back(static_cast<std::int64_t>(given.size()));
    given.push_back(argument.buffer.get());
  }
  abi::ExecuteOptions options;
  options.kept_inputs = kept.data();
  options.kept_input_count = kept.size();
  abi::Buffer* const* argument_list = given.data();
  abi::Buffer** output_list = made.data();
  abi::Event* done = nullptr;
  abi::Execute execute;
  execute.executable = program.get();
  execute.options = &options;
  execute.arguments = &argument_list;
  execute.argument_count = given.size();
  execute.outputs = &output_list;
  execute.done = &done;
  plugin_->call(&abi::Api::execute, execute, "running on xla");
  auto execution = std::make_unique<Execution>(shared_from_this(), std::move(program), std::move(arguments), done);
  for (abi::Buffer* buffer : made) execution->add_result(owned(buffer));
  return execution;
}

}  // namespace alate::xla
