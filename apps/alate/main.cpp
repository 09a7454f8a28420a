// The program `alate`: finds the verb, runs it, and reports a failure on one line.
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "alate/error.h"
#include "arguments.h"
#include "base/files/descriptor_io.h"
#include "base/files/mapping_guard.h"
#include "base/nearest_name.h"
#include "base/os/program_path.h"
#include "base/os/usage_reports.h"
#include "error_text.h"
#include "exit_codes.h"
#include "formats/json.h"
#include "machine/probe.h"
#include "output.h"
#include "overview.h"
#include "process_setup.h"
#include "program_version.h"
#include "verb.h"

namespace alate::app {
namespace {

int report(ErrorCode code, std::string_view message) {
  try {
    write_to_descriptor(base::kStandardError, error_text(code, message, reader_of_errors()) + "\n", "standard error");
  } catch (const std::exception&) {
    return exit_code(code);  // there is nowhere left to report it
  }
  return exit_code(code);
}

Error unknown_verb(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Verb& verb : verbs()) known.push_back(verb.name);
  const std::string kind = name.starts_with('-') ? "the command comes first, not " : "there is no command ";
  return make_error(ErrorCode::invalid_argument, kind, formats::quoted_name(name), base::did_you_mean(name, known),
                    "; see `alate --help`");
}

void print(std::string_view text) {
  Output output;
  output.write(text);
  output.finish();
}

void run(std::vector<std::string> given) {
  if (given.empty() || given.front() == "--help" || given.front() == "-h") return print(overview());
  if (given.front() == "--version" || given.front() == "-v") return print(version_text());
  const Verb* verb = find_verb(given.front());
  if (verb == nullptr) throw unknown_verb(given.front());
  given.erase(given.begin());
  Arguments arguments(*verb, std::move(given));
  verb->run(arguments);
}

}  // namespace
}  // namespace alate::app

int main(int count, char** given) {
  using namespace alate;
  app::set_up_process();
  base::disable_telemetry();  // while there is only one thread
  base::catch_bus_errors();
  try {
    machine::set_probe_program(base::program_path(), {"__probe"});
    app::run(app::arguments_of_process(count, given));
    return app::kDone;
  } catch (const app::OutputClosed&) {
    return app::kDone;
  } catch (const Error& error) {
    return app::report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return app::report(ErrorCode::resource_exhausted, "out of memory; use smaller inputs or batches");
  } catch (const std::exception& error) {
    return app::report(ErrorCode::internal, error.what());
  }
}
