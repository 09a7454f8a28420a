#include "apps/alate/models/pull_progress.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "apps/alate/field_text.h"
#include "base/byte_text.h"
#include "folders/packaged_models.h"

namespace alate::app {

void ShownProgress::show(const PullProgress& at) {
  if (at.total_bytes == 0) return;
  if (!progress_)
    progress_.emplace(options_, true, is_hidden_, "pull", static_cast<std::size_t>(at.total_bytes), "bytes");
  if (at.done_bytes <= done_) return;
  progress_->add(static_cast<std::size_t>(at.done_bytes - done_));
  done_ = at.done_bytes;
}

std::string fetching_text(const PulledModel& planned) {
  std::string what = terminal_text(planned.id);
  if (const folders::PackagedModel* packaged = folders::find_packaged_model(planned.id))
    what += " (" + std::string(packaged->title) + ", " + std::string(packaged->licence) + ")";
  const auto count = static_cast<std::size_t>(std::ranges::count(planned.files, false, &PulledFile::was_there));
  std::string names;
  for (const PulledFile& file : planned.files) {
    if (file.name.ends_with(".gguf") && !file.was_there) names += (names.empty() ? ": " : ", ") + file.name;
  }
  return "fetching " + what + ": " + base::byte_text(planned.fetched_bytes) + ", " + counted(count, "file") +
         terminal_text(names) + ", to " + terminal_text(planned.folder.string());
}

}  // namespace alate::app
