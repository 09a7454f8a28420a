#include "net/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <utility>

#include "alate/error.h"
#include "base/os/environment.h"
#include "base/threads/mutex.h"

namespace alate::net {
namespace {

template <auto Free>
struct Freed {
  template <typename Object>
  void operator()(Object* object) const {
    Free(object);
  }
};
using ContextPointer = std::unique_ptr<SSL_CTX, Freed<&SSL_CTX_free>>;
using SessionPointer = std::unique_ptr<SSL, Freed<&SSL_free>>;

// Payload size of a TLS record: an answer that fits is sent as one record.
constexpr std::size_t kRecordBytes = 16 * 1024;

// For TLS 1.2: only ephemeral keys and authenticated encryption. OpenSSL's defaults include CBC and RSA key exchange,
// which have been attacked repeatedly (RFC 9325, section 4.2). All suites of TLS 1.3 meet this.
constexpr const char* kTls12Suites =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";

// The first error of OpenSSL's queue, which is then cleared.
std::string openssl_reason() {
  const unsigned long code = ::ERR_get_error();
  ::ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

// What OpenSSL reads and writes through, which never raises a signal.
struct Transport {
  std::unique_ptr<Stream> socket;
  std::string first;  // bytes that OpenSSL has read: at least a record's header, by which it knows plain HTTP
};
constexpr std::size_t kRecordHeader = 5;

Transport& transport_of(BIO* bio) { return *static_cast<Transport*>(::BIO_get_data(bio)); }

int set_retry(BIO* bio, IoStatus status) {
  if (status == IoStatus::wants_read) ::BIO_set_retry_read(bio);
  if (status == IoStatus::wants_write) ::BIO_set_retry_write(bio);
  return status == IoStatus::ended ? 0 : -1;
}

int bio_read(BIO* bio, char* into, int size) {
  ::BIO_clear_retry_flags(bio);
  Transport& transport = transport_of(bio);
  const IoResult result = transport.socket->read({into, static_cast<std::size_t>(size)});
  if (result.status != IoStatus::done) return set_retry(bio, result.status);
  if (transport.first.size() < kRecordHeader) transport.first.append(into, result.bytes);
  return static_cast<int>(result.bytes);
}

int bio_write(BIO* bio, const char* from, int size) {
  ::BIO_clear_retry_flags(bio);
  if (size <= 0) return 0;
  const IoResult result = transport_of(bio).socket->write({from, static_cast<std::size_t>(size)}, {});
  return result.status == IoStatus::done ? static_cast<int>(result.bytes) : set_retry(bio, result.status);
}

long bio_control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* bio_method() {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method = ::BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "alate stream");
    if (method == nullptr) throw std::bad_alloc();
    ::BIO_meth_set_read(method, &bio_read);
    ::BIO_meth_set_write(method, &bio_write);
    ::BIO_meth_set_ctrl(method, &bio_control);
    return method;
  }();
  return kMethod;
}

class TlsStream final : public Stream {
 public:
  TlsStream(SSL_CTX* context, std::unique_ptr<Stream> socket)
      : transport_{std::move(socket), {}}, ssl_(::SSL_new(context)) {
    BIO* bio = ssl_ == nullptr ? nullptr : ::BIO_new(bio_method());
    if (bio == nullptr) throw std::bad_alloc();
    ::BIO_set_data(bio, &transport_);
    ::BIO_set_init(bio, 1);
    ::SSL_set_bio(ssl_.get(), bio, bio);
  }

  SSL* handle() { return ssl_.get(); }

  IoResult read(std::span<char> into) override {
    if (plain_) return read_plain(into);
    if (broken_) return {IoStatus::failed};
    ::ERR_clear_error();
    std::size_t bytes = 0;
    const int result = ::SSL_read_ex(ssl_.get(), into.data(), into.size(), &bytes);
    return result == 1 ? IoResult{IoStatus::done, bytes} : failure(result);
  }

