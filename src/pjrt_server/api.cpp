// Implements the table: each file fills its part.
#include "pjrt_server/api.h"

#include "pjrt_server/buffer.h"
#include "pjrt_server/executable.h"
#include "pjrt_server/execute.h"

namespace torchere::pjrt_server {

pjrt::Api makeServer() {
  pjrt::Api api = pjrt::makeTable();
  fillClient(api);
  fillBuffer(api);
  fillExecutable(api);
  fillExecute(api);
  return api;
}

} // namespace torchere::pjrt_server
