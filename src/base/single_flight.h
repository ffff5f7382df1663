// SingleFlight: of the threads that ask for a value that is not there, one makes it and the others wait for
// it.
#pragma once

#include "base/error.h"

#include <exception>
#include <future>
#include <map>
#include <mutex>

namespace torchere {

/// Values are pointers or the like: a Value that is false is none. What is made is kept by the caller; here
/// it is known only while it is made.
template <class Key, class Value> class SingleFlight {
public:
  /// What `find` gives; where that is none, what `make` gives, to this thread and to all that ask for the key
  /// meanwhile: a value, an error or an exception. `keep` takes a value. After an error or an exception the
  /// next thread that asks makes it anew.
  ///
  /// `find` and `keep` run under one lock, which `make` does not hold: values of other keys are found and
  /// made at the same time.
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
    } catch (...) { // no memory, say: whoever waits must hear of it
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
