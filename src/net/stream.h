// Non-blocking byte stream of a connection: a socket, TLS over one, or memory in tests.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace alate::net {

enum class IoStatus {
  done,         // `bytes` of them, at least one
  wants_read,   // nothing now: try again when the socket is readable
  wants_write,  // nothing now: try again when the socket is writable
  ended,        // the peer will send no more
  failed,       // the connection is broken
  not_tls,      // the peer speaks plain HTTP to a TLS port; further reads and writes are of plain text, from its start
};

struct IoResult {
  IoStatus status = IoStatus::failed;
  std::size_t bytes = 0;
};

enum class PeerState {
  there,
  half_closed,  // sends no more; may or may not still read
  gone,
};

/// Not thread-safe. No call blocks or throws.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual IoResult read(std::span<char> into) = 0;
  /// Writes from the front of `head` followed by `body`; `bytes` counts over both. After wants_read or wants_write the
  /// next call must begin with the same bytes. Either may be empty, but not both.
  virtual IoResult write(std::string_view head, std::string_view body) = 0;
  /// Tells the peer that nothing more will be sent.
  virtual void finish_writing() = 0;
  /// Reads and discards what the peer still sends, below any encryption.
  virtual IoResult discard(std::span<char> into) = 0;
  /// The state of the peer as the socket knows it, without reading.
  virtual PeerState peer() = 0;
  /// Whether bytes are buffered here that socket readiness will not announce.
  virtual bool buffered() const { return false; }
  /// False until the TLS handshake is complete.
  virtual bool established() const { return true; }
  /// Why the last call failed: "Connection reset by peer". Empty if unknown.
  virtual std::string problem() const { return {}; }
};

/// A stream over a connected, non-blocking stream socket. Does not close the socket.
std::unique_ptr<Stream> make_socket_stream(int descriptor);

}  // namespace alate::net
