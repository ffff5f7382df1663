// TORCHERE_EXPORT marks what libtorchere.so exports to the bindings and the command line of this tree.
#pragma once

#define TORCHERE_EXPORT __attribute__((visibility("default")))
