// What a program's random numbers start from.
#pragma once

#include "program/entry_point.h"

namespace torchere::program {

/// The state generatorBuffer of the seed 0. All programs share it, so that functions of one bundle have one
/// generator.
TORCHERE_EXPORT const Weight &initialGenerator();

} // namespace torchere::program
