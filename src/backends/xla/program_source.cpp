#include "backends/xla/program_source.h"

#include <chrono>
#include <string>

#include "alate/error.h"
#include "base/hardware/cpu_facts.h"
#include "base/log.h"

namespace alate::xla {
namespace {

// Plugins give one kind for all processors, but compiled programs depend on the processor's instructions.
std::string kind_of(const Client& client, std::size_t device) {
  std::string kind = client.platform() + " " + client.platform_version() + " " + client.describe(device).kind;
  if (client.platform() != "cpu") return kind;
  kind += " " + base::cpu_facts().brand;
  for (const std::string& feature : base::cpu_facts().features) kind += " " + feature;
  return kind;
}

}  // namespace

ProgramSource::ProgramSource(std::shared_ptr<const Client> client, std::size_t device, const Settings& settings,
                             std::optional<CompileCache> cache)
    : client_(std::move(client)), device_(device), cache_(std::move(cache)) {
  Settings all = settings;
  if (client_->platform() == "cpu") all.merge(exact_settings());
  options_ = client_->options_for(device, all);
  plain_options_ = client_->options_for(device, settings);
  if (!cache_) return;
  maker_ = FingerprintBuilder()
               .add(cache_->fingerprint_of(client_->plugin().path()))
               .add(kind_of(*client_, device))
               .add(options_)
               .finish();
}

// XLA's versions know different settings: if one is unknown, compiles again with plain_options_.
Program ProgramSource::compile(std::string_view module) const {
  try {
    return client_->compile(module, options_);
  } catch (const Error& error) {
    if (options_ == plain_options_ || error.message().find("No such compile option") == std::string::npos) throw;
    return client_->compile(module, plain_options_);
  }
}

Program ProgramSource::program(std::string_view module) const {
  const auto start = std::chrono::steady_clock::now();
  const auto [program, origin] = find_or_compile(module);
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  base::log(base::LogLevel::debug, "xla program",
            {{"from", origin}, {"us", std::to_string(took.count())}, {"text_bytes", std::to_string(module.size())}});
  return program;
}

std::pair<Program, const char*> ProgramSource::find_or_compile(std::string_view module) const {
  if (!cache_) return {compile(module), "compiler"};
  const Fingerprint key = FingerprintBuilder().add(maker_).add(module).finish();
  if (const std::optional<std::string> kept = cache_->read(key)) {
    if (Program program = client_->load(*kept, options_)) return {program, "disk"};
    cache_->remove(key);
  }
  Program program = compile(module);
  if (const std::optional<std::string> bytes = client_->serialize(program)) cache_->write(key, *bytes);
  return {program, "compiler"};
}

}  // namespace alate::xla
