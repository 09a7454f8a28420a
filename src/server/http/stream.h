// A connection's bytes, without blocking: a socket, TLS over one, or memory in a test.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace alate::server {

enum class IoStatus {
  done,         // `bytes` of them, at least one
  wants_read,   // nothing now: try again when the socket is readable
  wants_write,  // nothing now: try again when the socket is writable
  ended,        // the peer will send no more
  failed,       // the connection is broken
  not_tls,      // the peer speaks plain HTTP to a TLS port; what is written from now on goes out plain
};

struct IoResult {
  IoStatus status = IoStatus::failed;
  std::size_t bytes = 0;
};

enum class PeerState {
  there,
  half_closed,  // sends no more, and may or may not still read
  gone,
};

/// Not thread-safe. No call blocks or throws.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual IoResult read(std::span<char> into) = 0;
  /// Writes from the front of `head` followed by `body`; `bytes` counts over both. After wants_read or wants_write the
  /// next call must begin with the same bytes. An empty body is allowed, an empty head too, not both.
  virtual IoResult write(std::string_view head, std::string_view body) = 0;
  /// Tells the peer that no more will come.
  virtual void finish_writing() = 0;
  /// Reads what the peer still sends only to throw it away, below any encryption.
  virtual IoResult discard(std::span<char> into) = 0;
  /// What the socket knows of its peer, without reading.
  virtual PeerState peer() = 0;
  /// Whether bytes wait here that no readiness of the socket will announce.
  virtual bool buffered() const { return false; }
  /// False until TLS's handshake is over.
  virtual bool established() const { return true; }
  /// Why the last call failed, where the socket cannot tell: "certificate verify failed". Empty when unknown.
  virtual std::string problem() const { return {}; }
};

/// Over a connected stream socket, which is not closed here. It must be non-blocking.
std::unique_ptr<Stream> make_socket_stream(int descriptor);

}  // namespace alate::server
