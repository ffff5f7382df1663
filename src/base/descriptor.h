// Descriptor: an owning file descriptor, closed at the end of its scope.
#pragma once

#include <unistd.h>
#include <utility>

namespace torchere {

class Descriptor {
public:
  explicit Descriptor(int number = -1) : fileNumber(number) {}
  Descriptor(Descriptor &&other) noexcept : fileNumber(std::exchange(other.fileNumber, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(fileNumber, other.fileNumber);
    return *this;
  }
  ~Descriptor() {
    if (fileNumber >= 0)
      ::close(fileNumber);
  }

  /// Negative when nothing is open.
  int number() const { return fileNumber; }
  bool isOpen() const { return fileNumber >= 0; }
  /// Releases ownership: the caller closes it.
  int release() { return std::exchange(fileNumber, -1); }

private:
  int fileNumber;
};

} // namespace torchere
