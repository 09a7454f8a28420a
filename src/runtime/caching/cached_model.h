// What a cache of models keeps.
#pragma once

#include <cstddef>
#include <string>

namespace alate::runtime {

/// What loads must agree in to share a model.
struct ModelKey {
  std::string model;         // name or path: models of one name are unloaded together
  std::string options = {};  // all else that makes its load another one
  std::string place = {};    // where it must run, as CachedModel::place spells it; empty: where loading puts it

  auto operator<=>(const ModelKey&) const = default;
};

/// A loaded model, with whatever runs it. Thread-safe.
class CachedModel {
 public:
  virtual ~CachedModel() = default;
  CachedModel(const CachedModel&) = delete;
  CachedModel& operator=(const CachedModel&) = delete;

  /// The backend and device where it runs, "cpu:0".
  virtual std::string place() const = 0;
  /// Of its weights in memory, and of what it may take beside them.
  virtual std::size_t bytes() const = 0;
  /// Whether it has work, though nobody may hold it.
  virtual bool is_busy() const { return false; }

  /// The key it was loaded for.
  const ModelKey& key() const { return key_; }

 protected:
  CachedModel() = default;
  CachedModel(CachedModel&&) = default;

 private:
  friend class ModelCache;
  ModelKey key_;
};

}  // namespace alate::runtime
