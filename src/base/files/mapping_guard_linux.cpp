#include "base/files/mapping_guard.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>

#include "base/libraries/foreign_opening.h"
#include "base/threads/mutex.h"

namespace alate::base {
namespace {

std::atomic<MappingGuard::Entry*> first_entry{nullptr};
std::atomic<std::size_t> openings{0}, lost_pages{0};  // of ForeignOpening
struct sigaction previous;
std::size_t page_bytes = 4096;

// Everything below, down to `install`, may run while any thread holds any lock, so it uses only system calls and
// atomics.

// Null for addresses outside guarded mappings.
MappingGuard::Entry* find_entry(std::size_t address) {
  for (MappingGuard::Entry* entry = first_entry.load(std::memory_order_acquire); entry != nullptr;
       entry = entry->next) {
    const std::size_t end = entry->end.load(std::memory_order_acquire);
    const std::size_t begin = entry->begin.load(std::memory_order_acquire);
    // Skips an entry that another thread reuses meanwhile: the mapping that faulted is still in use.
    if (begin <= address && address < end && end == entry->end.load(std::memory_order_acquire)) return entry;
  }
  return nullptr;
}

std::byte* page_of(std::byte* address) { return address - reinterpret_cast<std::size_t>(address) % page_bytes; }

// Makes the system call directly: sanitizers replace the C library's function by one that is not safe in signal
// handlers.
bool map_zeros(std::byte* begin, std::size_t bytes) {
  constexpr long kAccess = PROT_READ | PROT_WRITE;  // libraries may map files as writable private copies
  constexpr long kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  return ::syscall(SYS_mmap, begin, bytes, kAccess, kFlags, -1L, 0L) != -1;
}

// A truncated file also lacks everything after this address, so the rest of the mapping is replaced at once.
bool replace_by_zeros(MappingGuard::Entry& entry, std::byte* address) {
  entry.broken.store(true, std::memory_order_release);
  std::byte* begin = page_of(address);
  return map_zeros(begin, entry.end.load(std::memory_order_acquire) - reinterpret_cast<std::size_t>(begin));
}

// The end of an unguarded mapping is unknown here, so pages are replaced one at a time.
bool replace_foreign_page(std::byte* address) {
  if (openings.load(std::memory_order_acquire) == 0) return false;
  lost_pages.fetch_add(1, std::memory_order_acq_rel);
  return map_zeros(page_of(address), page_bytes);
}

void pass_on(int number, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(number, info, context);
  if (previous.sa_handler == SIG_IGN && info->si_code <= 0) return;  // sent by a process
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(number);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(number, &usual, nullptr);
  if (info->si_code <= 0) ::raise(number);  // else the access is retried, and ends the process where it faulted
}

void handle(int number, siginfo_t* info, void* context) {
  const int error = errno;
  auto* address = static_cast<std::byte*>(info->si_addr);
  const bool is_lost_page = info->si_code == BUS_ADRERR;
  MappingGuard::Entry* entry = is_lost_page ? find_entry(reinterpret_cast<std::size_t>(address)) : nullptr;
  const bool is_replaced =
      entry != nullptr ? replace_by_zeros(*entry, address) : is_lost_page && replace_foreign_page(address);
  if (!is_replaced) pass_on(number, info, context);
  errno = error;
}

void install() {
  page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  ::sigaction(SIGBUS, nullptr, &previous);
  struct sigaction ours {};
  ours.sa_sigaction = handle;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, nullptr);
}

void install_once(bool beside_others) {
  static Mutex mutex;
  static bool is_installed = false;
  const std::lock_guard lock(mutex);
  if (is_installed) return;
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  const bool is_free = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
  if (!is_free && !beside_others) return;
  install();
  is_installed = true;
}

MappingGuard::Entry* take_entry() {
  for (MappingGuard::Entry* entry = first_entry.load(std::memory_order_acquire); entry != nullptr;
       entry = entry->next) {
    if (!entry->taken.exchange(true, std::memory_order_acq_rel)) return entry;
  }
  auto* entry = std::make_unique<MappingGuard::Entry>().release();  // stays in the list until the process ends
  entry->taken.store(true, std::memory_order_relaxed);
  entry->next = first_entry.load(std::memory_order_acquire);
  while (!first_entry.compare_exchange_weak(entry->next, entry, std::memory_order_acq_rel)) {
  }
  return entry;
}

}  // namespace

MappingGuard::MappingGuard(const std::byte* begin, std::size_t size) : entry_(take_entry()) {
  const auto address = reinterpret_cast<std::size_t>(begin);
  entry_->broken.store(false, std::memory_order_relaxed);
  entry_->begin.store(address, std::memory_order_release);
  entry_->end.store(address + size, std::memory_order_release);
}

MappingGuard::~MappingGuard() {
  entry_->end.store(0, std::memory_order_release);
  entry_->begin.store(0, std::memory_order_release);
  entry_->taken.store(false, std::memory_order_release);
}

bool is_guarded(const std::byte* address) { return find_entry(reinterpret_cast<std::size_t>(address)) != nullptr; }

ForeignOpening::ForeignOpening() {
  catch_bus_errors_if_unhandled();
  openings.fetch_add(1, std::memory_order_acq_rel);
  lost_before_ = lost_pages.load(std::memory_order_acquire);
}

ForeignOpening::~ForeignOpening() { openings.fetch_sub(1, std::memory_order_acq_rel); }

bool ForeignOpening::has_lost_pages() const { return lost_pages.load(std::memory_order_acquire) != lost_before_; }

void catch_bus_errors() { install_once(true); }
void catch_bus_errors_if_unhandled() { install_once(false); }

}  // namespace alate::base
