// TLS over a stream, using OpenSSL.
#pragma once

#include <memory>
#include <string>

#include "server/http/stream.h"

namespace alate::server {

/// A server's certificate and key. TLS 1.2 (ECDHE and AEAD only) and newer, server cipher preference, no renegotiation,
/// no compression.
/// Thread-safe.
class TlsServer {
 public:
  /// PEM files: the certificate followed by its chain, and its key without a password. Errors: not_found, corrupt (no
  /// such PEM object, or certificate and key do not match), each naming the file.
  TlsServer(std::string certificate_file, std::string key_file);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  /// Reads the files again. Errors as in the constructor; on error the old ones stay in use.
  void reload();
  /// The server side of a new connection. The first reads and writes perform the handshake.
  std::unique_ptr<Stream> accept(std::unique_ptr<Stream> socket) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The client side. Trusts the system's certificate authorities, or only those of `authorities_file` (PEM) if given;
/// the certificate must be valid for `host`. `insecure` trusts anything. Errors: not_found and corrupt for the file.
std::unique_ptr<Stream> connect_tls(std::unique_ptr<Stream> socket, const std::string& host,
                                    const std::string& authorities_file, bool insecure);

}  // namespace alate::server
