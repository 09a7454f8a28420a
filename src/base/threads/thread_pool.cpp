#include "base/threads/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "alate/error.h"
#include "base/hardware/cpu_facts.h"
#include "base/log.h"
#include "base/threads/mutex.h"
#include "base/threads/spin.h"
#include "base/threads/thread_pinning.h"

namespace alate::base {
namespace {

constexpr std::size_t kMaxThreads = 4096;
// Maximum number of concurrent loops with helpers; callers of further loops run them without help.
constexpr std::size_t kSlots = 64;
constexpr std::size_t kNoSlot = kSlots;
constexpr std::size_t kNoProcessor = std::numeric_limits<std::size_t>::max();
// About the gap between two kernels of a model: shorter would sleep within a forward pass, longer would burn
// processor time that other processes could use.
constexpr std::chrono::microseconds kSpinTime{50};

// A slot's state in one word, so that joining a loop and checking that it is still open are one step: bits 0-15 current
// helpers, 16-31 maximum helpers, 32 open, 33 the caller sleeps until the helpers have left.
constexpr std::uint64_t kOneHelper = 1;
constexpr std::uint64_t kOpen = std::uint64_t{1} << 32;
constexpr std::uint64_t kCallerSleeps = std::uint64_t{1} << 33;
std::size_t helpers_in(std::uint64_t word) { return word & 0xffff; }
std::size_t most_helpers_in(std::uint64_t word) { return (word >> 16) & 0xffff; }

// Set while this thread runs a task of any pool: nested loops run inline.
thread_local bool inside_task = false;

class TaskScope {
 public:
  TaskScope() : before_(inside_task) { inside_task = true; }
  ~TaskScope() { inside_task = before_; }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  bool before_;
};

// A running loop as helpers see it. Slots belong to the pool, so that a late helper never reads freed memory: it finds
// a closed slot, or joins the loop that occupies the slot by then.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> word{0};
  std::atomic<std::size_t> count{0};  // written before `word` opens the slot; read early only as a hint
  const IndexedTask* task = nullptr;
  std::vector<std::atomic<bool>> worker_taken;  // [i]: a helper runs as worker i + 1
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  Mutex sleep_mutex;
  std::condition_variable helpers_left;
  alignas(64) std::atomic<std::size_t> next{0};

  bool has_indices() const { return next.load(std::memory_order_relaxed) < count.load(std::memory_order_relaxed); }
};

void spin_until(std::chrono::microseconds most, auto&& done) {
  if (done() || most.count() == 0) return;
  const auto end = std::chrono::steady_clock::now() + most;
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      relax_processor();
      if (done()) return;
    }
    if (std::chrono::steady_clock::now() >= end) return;
  }
}

}  // namespace

struct ThreadPool::State {
  std::size_t size = 1;
  std::chrono::microseconds spin_time{0};
  std::vector<Slot> slots = std::vector<Slot>(kSlots);
  alignas(64) std::atomic<std::uint64_t> taken_slots{0};  // bit i: slot i belongs to a caller
  alignas(64) std::atomic<std::uint32_t> epoch{0};        // counts loops; idle workers watch it
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<bool> stop{false};
  Mutex sleep_mutex;
  std::condition_variable wake;
  std::vector<std::thread> threads;

  void start(std::size_t count);
  void stop_and_join();
  void work(std::size_t worker);
  bool may_help(std::size_t worker) const;
  std::uint32_t await_epoch_change(std::uint32_t seen, bool spins);
  void wake_sleepers(std::size_t most);

  std::size_t take_slot();
  void run_alone(std::size_t count, const IndexedTask& task);
  void run_shared(std::size_t slot_index, std::size_t count, std::size_t helpers, const IndexedTask& task);
  void await_helpers(Slot& slot);

  std::size_t join_neediest(std::size_t current);
  std::size_t help(std::size_t slot_index, std::size_t worker, std::uint32_t& seen);
  static bool try_join(Slot& slot, std::size_t most_inside);
  static void leave(Slot& slot);
  static void run_index(Slot& slot, std::size_t index, std::size_t worker);
};

