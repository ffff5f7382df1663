// Fuzz target of the C ABI: sequences of its functions, with handles that are valid, stale, of another kind
// or null, structures of the wrong size and memory that is too short. Each function returns a code that has a
// name, and a message if it is an error.
#include "fuzz_target.h"

#include "../capi/saved_programs.h"

#include <torchere/torchere.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

using torchere::capi::SavedPrograms;

constexpr const char *programNames[] = {"counter", "dynamic", "identity", "mutating"};

const SavedPrograms &programs() {
  static SavedPrograms saved;
  return saved;
}

/// The bytes of an input as choices; zeros after its end.
class Choices {
public:
  Choices(const uint8_t *data, size_t size) : data(data), size(size) {}
  bool isEmpty() const { return place >= size; }
  uint8_t next() { return place < size ? data[place++] : 0; }
  size_t below(size_t limit) { return next() % limit; }
  /// True one time in 16.
  bool isRare() { return next() >= 240; }

private:
  const uint8_t *data;
  size_t size, place = 0;
};

void expect(torchere_status status) {
  bool isNamed = status == TORCHERE_OK || std::string_view(torchere_status_name(status)) != "UNKNOWN";
  if (!isNamed || (status != TORCHERE_OK && !*torchere_error_message()))
    std::abort();
  if (status == TORCHERE_INTERNAL) // an exception, or an error of ours
    std::abort();
}

template <class Structure> Structure sized(Choices &choices) {
  Structure structure = {};
  structure.struct_size = choices.isRare() ? choices.next() : sizeof structure;
  return structure;
}

/// Runs one sequence, and destroys what is left.
class Sequence {
public:
  Sequence(const uint8_t *data, size_t size) : choices(data, size) {
    torchere_client_options options = {};
    options.struct_size = sizeof options;
    static const std::string plugin = torchere::capi::relayPlugin();
    options.plugin = plugin.c_str();
    options.cache = TORCHERE_CACHE_OFF;
    expect(torchere_client_create(&options, &client));
    load(choices.below(4), noOptions());
  }
  ~Sequence() {
    for (const Handle &handle : handles)
      destroy(handle);
    torchere_client_destroy(client);
  }
  void run() {
    for (int step = 0; step < 24 && !choices.isEmpty(); ++step)
      doOne();
  }

private:
  enum Kind { Program, Result, Array, Snapshot, KindCount };
  struct Handle {
    Kind kind;
    void *value;
  };

  static torchere_load_options noOptions() {
    torchere_load_options options = {};
    options.struct_size = sizeof options;
    return options;
  }
  void load(size_t program, torchere_load_options options) {
    options.client = client;
    std::string path = programs().path(programNames[program]);
    torchere_program loaded = nullptr;
    keep(Program, torchere_program_load(path.c_str(), &options, &loaded), loaded);
  }

  static torchere_status destroy(const Handle &handle) {
    switch (handle.kind) {
    case Program:
      return torchere_program_destroy(static_cast<torchere_program>(handle.value));
    case Result:
      return torchere_result_destroy(static_cast<torchere_result>(handle.value));
    case Array:
      return torchere_array_destroy(static_cast<torchere_array>(handle.value));
    default:
      return torchere_snapshot_destroy(static_cast<torchere_snapshot>(handle.value));
    }
  }

  /// Mostly the last handle of the kind; else any that there was, an invented one, or null.
  template <class Type> Type pick(Kind kind) {
    if (choices.isRare())
      return nullptr;
    if (choices.isRare())
      return reinterpret_cast<Type>(static_cast<uintptr_t>(choices.next()) << choices.below(56));
    if (choices.isRare() && !handles.empty())
      return static_cast<Type>(handles[choices.below(handles.size())].value);
    for (size_t i = handles.size(); i-- > 0;)
      if (handles[i].kind == kind && !choices.isRare())
        return static_cast<Type>(handles[i].value);
    return nullptr;
  }
  torchere_program program() { return pick<torchere_program>(Program); }
  torchere_result result() { return pick<torchere_result>(Result); }
  torchere_array array() { return pick<torchere_array>(Array); }

