// Slices that are whole rows of a matrix at one index each, as of embeddings and graphs.
#pragma once

#include "cpu/kernels/indexed_slices.h"

namespace torchere::cpu {

bool areRows(const IndexedSlices &slices);

/// The index of a slice that areRows().
int64_t rowIndex(const IndexedSlices &slices, int64_t i);

/// How much of a row of `rowBytes` that is needed soon is to be fetched: none of a tensor that caches hold.
int64_t bytesAhead(int64_t tensorBytes, int64_t rowBytes);

/// scatterSlices() by a join, of slices that areRows(), dense in both tensors. They are those of `args` with
/// dimensions merged.
void joinRows(const Context &context, const ScatterArgs &args, const IndexedSlices &slices);

} // namespace torchere::cpu