void ThreadPool::State::start(std::size_t count) {
  size = count;
  // With more threads than cores, a spinning thread would keep a working one off its core.
  spin_time = count <= cpu_facts().affinity_cores ? kSpinTime : std::chrono::microseconds{0};
  for (Slot& slot : slots) slot.worker_taken = std::vector<std::atomic<bool>>(count - 1);
  threads.reserve(count - 1);
  const std::vector<std::size_t> cores = workers_are_pinned() ? processors_of_cores() : std::vector<std::size_t>();
  try {
    for (std::size_t i = 0; i + 1 < count; ++i) {
      threads.emplace_back([this, i, processor = cores.empty() ? kNoProcessor : processor_of_worker(i, cores)] {
        if (processor != kNoProcessor && !pin_this_thread(processor))
          log(LogLevel::warn, "a thread cannot be pinned", {{"processor", std::to_string(processor)}},
              "a thread cannot be pinned to processor " + std::to_string(processor));
        work(i);
      });
    }
  } catch (const std::system_error& error) {
    stop_and_join();
    throw make_error(ErrorCode::resource_exhausted, "cannot start ", count, " threads; ask for fewer")
        .with_cause(error);
  }
}

void ThreadPool::State::stop_and_join() {
  {
    const std::lock_guard lock(sleep_mutex);
    stop.store(true);
    epoch.fetch_add(1);
  }
  wake.notify_all();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

// Callers compute too. To never run more threads than the pool has, the last workers pause while there are several
// callers: one worker for each caller beyond the first.
bool ThreadPool::State::may_help(std::size_t worker) const {
  return worker + static_cast<std::size_t>(std::popcount(taken_slots.load(std::memory_order_relaxed))) < size;
}

void ThreadPool::State::work(std::size_t worker) {
  std::uint32_t seen = 0;
  for (;;) {
    // Read before looking for work or the stop flag: any later change advances the epoch.
    const std::uint32_t before = epoch.load();
    if (stop.load()) return;
    const bool helps = may_help(worker);
    std::size_t slot_index = helps ? join_neediest(kNoSlot) : kNoSlot;
    if (slot_index == kNoSlot) {
      seen = await_epoch_change(before, helps);
      continue;
    }
    seen = before;
    while (slot_index != kNoSlot) slot_index = help(slot_index, worker, seen);
  }
}

// Returns once the epoch is no longer `seen`. A paused worker leaves its core to a caller at once.
std::uint32_t ThreadPool::State::await_epoch_change(std::uint32_t seen, bool spins) {
  if (spins) spin_until(spin_time, [&] { return epoch.load(std::memory_order_relaxed) != seen; });
  if (epoch.load() != seen) return epoch.load();
  {
    std::unique_lock<std::mutex> lock(sleep_mutex);
    // Sequentially consistent on both sides: either the opener of a loop sees this sleeper, or this thread sees the new
    // epoch.
    sleepers.fetch_add(1);
    wake.wait(lock, [&] { return epoch.load() != seen; });
    sleepers.fetch_sub(1);
  }
  // The opener wakes at most two workers and each of those two more, so that no thread pays for waking all.
  wake_sleepers(2);
  return epoch.load();
}

void ThreadPool::State::wake_sleepers(std::size_t most) {
  const std::uint32_t sleeping = sleepers.load();
  if (sleeping == 0) return;
  std::size_t wanted = 0;
  const std::uint64_t taken = taken_slots.load();
  std::size_t busy = static_cast<std::size_t>(std::popcount(taken));
  for (std::uint64_t rest = taken; rest != 0; rest &= rest - 1) {
    const Slot& slot = slots[static_cast<std::size_t>(std::countr_zero(rest))];
    const std::uint64_t word = slot.word.load();
    busy += helpers_in(word);
    if ((word & kOpen) == 0 || !slot.has_indices()) continue;
    wanted += most_helpers_in(word) - std::min(helpers_in(word), most_helpers_in(word));
  }
  const std::size_t room = size - std::min(size, busy);
  std::size_t count = std::min<std::size_t>({wanted, most, sleeping, room});
  if (count == 0) return;
  { const std::lock_guard lock(sleep_mutex); }  // a thread between its check and its sleep holds the mutex
  for (; count > 0; --count) wake.notify_one();
}

std::size_t ThreadPool::State::take_slot() {
  std::uint64_t taken = taken_slots.load(std::memory_order_relaxed);
  while (taken != std::numeric_limits<std::uint64_t>::max()) {
    const auto free = static_cast<std::size_t>(std::countr_one(taken));
    if (taken_slots.compare_exchange_weak(taken, taken | (std::uint64_t{1} << free))) return free;
  }
  return kNoSlot;
}

void ThreadPool::State::run_alone(std::size_t count, const IndexedTask& task) {
  const TaskScope scope;
  for (std::size_t index = 0; index < count; ++index) task(index, 0);
}

void ThreadPool::State::run_shared(std::size_t slot_index, std::size_t count, std::size_t helpers,
                                   const IndexedTask& task) {
  Slot& slot = slots[slot_index];
  slot.task = &task;
  slot.failed.store(false, std::memory_order_relaxed);
  slot.next.store(0, std::memory_order_relaxed);
  slot.count.store(count, std::memory_order_relaxed);
  slot.word.store(kOpen | (static_cast<std::uint64_t>(helpers) << 16), std::memory_order_release);
  std::uint32_t seen = epoch.fetch_add(1) + 1;
  wake_sleepers(2);
  {
    const TaskScope scope;
    for (;;) {
      const std::size_t index = slot.next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) break;
      run_index(slot, index, 0);
      // A caller has arrived or left, so there may be room for a helper again.
      if (const std::uint32_t now = epoch.load(std::memory_order_relaxed); now != seen) {
        seen = now;
        wake_sleepers(1);
      }
    }
  }
  await_helpers(slot);
  std::exception_ptr error = std::move(slot.error);
  slot.error = nullptr;
  const std::uint64_t mine = std::uint64_t{1} << slot_index;
  if (taken_slots.fetch_and(~mine) != mine) epoch.fetch_add(1);  // other callers remain; they wake the paused workers
  if (error) std::rethrow_exception(error);
}

