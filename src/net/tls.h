// TLS over a stream, using OpenSSL.
#pragma once

#include <memory>
#include <string>

#include "net/stream.h"

namespace alate::net {

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

/// Which servers a client trusts.
struct TlsTrust {
  std::string authorities_file =
      {};                 // PEM; empty: the system's authorities, or those of SSL_CERT_FILE and SSL_CERT_DIR
  bool insecure = false;  // any certificate will do
};

/// The client side, for a server whose certificate is valid for `host`. The first reads and writes perform the
/// handshake. Errors: not_found and corrupt for the file.
std::unique_ptr<Stream> connect_tls(std::unique_ptr<Stream> socket, const std::string& host, const TlsTrust& trust);

}  // namespace alate::net
