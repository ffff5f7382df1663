// Results and arrays in the C ABI.
#include "capi/failure.h"
#include "capi/inputs.h"
#include "capi/structures.h"

using namespace torchere;
using namespace torchere::capi;

torchere_status torchere_result_count(torchere_result result, size_t *count) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<CallOutcome>(result));
    TORCHERE_TRY(checkGiven(count, "count"));
    *count = found->values.size();
    return {};
  });
}

torchere_status torchere_result_find(torchere_result result, const char *name, size_t *index) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<CallOutcome>(result));
    TORCHERE_ASSIGN(std::string_view text, checkText(name, "name"));
    TORCHERE_TRY(checkGiven(index, "index"));
    TORCHERE_ASSIGN(*index, found->function->findResult(text));
    return {};
  });
}

torchere_status torchere_result_get(torchere_result result, size_t index, torchere_value_info *info) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<CallOutcome>(result));
    TORCHERE_TRY(checkStructure(info, "info"));
    TORCHERE_TRY(checkIndex(index, found->values.size(), "index"));
    found->function->resultAt(index).fill(*info);
    if (found->function->resultAt(index).isConstant())
      return {};
    info->dim_names = nullptr; // all sizes are known
    if (const auto *array = std::get_if<runtime::HostArray>(&found->values[index]))
      fillType(*array->type, *info);
    else if (const auto *onDevice = std::get_if<std::shared_ptr<Array>>(&found->values[index]))
      fillType((*onDevice)->onDevice()->type(), *info);
    return {};
  });
}

static Status giveData(const runtime::HostArray &array, const void **data, size_t *byteSize) {
  TORCHERE_TRY(checkGiven(data, "data"));
  TORCHERE_TRY(checkGiven(byteSize, "byte_size"));
  TORCHERE_ASSIGN(*byteSize, array.type->byteSize());
  *data = array.data;
  return {};
}

torchere_status torchere_result_data(torchere_result result, size_t index, const void **data,
                                     size_t *byte_size) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<CallOutcome>(result));
    TORCHERE_TRY(checkIndex(index, found->values.size(), "index"));
    TORCHERE_ASSIGN(const runtime::HostArray *array, found->host(index));
    return giveData(*array, data, byte_size);
  });
}

torchere_status torchere_result_read(torchere_result result, size_t index, void *data, size_t byte_size) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<CallOutcome>(result));
    TORCHERE_TRY(checkIndex(index, found->values.size(), "index"));
    TORCHERE_ASSIGN(const runtime::HostArray *array, found->host(index));
    return copyElements(*array, found->function->resultAt(index).name().c_str(), data, byte_size);
  });
}

torchere_status torchere_result_array(torchere_result result, size_t index, torchere_array *array) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<CallOutcome>(result));
    TORCHERE_TRY(checkGiven(array, "array"));
    TORCHERE_TRY(checkIndex(index, found->values.size(), "index"));
    const auto *onDevice = std::get_if<std::shared_ptr<Array>>(&found->values[index]);
    if (!onDevice)
      return fail(ErrorCode::FailedPrecondition,
                  "[{}] not on the device: got {}, expected an output of torchere_call_async",
                  found->function->resultAt(index).name(),
                  found->function->resultAt(index).isConstant() ? "a constant"
                                                                : "an output of a call that waits");
    *array = addHandle(*onDevice);
    return {};
  });
}

torchere_status torchere_result_wait(torchere_result result) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<CallOutcome>(result));
    const runtime::Buffer *pending = found->pending();
    return pending ? pending->wait() : Status();
  });
}

torchere_status torchere_result_is_ready(torchere_result result, int32_t *is_ready) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<CallOutcome>(result));
    TORCHERE_TRY(checkGiven(is_ready, "is_ready"));
    const runtime::Buffer *pending = found->pending();
    *is_ready = !pending || pending->isComputed();
    return {};
  });
}

torchere_status torchere_result_on_ready(torchere_result result, torchere_callback callback,
                                         void *user_data) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<CallOutcome>(result));
    TORCHERE_TRY(checkGiven(callback, "callback"));
    auto report = [callback, user_data](const Status &status) {
      if (status)
        callback(user_data, TORCHERE_OK, "");
      else
        callback(user_data, static_cast<torchere_status>(status.error().code), status.error().text().c_str());
    };
    if (const runtime::Buffer *pending = found->pending())
      pending->whenComputed(report);
    else
      report({});
    return {};
  });
}

torchere_status torchere_result_destroy(torchere_result result) {
  return guarded([&] { return capi::destroy<CallOutcome>(result); });
}

torchere_status torchere_array_create(torchere_program program, const torchere_tensor *tensor,
                                      torchere_array *array) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Program>(program));
    TORCHERE_TRY(checkGiven(array, "array"));
    TORCHERE_TRY(checkStructure(tensor, "tensor"));
    TORCHERE_ASSIGN(session::TensorView view, viewOf(*tensor, "tensor"));
    TORCHERE_ASSIGN(session::DeviceTensor copied, found->session->toDevice(view));
    *array = addHandle(std::make_shared<Array>(std::move(copied)));
    return {};
  });
}

torchere_status torchere_array_get(torchere_array array, torchere_value_info *info) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Array>(array));
    TORCHERE_TRY(checkStructure(info, "info"));
    *info = {};
    info->struct_size = sizeof *info;
    info->name = info->string = "";
    info->kind = TORCHERE_KIND_ARRAY;
    fillType(found->onDevice()->type(), *info);
    return {};
  });
}

torchere_status torchere_array_wait(torchere_array array) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Array>(array));
    return found->onDevice()->wait();
  });
}

torchere_status torchere_array_is_ready(torchere_array array, int32_t *is_ready) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Array>(array));
    TORCHERE_TRY(checkGiven(is_ready, "is_ready"));
    *is_ready = found->onDevice()->isComputed();
    return {};
  });
}

torchere_status torchere_array_data(torchere_array array, const void **data, size_t *byte_size) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Array>(array));
    TORCHERE_ASSIGN(const runtime::HostArray *host, found->host());
    return giveData(*host, data, byte_size);
  });
}

torchere_status torchere_array_read(torchere_array array, void *data, size_t byte_size) {
  return guarded([&]() -> Status {
    TORCHERE_ASSIGN(auto found, find<Array>(array));
    TORCHERE_ASSIGN(const runtime::HostArray *host, found->host());
    return copyElements(*host, "array", data, byte_size);
  });
}

torchere_status torchere_array_destroy(torchere_array array) {
  return guarded([&] { return capi::destroy<Array>(array); });
}