void ThreadPool::State::await_helpers(Slot& slot) {
  if (helpers_in(slot.word.fetch_and(~kOpen, std::memory_order_acq_rel)) == 0) return;
  const auto alone = [&] { return helpers_in(slot.word.load(std::memory_order_acquire)) == 0; };
  spin_until(spin_time, alone);
  if (alone()) return;
  if (helpers_in(slot.word.fetch_or(kCallerSleeps, std::memory_order_acq_rel)) == 0) return;
  std::unique_lock<std::mutex> lock(slot.sleep_mutex);
  slot.helpers_left.wait(lock, alone);
}

// Joins the open loop with the fewest helpers and returns its slot; kNoSlot if no loop needs this thread. A helper of
// the loop `current` moves only if that evens out the numbers; it has then left `current`.
std::size_t ThreadPool::State::join_neediest(std::size_t current) {
  for (;;) {
    std::size_t most_inside = kMaxThreads;
    if (current != kNoSlot) {
      const std::size_t here = helpers_in(slots[current].word.load(std::memory_order_relaxed));
      if (here < 2) return kNoSlot;
      most_inside = here - 2;
    }
    std::size_t best = kNoSlot;
    std::size_t fewest = most_inside + 1;
    for (std::uint64_t rest = taken_slots.load(std::memory_order_relaxed); rest != 0; rest &= rest - 1) {
      const auto index = static_cast<std::size_t>(std::countr_zero(rest));
      if (index == current) continue;
      const std::uint64_t word = slots[index].word.load(std::memory_order_relaxed);
      const std::size_t inside = helpers_in(word);
      if ((word & kOpen) == 0 || inside >= most_helpers_in(word) || inside >= fewest) continue;
      if (!slots[index].has_indices()) continue;
      best = index;
      fewest = inside;
    }
    if (best == kNoSlot) return kNoSlot;
    if (try_join(slots[best], most_inside)) return best;
  }
}

