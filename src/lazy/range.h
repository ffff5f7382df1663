// Range: a step of the device's work, timed for the metrics report and shown by torch.profiler.
#pragma once

#include <ATen/record_function.h>
#include <torch/csrc/lazy/core/metrics.h>

/// Until the end of the block: a range of torch.profiler, and a sample of the metric `metricName`.
#define TORCHERE_LAZY_RANGE(rangeName, metricName)                                                           \
  RECORD_FUNCTION(rangeName, c10::ArrayRef<const c10::IValue>{});                                            \
  TORCH_LAZY_TIMED(metricName)

/// A sample of a metric of bytes.
#define TORCHERE_LAZY_BYTES(metricName, bytes)                                                               \
  do {                                                                                                       \
    static auto *metric = new torch::lazy::Metric(metricName, torch::lazy::MetricFnBytes);                   \
    metric->AddSample(static_cast<double>(bytes));                                                           \
  } while (0)
