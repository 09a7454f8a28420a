// An answer that is made while it is sent: a bounded queue of bytes between the thread that makes it and the transport.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace alate::server {

/// Bytes that wait for the transport; another such buffer is on its way to the client.
inline constexpr std::size_t kStreamQueueBytes = std::size_t{256} << 10;

struct AnswerPipe;

/// The producer's end, for one thread at a time. Without `end`, destroying it breaks the answer off: the client sees a
/// connection that ends in the middle. Outlives the connection and the server where it must.
class AnswerWriter {
 public:
  enum class Result {
    taken,
    full,  // nothing was taken: the client has not read enough yet
    gone,  // the client has left, or the server has given it up: make no more
  };

  AnswerWriter() = default;
  explicit AnswerWriter(std::shared_ptr<AnswerPipe> pipe) : pipe_(std::move(pipe)) {}
  ~AnswerWriter();
  AnswerWriter(AnswerWriter&&) noexcept = default;
  AnswerWriter& operator=(AnswerWriter&& other) noexcept;
  AnswerWriter(const AnswerWriter&) = delete;
  AnswerWriter& operator=(const AnswerWriter&) = delete;

  /// Takes all of `bytes` or nothing. Never blocks. An empty queue takes a piece of any size; pieces should be smaller
  /// than kStreamQueueBytes.
  Result write(std::string_view bytes);
  /// The same, but waits for room; never `full`. Blocks for as long as the transport's timeouts let the client take:
  /// not for the transport's thread, nor for one that others wait for.
  Result write_waiting(std::string_view bytes);
  /// Calls `hook` once when there is room again or the client has left, on the transport's thread, where it must not
  /// block; at once if that is so already. Replaces an earlier hook.
  void on_room(std::function<void()> hook);
  /// The answer is complete.
  void end();
  bool gone() const;

  /// Most bytes that have ever waited.
  std::size_t high_water() const;

 private:
  std::shared_ptr<AnswerPipe> pipe_;
};

/// The transport's end. Destroying it tells the producer that the client has gone.
class AnswerReader {
 public:
  explicit AnswerReader(std::shared_ptr<AnswerPipe> pipe, std::optional<std::size_t> size = std::nullopt)
      : pipe_(std::move(pipe)), size_(size) {}
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  /// `wake` runs on the producer's thread when there is something to take after `take` found nothing.
  void on_bytes(std::function<void()> wake);

  enum class State {
    open,
    ended,   // what was taken are the last bytes
    broken,  // no more will come, and the answer is not complete
  };
  /// Replaces `out` by all bytes that wait. Throws what the producer's hook throws.
  State take(std::string& out);

  /// Of the whole answer, where it is known before its bytes are made.
  std::optional<std::size_t> size() const { return size_; }
  /// Memory that the stream and its producer hold, with the bytes that were taken last; less once the answer is made.
  std::size_t held_bytes() const;

 private:
  std::shared_ptr<AnswerPipe> pipe_;
  const std::optional<std::size_t> size_;
};

/// The two ends of one answer.
struct AnswerEnds {
  AnswerWriter writer;
  std::unique_ptr<AnswerReader> reader;
};
AnswerEnds make_answer_stream();

/// Appends the next piece of an answer, in less than a millisecond; nothing once all `size` bytes have been appended.
using AppendPiece = std::function<void(std::string& out)>;

/// For answers much larger than what they are made from, such as vectors as text: a stream of `size` bytes whose
/// producer works on the transport's thread, one piece at a time, when the piece before has been taken. `held_bytes`
/// is the memory that `append` holds, which is nothing that may not outlive its request, because the client decides how
/// long it lives.
std::unique_ptr<AnswerReader> stream_on_demand(std::size_t size, std::size_t held_bytes, AppendPiece append);

}  // namespace alate::server
