"""What JAX computes by LAPACK on its own CPU platform: the same rules and kernels, jaxlib's, on ours."""

import jax

_PLATFORM = "torchere_cpu"
# The others that JAX gives to LAPACK have kernels here, or forms of plain StableHLO.
_PRIMITIVES = {
    "eig",
    "eigh",
    "geqp3",
    "geqrf",
    "hessenberg",
    "householder_product",
    "ormqr",
    "schur",
    "svd",
    "tridiagonal",
    "tridiagonal_solve",
}


def register() -> None:
    from jax._src.interpreters import mlir  # the only way to the rules of another platform
    from jaxlib import lapack

    for name, handler, api_version in lapack.registrations()["cpu"]:
        if api_version == 1:  # a handler of XLA's FFI
            jax.ffi.register_ffi_target(name, handler, platform=_PLATFORM)
    # Not by register_lowering(): JAX does not know the platform yet where the environment names its library.
    rules = mlir._platform_specific_lowerings
    rules[_PLATFORM].update(
        (primitive, rule) for primitive, rule in rules["cpu"].items() if primitive.name in _PRIMITIVES
    )
