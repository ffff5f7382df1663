// The translations of torchere-translate: each file adds its options.
#pragma once

namespace torchere::cli {

void registerInterpretation();
void registerSerialization();

} // namespace torchere::cli