  IoResult write(std::string_view head, std::string_view body) override {
    if (plain_) return transport_.socket->write(head, body);
    if (broken_) return {IoStatus::failed};
    // One record for both if they fit; a repeated call produces the same bytes.
    std::string_view bytes = head.empty() ? body : head;
    if (!head.empty() && !body.empty() && head.size() < kRecordBytes) {
      record_.assign(head).append(body.substr(0, kRecordBytes - head.size()));
      bytes = record_;
    }
    ::ERR_clear_error();
    std::size_t written = 0;
    const int result = ::SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
    std::string().swap(record_);
    return result == 1 ? IoResult{IoStatus::done, written} : failure(result);
  }

  void finish_writing() override {
    ::ERR_clear_error();
    if (!plain_ && !broken_ && established()) ::SSL_shutdown(ssl_.get());
    ::ERR_clear_error();
    transport_.socket->finish_writing();
  }

  IoResult discard(std::span<char> into) override { return transport_.socket->discard(into); }
  PeerState peer() override { return transport_.socket->peer(); }
  bool buffered() const override {
    return plain_ ? !transport_.first.empty() : !broken_ && ::SSL_has_pending(ssl_.get()) == 1;
  }
  bool established() const override { return ::SSL_is_init_finished(ssl_.get()) == 1; }
  std::string problem() const override { return problem_; }

 private:
  // What OpenSSL has read comes first.
  IoResult read_plain(std::span<char> into) {
    std::string& first = transport_.first;
    if (first.empty()) return transport_.socket->read(into);
    const std::size_t bytes = first.copy(into.data(), into.size());
    first.erase(0, bytes);
    return {IoStatus::done, bytes};
  }

  IoResult failure(int result) {
    switch (::SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ: return {IoStatus::wants_read};
      case SSL_ERROR_WANT_WRITE: return {IoStatus::wants_write};
      case SSL_ERROR_ZERO_RETURN: return {IoStatus::ended};
      default: break;
    }
    if (ERR_GET_REASON(::ERR_peek_error()) == SSL_R_HTTP_REQUEST && !established()) {
      ::ERR_clear_error();
      plain_ = true;
      return {IoStatus::not_tls};
    }
    broken_ = true;  // also by an end without TLS's own notice, which anybody on the way can bring about
    problem_ = verification_problem();
    if (problem_.empty()) problem_ = ::ERR_peek_error() == 0 ? transport_.socket->problem() : openssl_reason();
    ::ERR_clear_error();
    return {IoStatus::failed};
  }

  std::string verification_problem() const {
    const long result = ::SSL_get_verify_result(ssl_.get());
    return result == X509_V_OK || ::SSL_get_verify_mode(ssl_.get()) == SSL_VERIFY_NONE
               ? std::string()
               : std::string("its certificate is not trusted: ") + ::X509_verify_cert_error_string(result);
  }