  template <class Type> void keep(Kind kind, torchere_status status, const Type &handle) {
    expect(status);
    if (status == TORCHERE_OK)
      handles.push_back({kind, handle});
  }
  const char *name() {
    static constexpr const char *names[] = {"x", "n", "mode", "y", "count", "w", "doubled", "output", ""};
    return choices.isRare() ? nullptr : names[choices.below(std::size(names))];
  }
  torchere_tensor tensor() {
    auto tensor = sized<torchere_tensor>(choices);
    tensor.name = name();
    tensor.dtype = TORCHERE_FLOAT32;
    if (choices.isRare())
      tensor.dtype = choices.next();
    tensor.data = choices.isRare() ? nullptr : floats.data();
    tensor.byte_size = choices.isRare() ? choices.next() : sizeof floats;
    tensor.rank = choices.isRare() ? choices.next() : 1 + choices.below(2);
    static const int64_t one[] = {2, 2}, two[] = {1, 2, 3}, wild[] = {-1, INT64_MAX, 0}, steps[] = {2, 1, -1};
    const int64_t *shapes[] = {one, two, wild, nullptr};
    tensor.dims = shapes[choices.isRare() ? choices.below(4) : choices.below(2)];
    tensor.strides = choices.isRare() ? steps : nullptr;
    if (tensor.rank > 3 && tensor.rank <= 1024) // must be there: pointers cannot be checked
      tensor.rank = 3;
    if (tensor.rank == 3 && tensor.dims == one)
      tensor.rank = 2;
    return tensor;
  }
  std::array<torchere_input, 3> inputs() {
    std::array<torchere_input, 3> list = {};
    for (torchere_input &input : list) {
      input = sized<torchere_input>(choices);
      input.name = choices.isRare() ? name() : nullptr;
      bool isSecond = &input == &list[1], isThird = &input == &list[2];
      torchere_kind first = choices.below(4) ? TORCHERE_KIND_TENSOR : TORCHERE_KIND_ARRAY;
      input.kind = isSecond ? TORCHERE_KIND_INT : isThird ? TORCHERE_KIND_DEFAULT : first;
      if (choices.isRare())
        input.kind = choices.next();
      input.tensor = tensor();
      input.array = array();
      input.integer = choices.next();
      input.string = choices.isRare() ? "mean" : nullptr;
    }
    return list;
  }

  void doOne() {
    switch (choices.below(4)) {
    case 0:
      return doProgram();
    case 1:
      return doCall();
    case 2:
      return doResult();
    default:
      return doState();
    }
  }

  void doProgram() {
    auto value = sized<torchere_value_info>(choices);
    auto function = sized<torchere_function_info>(choices);
    auto device = sized<torchere_device_info>(choices);
    size_t number = 0;
    switch (choices.below(8)) {
    case 0:
    case 1: {
      auto options = sized<torchere_load_options>(choices);
      torchere_tensor weight = tensor();
      options.weights = &weight;
      options.weight_count = choices.isRare();
      return load(choices.below(4), options);
    }
    case 2: {
      torchere_program cloned = nullptr;
      return keep(Program, torchere_program_clone(program(), &cloned), cloned);
    }
    case 3:
      return expect(torchere_program_get_input(program(), choices.below(3), choices.below(4), &value));
    case 4:
      return expect(torchere_program_get_output(program(), choices.below(3), choices.below(4), &value));
    case 5:
      return expect(torchere_program_find_input(program(), choices.below(2), name(), &number));
    case 6:
      expect(torchere_program_get_function(program(), choices.below(3), &function));
      return expect(torchere_program_get_device(program(), &device));
    default: // handles stay in the list, so that stale ones are used and destroyed again
      if (!handles.empty())
        expect(destroy(handles[choices.below(handles.size())]));
    }
  }

  /// Mostly what the program's first function takes.
  void fit(torchere_program called, std::array<torchere_input, 3> &list, size_t &count) {
    torchere_function_info function = {};
    function.struct_size = sizeof function;
    torchere_value_info x = {};
    x.struct_size = sizeof x;
    if (torchere_program_get_function(called, 0, &function) != TORCHERE_OK ||
        torchere_program_get_input(called, 0, 0, &x) != TORCHERE_OK)
      return;
    count = function.input_count;
    if (!choices.isRare())
      list[0].tensor.rank = x.rank;
  }

