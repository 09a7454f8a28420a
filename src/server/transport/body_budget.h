// How many bytes of bodies all requests under way may hold together.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace alate::server {

/// Bytes held now. Shared, since an exchange may outlive the server that received it.
using BodyBytes = std::shared_ptr<std::atomic<std::size_t>>;

/// One request's share; given back when it is destroyed. The count is thread-safe, one charge is not.
class BodyCharge {
 public:
  explicit BodyCharge(BodyBytes total) : total_(std::move(total)) {}
  ~BodyCharge() {
    if (total_) total_->fetch_sub(bytes_);
  }
  BodyCharge(BodyCharge&& other) noexcept
      : total_(std::exchange(other.total_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  BodyCharge& operator=(BodyCharge&&) = delete;
  BodyCharge(const BodyCharge&) = delete;
  BodyCharge& operator=(const BodyCharge&) = delete;

  /// Raises the share to `bytes`.
  void raise_to(std::size_t bytes) {
    if (bytes <= bytes_) return;
    total_->fetch_add(bytes - bytes_);
    bytes_ = bytes;
  }

 private:
  BodyBytes total_;
  std::size_t bytes_ = 0;
};

}  // namespace alate::server