  Transport transport_;  // at a fixed address, which OpenSSL has
  SessionPointer ssl_;
  std::string record_;
  std::string problem_;
  bool plain_ = false, broken_ = false;
};

ContextPointer new_context(const SSL_METHOD* method) {
  ContextPointer context(::SSL_CTX_new(method));
  if (!context) throw make_error(ErrorCode::internal, "OpenSSL made no context: ", openssl_reason());
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context.get(),
                        SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Idle connections release their buffers.
  ::SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
  // Tickets need no server memory; a cache would grow with the number of clients.
  ::SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

[[noreturn]] void fail_file(const std::string& file, std::string_view what) {
  ::ERR_clear_error();
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    throw make_error(ErrorCode::not_found, file, " does not exist: it should hold ", what);
  throw make_error(ErrorCode::corrupt, file, " cannot be read as ", what);
}

// Without this callback OpenSSL would ask for a password on the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return 0; }

int choose_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                    unsigned int in_size, void* /*data*/) {
  static constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  if (::SSL_select_next_proto(&chosen, out_size, kHttp11.data(), kHttp11.size(), in, in_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

ContextPointer server_context(const std::string& certificate, const std::string& key) {
  ContextPointer context = new_context(::TLS_server_method());
  if (::SSL_CTX_set_cipher_list(context.get(), kTls12Suites) != 1)
    throw make_error(ErrorCode::internal, "OpenSSL has none of the suites of TLS 1.2: ", openssl_reason());
  ::SSL_CTX_set_default_passwd_cb(context.get(), &no_password);
  ::SSL_CTX_set_num_tickets(context.get(), 1);
  ::SSL_CTX_set_alpn_select_cb(context.get(), &choose_protocol, nullptr);
  if (::SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1)
    fail_file(certificate, "a certificate in PEM form, its chain after it");
  if (::SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1) {
    // A key whose type differs from the certificate is already detected here.
    if (ERR_GET_LIB(::ERR_peek_last_error()) != ERR_LIB_X509)
      fail_file(key, "a private key in PEM form, without a password");
  } else if (::SSL_CTX_check_private_key(context.get()) == 1) {
    return context;
  }
  ::ERR_clear_error();
  throw make_error(ErrorCode::corrupt, "the key ", key, " does not belong to the certificate ", certificate,
                   ": name the two that were made together");
}

void trust_system(SSL_CTX* context) {
  // Locations of authorities in distributions where OpenSSL's default does not find them.
  static constexpr std::array kFiles = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
  ::SSL_CTX_set_default_verify_paths(context);
  if (base::environment("SSL_CERT_FILE") || base::environment("SSL_CERT_DIR")) return;
  std::error_code ignored;
  for (const char* file : kFiles) {
    if (std::filesystem::exists(file, ignored)) ::SSL_CTX_load_verify_file(context, file);
  }
}

}  // namespace

struct TlsServer::State {
  std::string certificate, key;
  mutable base::Mutex mutex;
  ContextPointer context;
};

TlsServer::TlsServer(std::string certificate_file, std::string key_file) : state_(std::make_unique<State>()) {
  state_->certificate = std::move(certificate_file);
  state_->key = std::move(key_file);
  state_->context = server_context(state_->certificate, state_->key);
}
TlsServer::~TlsServer() = default;

void TlsServer::reload() {
  ContextPointer context = server_context(state_->certificate, state_->key);
  const std::lock_guard lock(state_->mutex);
  state_->context.swap(context);  // connections made with the old context keep it alive
}

std::unique_ptr<Stream> TlsServer::accept(std::unique_ptr<Stream> socket) const {
  const std::lock_guard lock(state_->mutex);
  auto stream = std::make_unique<TlsStream>(state_->context.get(), std::move(socket));
  ::SSL_set_accept_state(stream->handle());
  return stream;
}

std::unique_ptr<Stream> connect_tls(std::unique_ptr<Stream> socket, const std::string& host, const TlsTrust& trust) {
  const ContextPointer context = new_context(::TLS_client_method());
  if (!trust.insecure) {
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (trust.authorities_file.empty()) {
      trust_system(context.get());
    } else if (::SSL_CTX_load_verify_file(context.get(), trust.authorities_file.c_str()) != 1) {
      fail_file(trust.authorities_file, "certificates of authorities in PEM form");
    }
  }
  auto stream = std::make_unique<TlsStream>(context.get(), std::move(socket));
  SSL* ssl = stream->handle();
  ::SSL_set_connect_state(ssl);
  // A certificate may be for an IP address; only host names are sent as SNI (RFC 6066, section 3).
  X509_VERIFY_PARAM* parameters = ::SSL_get0_param(ssl);
  if (::X509_VERIFY_PARAM_set1_ip_asc(parameters, host.c_str()) != 1) {
    ::X509_VERIFY_PARAM_set1_host(parameters, host.c_str(), host.size());
    SSL_set_tlsext_host_name(ssl, host.c_str());
  }
  ::ERR_clear_error();
  return stream;
}

}  // namespace alate::net
