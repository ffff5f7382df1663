// The files that fill an instruction set's table.
#pragma once

#include "cpu/kernels/isa_kernels.h"

namespace torchere::cpu::TORCHERE_ISA {

void addGemm(IsaKernels &table);
void addNarrowGemm(IsaKernels &table);
void addRows(IsaKernels &table);
void addBlocked(IsaKernels &table);
void addWinograd(IsaKernels &table);
void addAttention(IsaKernels &table);
void addMatrixVector(IsaKernels &table);
void addReductions(IsaKernels &table);
void addBisections(IsaKernels &table);
void addScatteredRows(IsaKernels &table);
void addExtrema(IsaKernels &table);
void addTapSums(IsaKernels &table);
void addTransposes(IsaKernels &table);
void addFft(IsaKernels &table);
void addChirps(IsaKernels &table);
void addRankUpdate(IsaKernels &table);
void addComplexProducts(IsaKernels &table);
void addRotations(IsaKernels &table);
void addSmallSystems(IsaKernels &table);
void addWindows(IsaKernels &table);
void addWindowExtrema(IsaKernels &table);
void addContentsSums(IsaKernels &table);
void addInterpolation(IsaKernels &table);
void addLstmCells(IsaKernels &table);

} // namespace torchere::cpu::TORCHERE_ISA

// AVX-512 with what some processors have beyond it: the files of isa/extensions/. Packed weights are those of
// AVX-512.
namespace torchere::cpu::avx512vnni {
void addExtension(IsaKernels &table);
}
namespace torchere::cpu::avx512bf16 {
void addExtension(IsaKernels &table);
}
namespace torchere::cpu::amx {
void addExtension(IsaKernels &table);
}
