#include "server/exchange/answer_stream.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/threads/mutex.h"

namespace alate::server {
namespace {

// A larger buffer is not kept for the next bytes.
constexpr std::size_t kMostBufferKept = 2 * kStreamQueueBytes;
constexpr std::size_t kSmallBuffer = std::size_t{16} << 10;
constexpr std::size_t kFraming = 64;  // that the transport appends

}  // namespace

struct AnswerPipe {
  mutable base::Mutex mutex;
  std::condition_variable room;
  std::string queue;
  std::size_t limit = kStreamQueueBytes;
  std::size_t producer_bytes = 0;  // that the producer holds
  std::size_t most = 0;
  bool ended = false, broken = false, gone = false;
  bool starved = false;  // the reader waits for `wake`
  std::function<void()> wake, on_room;

  bool has_room(std::size_t bytes) const { return queue.empty() || queue.size() + bytes <= limit; }

  // The reader's hook, if it waits; to be called without the lock.
  std::function<void()> take_wake() { return std::exchange(starved, false) ? wake : nullptr; }

  // REQUIRES: the lock, and room.
  void add(std::string_view bytes) {
    // It would double otherwise.
    if (queue.size() + bytes.size() > kSmallBuffer) queue.reserve(std::max(limit, bytes.size()) + kFraming);
    queue += bytes;
    most = std::max(most, queue.size());
  }
};

namespace {

AnswerWriter::Result write_to_stream(AnswerPipe& pipe, std::string_view bytes, bool waits) {
  std::function<void()> woken;
  {
    std::unique_lock<std::mutex> lock(pipe.mutex);
    if (waits) pipe.room.wait(lock, [&] { return pipe.gone || pipe.has_room(bytes.size()); });
    if (pipe.gone || pipe.ended) return AnswerWriter::Result::gone;
    if (!pipe.has_room(bytes.size())) return AnswerWriter::Result::full;
    if (bytes.empty()) return AnswerWriter::Result::taken;
    pipe.add(bytes);
    woken = pipe.take_wake();
  }
  if (woken) woken();
  return AnswerWriter::Result::taken;
}

void finish_stream(AnswerPipe& pipe, bool broken) {
  std::function<void()> woken, dropped;
  {
    const std::lock_guard lock(pipe.mutex);
    if (pipe.ended || pipe.broken) return;
    (broken ? pipe.broken : pipe.ended) = true;
    pipe.producer_bytes = 0;
    dropped.swap(pipe.on_room);
    woken = pipe.take_wake();
  }
  if (woken) woken();
}

}  // namespace

AnswerWriter::~AnswerWriter() {
  if (pipe_) finish_stream(*pipe_, true);
}

AnswerWriter& AnswerWriter::operator=(AnswerWriter&& other) noexcept {
  if (this == &other) return *this;
  if (pipe_) finish_stream(*pipe_, true);
  pipe_ = std::move(other.pipe_);
  return *this;
}

AnswerWriter::Result AnswerWriter::write(std::string_view bytes) {
  return pipe_ ? write_to_stream(*pipe_, bytes, false) : Result::gone;
}

AnswerWriter::Result AnswerWriter::write_waiting(std::string_view bytes) {
  if (!pipe_) return Result::gone;
  do {
    const std::string_view piece = bytes.substr(0, kStreamQueueBytes);
    bytes.remove_prefix(piece.size());
    if (write_to_stream(*pipe_, piece, true) == Result::gone) return Result::gone;
  } while (!bytes.empty());
  return Result::taken;
}

void AnswerWriter::on_room(std::function<void()> hook) {
  if (pipe_) {
    const std::lock_guard lock(pipe_->mutex);
    if (!pipe_->gone && !pipe_->queue.empty()) {
      pipe_->on_room.swap(hook);  // the earlier one is released without the lock
      return;
    }
  }
  hook();
}

void AnswerWriter::end() {
  if (pipe_) finish_stream(*pipe_, false);
}

bool AnswerWriter::gone() const {
  if (!pipe_) return true;
  const std::lock_guard lock(pipe_->mutex);
  return pipe_->gone;
}

std::size_t AnswerWriter::high_water() const {
  if (!pipe_) return 0;
  const std::lock_guard lock(pipe_->mutex);
  return pipe_->most;
}

AnswerReader::~AnswerReader() {
  std::function<void()> hook, wake;
  std::string left;
  {
    const std::lock_guard lock(pipe_->mutex);
    pipe_->gone = true;
    left.swap(pipe_->queue);
    hook.swap(pipe_->on_room);
    wake.swap(pipe_->wake);
    pipe_->room.notify_all();
  }
  if (hook) hook();
}

void AnswerReader::on_bytes(std::function<void()> wake) {
  const std::lock_guard lock(pipe_->mutex);
  pipe_->wake.swap(wake);
}

AnswerReader::State AnswerReader::take(std::string& out) {
  out.clear();
  if (out.capacity() > kMostBufferKept) std::string().swap(out);
  std::function<void()> hook;
  State state = State::open;
  {
    const std::lock_guard lock(pipe_->mutex);
    out.swap(pipe_->queue);
    if (pipe_->broken) {
      state = State::broken;
    } else if (pipe_->ended) {
      state = State::ended;
    } else if (out.empty()) {
      pipe_->starved = true;
    } else {
      hook.swap(pipe_->on_room);
      pipe_->room.notify_all();
    }
  }
  if (hook) hook();
  return state;
}

std::size_t AnswerReader::held_bytes() const {
  const std::lock_guard lock(pipe_->mutex);
  // The queue fills again while what was taken is written.
  return pipe_->producer_bytes + 2 * std::max(pipe_->limit, pipe_->queue.capacity());
}

AnswerEnds make_answer_stream() {
  auto pipe = std::make_shared<AnswerPipe>();
  auto reader = std::make_unique<AnswerReader>(pipe);
  return {AnswerWriter(std::move(pipe)), std::move(reader)};
}

namespace {

// Held by its stream's hook, and so until all is made or the reader has gone.
class OnDemand : public std::enable_shared_from_this<OnDemand> {
 public:
  OnDemand(AnswerWriter writer, std::size_t size, AppendPiece append)
      : writer_(std::move(writer)), left_(size), append_(std::move(append)) {}

  void make_next() {
    if (writer_.gone()) return;
    std::string piece;
    if (left_ > 0) append_(piece);
    if (!piece.empty() && writer_.write(piece) != AnswerWriter::Result::taken) return;
    left_ -= std::min(left_, piece.size());
    if (left_ == 0 || piece.empty()) return writer_.end();
    writer_.on_room([self = shared_from_this()] { self->make_next(); });
  }

 private:
  AnswerWriter writer_;
  std::size_t left_;
  AppendPiece append_;
};

}  // namespace

std::unique_ptr<AnswerReader> stream_on_demand(std::size_t size, std::size_t held_bytes, AppendPiece append) {
  auto pipe = std::make_shared<AnswerPipe>();
  pipe->limit = 0;
  pipe->producer_bytes = held_bytes;
  auto reader = std::make_unique<AnswerReader>(pipe, size);
  std::make_shared<OnDemand>(AnswerWriter(std::move(pipe)), size, std::move(append))->make_next();
  return reader;
}

}  // namespace alate::server
