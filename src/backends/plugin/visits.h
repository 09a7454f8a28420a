// Callbacks for a library: their exceptions are held back until the library has returned.
#pragma once

#include <exception>

namespace alate::plugin {

/// A callable as a C function and a context pointer. After the first exception the callable is not called again.
template <typename Callable>
class Visit {
 public:
  explicit Visit(const Callable& callable) : callable_(callable) {}

  template <typename... Arguments>
  auto function() const {
    return +[](void* context, Arguments... arguments) {
      Visit& visit = *static_cast<Visit*>(context);
      if (visit.error_ != nullptr) return;
      try {
        visit.callable_(arguments...);
      } catch (...) {
        visit.error_ = std::current_exception();
      }
    };
  }
  void* context() { return this; }
  /// Throws what the callable threw.
  void finish() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  const Callable& callable_;
  std::exception_ptr error_;
};

}  // namespace alate::plugin
