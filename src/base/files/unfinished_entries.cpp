#include "base/files/unfinished_entries.h"

#include <array>
#include <atomic>

namespace alate::base {
namespace {

using Character = std::filesystem::path::value_type;

constexpr std::size_t kMostUnfinished = 256;

// State that signal handlers can reach: names, each owned by whoever takes it out of its slot.
std::array<std::atomic<const Character*>, kMostUnfinished> unfinished_names;
static_assert(std::atomic<const Character*>::is_always_lock_free, "signal handlers may not wait for a lock");

}  // namespace

UnfinishedEntry::UnfinishedEntry(const std::filesystem::path& path) {
  const std::filesystem::path::string_type& text = path.native();
  name_ = std::make_unique<Character[]>(text.size() + 1);
  text.copy(name_.get(), text.size());
  for (std::size_t i = 0; i < unfinished_names.size(); ++i) {
    const Character* empty = nullptr;
    if (!unfinished_names[i].compare_exchange_strong(empty, name_.get())) continue;
    slot_ = i;
    return;
  }
}

UnfinishedEntry::~UnfinishedEntry() {
  if (slot_ == kNone) return;
  const Character* own = name_.get();
  // If a signal handler has taken the name, it still reads it: the process ends, and with it the memory.
  if (!unfinished_names[slot_].compare_exchange_strong(own, nullptr)) (void)name_.release();
}

void remove_unfinished_entries() noexcept {
  for (std::atomic<const Character*>& slot : unfinished_names) {
    if (const Character* name = slot.exchange(nullptr)) remove_entry(name);
  }
}

}  // namespace alate::base