  void doCall() {
    std::array<torchere_input, 3> list = inputs();
    torchere_program called = program();
    size_t function = choices.isRare() ? choices.below(3) : 0, count = 0;
    fit(called, list, count);
    if (choices.isRare())
      count = choices.isRare() ? static_cast<size_t>(-1) : choices.below(4);
    torchere_result made = nullptr;
    torchere_status status;
    switch (choices.below(3)) {
    case 0:
      status = torchere_call(called, function, list.data(), count, &made);
      return keep(Result, status, made);
    case 1:
      status = torchere_call_async(called, function, list.data(), count, &made);
      return keep(Result, status, made);
    default: {
      std::array<float, 16> memory = {};
      auto destination = sized<torchere_destination>(choices);
      destination.name = choices.isRare() ? name() : nullptr;
      destination.data = choices.isRare() ? nullptr : memory.data();
      destination.byte_size = choices.isRare() ? choices.below(65) : sizeof memory;
      return expect(torchere_call_into(called, function, list.data(), count, &destination, 1));
    }
    }
  }

  void doResult() {
    auto value = sized<torchere_value_info>(choices);
    size_t index = choices.below(4), number = 0;
    int32_t ready = 0;
    const void *data = nullptr;
    std::array<float, 16> memory = {};
    torchere_array made = nullptr;
    switch (choices.below(8)) {
    case 0:
      return expect(torchere_result_get(result(), index, &value));
    case 1:
      expect(torchere_result_data(result(), index, &data, &number));
      return sum(data, number);
    case 2:
      return expect(torchere_result_read(result(), index, memory.data(), choices.below(65)));
    case 3:
      return keep(Array, torchere_result_array(result(), index, &made), made);
    case 4:
      expect(torchere_result_wait(result()));
      return expect(torchere_result_is_ready(result(), &ready));
    case 5:
      return expect(torchere_result_find(result(), name(), &number));
    case 6: {
      torchere_tensor given = tensor();
      return keep(Array, torchere_array_create(program(), &given, &made), made);
    }
    default:
      expect(torchere_array_get(array(), &value));
      expect(torchere_array_data(array(), &data, &number));
      return sum(data, number);
    }
  }

  void doState() {
    auto value = sized<torchere_value_info>(choices);
    std::array<float, 16> memory = {};
    torchere_snapshot made = nullptr;
    torchere_tensor given = tensor();
    switch (choices.below(6)) {
    case 0:
      return expect(torchere_program_get_state(program(), choices.below(2), &value));
    case 1:
      return expect(torchere_program_read(program(), name(), memory.data(), choices.below(65)));
    case 2:
      return expect(torchere_program_write(program(), &given, choices.below(2)));
    case 3:
      return keep(Snapshot, torchere_program_snapshot(program(), &made), made);
    case 4:
      return expect(torchere_program_restore(program(), pick<torchere_snapshot>(Snapshot)));
    default:
      return expect(choices.isRare() ? torchere_program_manual_seed(program(), choices.next())
                                     : torchere_program_reset(program()));
    }
  }

  /// Reads all of the memory that a function gave.
  void sum(const void *data, size_t size) {
    unsigned total = 0;
    for (size_t i = 0; data && i < size; ++i)
      total += static_cast<const unsigned char *>(data)[i];
    sink = total;
  }

  Choices choices;
  torchere_client client = nullptr;
  std::vector<Handle> handles;
  std::array<float, 6> floats = {1, 2, 3, 4, 5, 6};
  volatile unsigned sink = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Sequence(data, size).run();
  return 0;
}

/// Bytes that no choice takes for rare, with different functions first.
std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  for (int seed = 0; seed < 16; ++seed) {
    std::string bytes;
    unsigned state = 12345u + 7919u * static_cast<unsigned>(seed);
    for (int i = 0; i < 1500; ++i) {
      state = state * 1664525u + 1013904223u;
      bytes += static_cast<char>((state >> 16) % 240);
    }
    seeds.push_back(std::move(bytes));
  }
  return seeds;
}
