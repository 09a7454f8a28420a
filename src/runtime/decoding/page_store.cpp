#include "runtime/decoding/page_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "alate/error.h"

namespace alate::runtime {

PageStore::PageStore(std::shared_ptr<const StepProgram> program, std::size_t most)
    : program_(std::move(program)), most_(most) {}

std::int32_t PageStore::take() {
  if (free_.empty()) grow();
  const std::int32_t page = free_.back();
  free_.pop_back();
  readers_[index(page)] = 1;
  return page;
}

void PageStore::add_reader(std::int32_t page) { change_readers(page, 1, kept_[index(page)]); }
void PageStore::remove_reader(std::int32_t page) { change_readers(page, -1, kept_[index(page)]); }
void PageStore::keep(std::int32_t page) { change_readers(page, 1, true); }
void PageStore::drop(std::int32_t page) { change_readers(page, -1, false); }

void PageStore::change_readers(std::int32_t page, std::int32_t by, bool kept) {
  if (is_idle(page)) --idle_;
  kept_[index(page)] = kept;
  readers_[index(page)] += by;
  if (is_idle(page)) ++idle_;
  // There is room: each page was in the list once.
  if (readers_[index(page)] == 0) free_.push_back(page);
}

void PageStore::copy(std::int32_t from, std::int32_t to, std::size_t rows) {
  for (Tensor& tensor : cache_.tensors) {
    const std::size_t page = tensor.byte_count() / static_cast<std::size_t>(cache_.pages);
    const std::size_t row = page / static_cast<std::size_t>(kPageRows);
    std::byte* const bytes = tensor.mutable_bytes().data();
    std::memcpy(bytes + index(to) * page, bytes + index(from) * page, rows * row);
  }
}

// To twice the size, so that each page is copied about once. Values that nobody wrote are not touched, so that at no
// time more memory is in use than the larger cache takes.
void PageStore::grow() {
  const std::size_t had = allocated();
  if (had >= most_)
    throw make_error(ErrorCode::resource_exhausted, "the cache of keys and values has ", most_, " pages of ", kPageRows,
                     " tokens, and all are taken: give shorter or fewer texts");
  const std::size_t pages = std::min(std::max<std::size_t>(2 * had, 8), most_);
  CachePages larger;
  try {
    larger = program_->make_cache(pages);
    readers_.reserve(pages);
    kept_.reserve(pages);
    free_.reserve(pages);
  } catch (...) {
    most_ = had;
    throw;
  }
  for (std::size_t i = 0; i < cache_.tensors.size(); ++i) {
    const std::span<const std::byte> from = std::as_const(cache_.tensors[i]).bytes();
    if (!from.empty()) std::memcpy(larger.tensors[i].mutable_bytes().data(), from.data(), from.size());
  }
  cache_ = std::move(larger);
  readers_.resize(pages);
  kept_.resize(pages);
  for (std::size_t page = pages; page > had; --page) free_.push_back(static_cast<std::int32_t>(page - 1));
}

}  // namespace alate::runtime
