// Downloads of models for the clients of a server: each model once, however many ask for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alate/hub.h"
#include "hub/download/pull_reference.h"
#include "server/exchange/client_id.h"

namespace alate::server {

/// Who waits for a model, and how the server learns that they no longer do.
struct Asker {
  std::optional<ClientId> client;  // for its share and its turns; absent: the server itself, which has no limit
  /// Registers what is to be called when the asker leaves; at once if they have left. Empty: they stay.
  std::function<void(std::function<void()>)> on_leave = {};
};

/// How far a download has come. A value that is replaced, never changed.
struct PullState {
  enum class Phase { waiting, listing, fetching, done, failed };
  Phase phase = Phase::waiting;
  std::vector<PulledPart> files = {};
  std::exception_ptr error = {};  // failed: a RequestError or Error that a client may see

  bool has_ended() const { return phase == Phase::done || phase == Phase::failed; }
};

/// What a download came to.
struct PullResult {
  const PulledModel* model = nullptr;  // null where it failed; lives as long as the call that gets it
  std::exception_ptr error = {};       // that a client may see
  std::exception_ptr cause = {};       // for whoever runs the server
};

struct PullLimits {
  std::size_t at_once = 2;                                    // downloads that run
  std::size_t unfinished = 16;                                // together with those that wait for their turn
  std::size_t per_client = 4;                                 // of these, those that one client began
  std::chrono::nanoseconds grace = std::chrono::seconds(10);  // that a download goes on after its last asker left
  std::chrono::nanoseconds tick = std::chrono::milliseconds(100);
};

/// Thread-safe. Has no threads until something is asked for.
class Pulls {
 public:
  /// Called once, on a thread of this object.
  using Done = std::function<void(const PullResult& result)>;
  /// Called on a thread of this object about every `tick` until it returns false, which it should once the state has
  /// ended and it has said so. It must not block.
  using Watch = std::function<bool(const PullState& state)>;

  /// `options` are those of every pull.
  explicit Pulls(PullOptions options, PullLimits limits = {});
  /// As `stop`.
  ~Pulls();
  Pulls(const Pulls&) = delete;
  Pulls& operator=(const Pulls&) = delete;

  /// Joins the download of this reference, or begins one. Where the hub cannot be reached, what an earlier download
  /// has left in the cache is taken. It ends when no asker is left for `grace`; what was fetched
  /// is kept. Either function may be empty. Throws RequestError: overloaded where too many are under way, not_ready
  /// after `begin_stop`.
  void ask(const hub::PullReference& reference, const Asker& asker, Done done, Watch watch = {});

  /// Ends all downloads, whose askers get not_ready. Returns at once; watches are still called.
  void begin_stop();
  /// Waits for all threads. Not to be called from them, nor from two threads at once. Idempotent.
  void stop();

  std::size_t unfinished() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with what askers call when they leave
};

}  // namespace alate::server
