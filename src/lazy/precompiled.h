// What every generated file includes, compiled once.

#include "lazy/recorder.h"

#include <torch/csrc/lazy/core/metrics.h>
#include <torch/library.h>
