// alate __man FOLDER: writes the manual pages. Run by the build.
#include <filesystem>
#include <string>

#include "apps/alate/arguments.h"
#include "apps/alate/help/manual_page.h"
#include "apps/alate/output.h"
#include "apps/alate/verb.h"

namespace alate::app {
namespace {

void write_page(const std::filesystem::path& path, std::string_view text) {
  Output output(path);
  output.write(text);
  output.finish();
}

}  // namespace

void run_man(Arguments& arguments) {
  std::string folder;
  arguments.positional("FOLDER", true, folder);
  if (!arguments.parse()) return;
  write_page(std::filesystem::path(folder) / "alate.1", manual_page());
  for (const VerbDescription& each : verb_descriptions()) {
    if (!each.verb->hidden)
      write_page(std::filesystem::path(folder) / ("alate-" + std::string(each.verb->name) + ".1"),
                 manual_page_of(each));
  }
}

}  // namespace alate::app
