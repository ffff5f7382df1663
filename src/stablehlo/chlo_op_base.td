// Base classes of CHLO's op definitions. Types and their inference are StableHLO's.
#ifndef TORCHERE_STABLEHLO_CHLO_OP_BASE
#define TORCHERE_STABLEHLO_CHLO_OP_BASE

include "chlo_attributes.td"
include "op_base.td"

class CHLO_Op<string mnemonic, list<Trait> traits = []> : Op<CHLO_Dialect, mnemonic, traits>;

#endif
