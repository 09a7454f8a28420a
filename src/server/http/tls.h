// TLS over a stream, by OpenSSL.
#pragma once

#include <memory>
#include <string>

#include "server/http/stream.h"

namespace alate::server {

/// A server's certificate and key: TLS 1.2 (with ECDHE and AEAD only) and newer, the server's order of ciphers, no
/// renegotiation, no compression.
/// Thread-safe.
class TlsServer {
 public:
  /// PEM files: the certificate with the chain after it, and its key without a password. Errors: not_found, corrupt
  /// (no such PEM object, or the two do not belong together), each naming the file.
  TlsServer(std::string certificate_file, std::string key_file);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  /// Reads the files again. Errors as in the constructor; then the old ones stay in use.
  void reload();
  /// The server's side of a new connection; the handshake is made by the first reads and writes.
  std::unique_ptr<Stream> accept(std::unique_ptr<Stream> socket) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The client's side. Trusts the machine's authorities, or those of `authorities_file` (PEM) alone when it is given;
/// the certificate must be for `host`. `insecure` trusts anything. Errors: not_found and corrupt for the file.
std::unique_ptr<Stream> connect_tls(std::unique_ptr<Stream> socket, const std::string& host,
                                    const std::string& authorities_file, bool insecure);

}  // namespace alate::server