bool ThreadPool::State::try_join(Slot& slot, std::size_t most_inside) {
  std::uint64_t word = slot.word.load(std::memory_order_relaxed);
  while ((word & kOpen) != 0 && helpers_in(word) < most_helpers_in(word) && helpers_in(word) <= most_inside) {
    if (slot.word.compare_exchange_weak(word, word + kOneHelper, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void ThreadPool::State::leave(Slot& slot) {
  const std::uint64_t before = slot.word.fetch_sub(kOneHelper, std::memory_order_acq_rel);
  if (helpers_in(before) != 1 || (before & kCallerSleeps) == 0) return;
  { const std::lock_guard lock(slot.sleep_mutex); }  // the caller between its check and its sleep holds the mutex
  slot.helpers_left.notify_one();
}

// Runs indices of a loop that this thread has joined, until none are left, another loop needs the thread more, or the
// thread must pause. Returns the slot of that other loop, which it has joined, or kNoSlot.
std::size_t ThreadPool::State::help(std::size_t slot_index, std::size_t worker, std::uint32_t& seen) {
  Slot& slot = slots[slot_index];
  const std::size_t count = slot.count.load(std::memory_order_relaxed);
  // There are never more helpers than worker numbers, so one is free or about to be.
  const std::size_t numbers = most_helpers_in(slot.word.load(std::memory_order_relaxed));
  std::size_t number = worker % numbers;
  while (slot.worker_taken[number].exchange(true, std::memory_order_acquire)) number = (number + 1) % numbers;

  std::size_t moved_to = kNoSlot;
  {
    const TaskScope scope;
    while (moved_to == kNoSlot) {
      const std::size_t index = slot.next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) break;
      run_index(slot, index, number + 1);
      if (const std::uint32_t now = epoch.load(std::memory_order_relaxed); now != seen) {
        seen = now;
        if (!may_help(worker)) break;
        moved_to = join_neediest(slot_index);
      }
    }
  }
  slot.worker_taken[number].store(false, std::memory_order_release);
  leave(slot);
  return moved_to;
}

void ThreadPool::State::run_index(Slot& slot, std::size_t index, std::size_t worker) {
  try {
    (*slot.task)(index, worker);
  } catch (...) {
    if (!slot.failed.exchange(true, std::memory_order_relaxed)) slot.error = std::current_exception();
    slot.next.store(slot.count.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}

ThreadPool::ThreadPool(std::size_t threads) : state_(std::make_unique<State>()) {
  if (threads > kMaxThreads) {
    throw make_error(ErrorCode::invalid_argument, threads, " threads were asked for; at most ", kMaxThreads,
                     " are allowed");
  }
  state_->start(threads != 0 ? threads : cpu_facts().usable_cores);
}

ThreadPool::~ThreadPool() { state_->stop_and_join(); }

std::size_t ThreadPool::size() const { return state_->size; }

void ThreadPool::parallel_for(std::size_t count, std::size_t max_workers, IndexedTask task) {
  if (count == 0) return;
  std::size_t workers = std::min(state_->size, count);
  if (max_workers != 0) workers = std::min(workers, max_workers);
  const std::size_t slot = workers > 1 && !inside_task ? state_->take_slot() : kNoSlot;
  if (slot == kNoSlot) {
    state_->run_alone(count, task);
  } else {
    state_->run_shared(slot, count, workers - 1, task);
  }
}

namespace {

struct SharedPool {
  Mutex mutex;
  std::size_t threads = 0;  // 0: one per usable core
  std::unique_ptr<ThreadPool> pool;
  std::atomic<ThreadPool*> running{nullptr};
};

// Never destroyed: threads that outlive main() may still be in a loop.
SharedPool& shared_pool() {
  static SharedPool& pool = *std::make_unique<SharedPool>().release();
  return pool;
}

}  // namespace

ThreadPool& ThreadPool::shared() {
  SharedPool& shared = shared_pool();
  if (ThreadPool* running = shared.running.load(std::memory_order_acquire)) return *running;
  const std::lock_guard lock(shared.mutex);
  if (!shared.pool) {
    shared.pool = std::make_unique<ThreadPool>(shared.threads);
    shared.running.store(shared.pool.get(), std::memory_order_release);
  }
  return *shared.pool;
}

void ThreadPool::configure_shared(std::size_t threads) {
  SharedPool& shared = shared_pool();
  const std::lock_guard lock(shared.mutex);
  if (shared.pool && shared.pool->size() != (threads != 0 ? threads : cpu_facts().usable_cores)) {
    throw make_error(ErrorCode::internal, "the shared pool already runs with ", shared.pool->size(),
                     " threads; set its size before its first use");
  }
  shared.threads = threads;
}

}  // namespace alate::base
