#include "runtime/decoding/page_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "alate/error.h"

namespace alate::runtime {

PageStore::PageStore(std::shared_ptr<const StepProgram> program, std::size_t most)
    : program_(std::move(program)), most_(most) {}

void PageStore::hold(std::vector<std::int32_t>& pages, std::size_t tokens) {
  const std::size_t wanted = StepProgram::pages_of(tokens);
  if (wanted <= pages.size()) return;
  const std::size_t missing = wanted - pages.size();
  if (missing > free_.size()) grow(missing - free_.size());
  for (std::size_t i = 0; i < missing; ++i) {
    pages.push_back(free_.back());
    free_.pop_back();
  }
}

void PageStore::give_back(std::vector<std::int32_t>& pages, std::size_t kept) {
  for (; pages.size() > kept; pages.pop_back()) free_.push_back(pages.back());
}

// To twice the size, so that each page is copied about once.
void PageStore::grow(std::size_t wanted) {
  const auto had = static_cast<std::size_t>(cache_.pages);
  if (had + wanted > most_)
    throw make_error(ErrorCode::resource_exhausted, "the cache of keys and values has ", most_, " pages of ", kPageRows,
                     " tokens, and all are taken: give shorter or fewer texts");
  const std::size_t pages = std::min(std::max(2 * had, had + wanted), most_);
  CachePages larger = program_->make_cache(pages);
  for (std::size_t i = 0; i < cache_.tensors.size(); ++i) {
    const std::span<const std::byte> from = std::as_const(cache_.tensors[i]).bytes();
    if (!from.empty()) std::memcpy(larger.tensors[i].mutable_bytes().data(), from.data(), from.size());
  }
  cache_ = std::move(larger);
  std::vector<std::int32_t> added;
  for (std::size_t page = pages; page > had; --page) added.push_back(static_cast<std::int32_t>(page - 1));
  free_.insert(free_.begin(), added.begin(), added.end());
}

}  // namespace alate::runtime
