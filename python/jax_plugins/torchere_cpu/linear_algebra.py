"""What JAX computes by LAPACK on its own CPU platform: the same rules and kernels, jaxlib's, on ours, but
for LU factors, which have a kernel of the engine."""

import dataclasses

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


def _with_lapack(rule):
    """A rule of exported programs. JAX's own rules look up LAPACK's functions for the kernels, which without
    them end the process; those were at work only where the program was exported."""

    def lower(ctx, *args, exported, **parameters):
        if b"lapack_" in exported.mlir_module_serialized:
            from jax._src.lax import linalg

            linalg.initialize_lapack()  # a quarter of a second: it imports SciPy
        return rule(ctx, *args, exported=exported, **parameters)

    return lower


def _with_kernel(rule, call):
    """LU factors by the call that JAX makes of them on a platform that has one, which the engine knows; where
    sizes are open, or matrices have rows and no columns, by the rule."""
    from jax._src import core

    def lower(ctx, operand):
        is_static = all(core.is_constant_shape(aval.shape) for aval in ctx.avals_out)
        return (call if is_static and 0 not in ctx.avals_in[0].shape else rule)(ctx, operand)

    return lower


def register() -> None:
    from jax._src.export._export import call_exported_p
    from jax._src.interpreters import mlir  # the only way to the rules of another platform
    from jax._src.lax.linalg import lu_p
    from jaxlib import lapack

    for name, handler, api_version in lapack.registrations()["cpu"]:
        if api_version == 1:  # a handler of XLA's FFI
            jax.ffi.register_ffi_target(name, handler, platform=_PLATFORM)
    # Not by register_lowering(): JAX does not know the platform yet where the environment names its library.
    rules = mlir._platform_specific_lowerings
    rules[_PLATFORM].update(
        (primitive, rule) for primitive, rule in rules["cpu"].items() if primitive.name in _PRIMITIVES
    )
    common = mlir._lowerings[call_exported_p]
    rules[_PLATFORM][call_exported_p] = dataclasses.replace(common, rule=_with_lapack(common.rule))
    common = mlir._lowerings[lu_p]
    call = rules["tpu"][lu_p].rule
    rules[_PLATFORM][lu_p] = dataclasses.replace(common, rule=_with_kernel(common.rule, call))
