// SingleFlight: on a miss, one thread makes the value, and other threads that ask for it wait.
#pragma once

#include "base/error.h"

#include <exception>
#include <future>
#include <map>
#include <mutex>

namespace torchere {

/// Values are pointers or the like: a Value that is false is a miss. The caller stores the values; this
/// class knows a value only while it is being made.
template <class Key, class Value> class SingleFlight {
public:
  /// Returns what `find` returns, or on a miss what `make` returns, to this thread and to all that ask for
  /// the key meanwhile: a value, an error or an exception. `keep` stores a value. After an error or an
  /// exception the next thread that asks retries.
  ///
  /// `find` and `keep` run under one lock, which `make` does not hold: values of other keys are found and
  /// made concurrently.
  template <class Find, class Make, class Keep>
  Result<Value> get(const Key &key, Find find, Make make, Keep keep) {
    std::promise<Result<Value>> promise;
    {
      std::unique_lock lock(mutex);
      if (Value value = find())
        return value;
      auto flight = flights.find(key);
      if (flight != flights.end()) {
        std::shared_future<Result<Value>> future = flight->second;
        lock.unlock();
        return future.get();
      }
      flights.emplace(key, promise.get_future().share());
    }
    try {
      Result<Value> value = make();
      end(key, [&] {
        if (value)
          keep(*value);
      });
      promise.set_value(value);
      return value;
    } catch (...) { // out of memory, say: waiting threads must get it too
      end(key, [] {});
      promise.set_exception(std::current_exception());
      throw;
    }
  }

private:
  template <class Keep> void end(const Key &key, Keep keep) {
    std::lock_guard lock(mutex);
    keep();
    flights.erase(key);
  }

  std::mutex mutex;
  std::map<Key, std::shared_future<Result<Value>>> flights;
};

} // namespace torchere
