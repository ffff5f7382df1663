"""Programs of loops with small bodies, as users write them in JAX. `PROGRAMS` has a function and its
arguments by name."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

random = np.random.default_rng(0)


def normal(*shape, scale=1.0):
    return jnp.asarray((random.normal(size=shape) * scale).astype(np.float32))


def integers(high, *shape):
    return jnp.asarray(random.integers(0, high, shape).astype(np.int32))


PROGRAMS = {}


def program(*arguments):
    def add(function):
        PROGRAMS[function.__name__] = (function, arguments)
        return function

    return add


@program(integers(4, 128), integers(4, 128))
def levenshtein(a, b):
    n = b.shape[0]

    def row(i, table):
        def cell(j, table):
            change = jnp.where(a[i - 1] == b[j - 1], 0, 1)
            least = jnp.minimum(table[i - 1, j] + 1, table[i, j - 1] + 1)
            return table.at[i, j].set(jnp.minimum(least, table[i - 1, j - 1] + change))

        return lax.fori_loop(1, n + 1, cell, table)

    table = jnp.zeros((a.shape[0] + 1, n + 1), jnp.int32)
    table = table.at[:, 0].set(jnp.arange(a.shape[0] + 1)).at[0].set(jnp.arange(n + 1))
    return lax.fori_loop(1, a.shape[0] + 1, row, table)[-1, -1]


@program(normal(200, 4), normal(200))
def nms(boxes, scores):
    corners = jnp.concatenate([boxes[:, :2], boxes[:, :2] + jnp.abs(boxes[:, 2:]) + 0.1], 1)
    corners = corners[jnp.argsort(-scores)]
    areas = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])

    def step(i, keep):
        low = jnp.maximum(corners[i, :2], corners[:, :2])
        high = jnp.minimum(corners[i, 2:], corners[:, 2:])
        shared = jnp.prod(jnp.maximum(high - low, 0), 1)
        overlap = shared / (areas[i] + areas - shared)
        drops = (overlap > 0.5) & (jnp.arange(200) > i) & keep[i]
        return keep & ~drops

    return lax.fori_loop(0, 200, step, jnp.ones(200, bool))


@program(normal(500, 2))
def kalman(measurements):
    move = jnp.asarray(np.eye(4, dtype=np.float32) + np.eye(4, k=2, dtype=np.float32) * 0.1)
    see = jnp.eye(2, 4)

    def step(state, z):
        x, p = state
        x, p = move @ x, move @ p @ move.T + jnp.eye(4) * 0.01
        s = see @ p @ see.T + jnp.eye(2) * 0.1
        (a, b), (c, d) = s
        inverse = jnp.array([[d, -b], [-c, a]]) / (a * d - b * c)
        gain = p @ see.T @ inverse
        return (x + gain @ (z - see @ x), (jnp.eye(4) - gain @ see) @ p), x

    return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), measurements)


@program(normal(512, 64), normal(64, 16, scale=0.1), normal(512, 16), normal(512, 16))
def ssm_scan(x, a, b, c):
    def step(h, inputs):
        x, b, c = inputs
        h = jnp.exp(-jnp.abs(a)) * h + x[:, None] * b[None]
        return h, (h * c[None]).sum(-1)

    return lax.scan(step, jnp.zeros((64, 16)), (x, b, c))


@program(normal(100, 1, 64), normal(64, 256, scale=0.1), normal(64, 256, scale=0.1))
def lstm(x, w, u):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(step, (jnp.zeros((1, 64)), jnp.zeros((1, 64))), x)


@program(normal(100, 32), normal(32, 96, scale=0.1), normal(32, 96, scale=0.1))
def gru(x, w, u):
    def step(h, x):
        a, b = x @ w, h @ u
        r = jax.nn.sigmoid(a[:32] + b[:32])
        z = jax.nn.sigmoid(a[32:64] + b[32:64])
        n = jnp.tanh(a[64:] + r * b[64:])
        h = (1 - z) * n + z * h
        return h, h

    return lax.scan(step, jnp.zeros(32), x)


@program(jnp.float32(2.0))
def newton(y):
    def step(state):
        x, _, turns = state
        following = x - (x**3 - y) / (3 * x**2)
        return following, x, turns + 1

    return lax.while_loop(lambda s: (jnp.abs(s[0] - s[1]) > 1e-7) & (s[2] < 1000), step, (y * 100, 0.0, 0))


@program(normal(64))
def bisection(y):
    def step(_, state):
        low, high = state
        middle = (low + high) / 2
        above = middle**3 + middle > y
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    return lax.fori_loop(0, 200, step, (jnp.full(64, -10.0), jnp.full(64, 10.0)))


@program(normal(16, 16), normal(16, 8), integers(8, 500))
def hmm_forward(transition, emission, seen):
    transition, emission = jax.nn.log_softmax(transition), jax.nn.log_softmax(emission)

    def step(alpha, o):
        alpha = jax.nn.logsumexp(alpha[:, None] + transition, axis=0) + emission[:, o]
        return alpha, None

    return jax.nn.logsumexp(lax.scan(step, jnp.zeros(16), seen)[0])


@program(jax.nn.softmax(normal(12, 12)))
def markov_chain(transition):
    return lax.fori_loop(0, 1000, lambda _, p: p @ transition, jnp.full(12, 1 / 12))


@program(jnp.cumsum(jax.nn.softmax(normal(8, 8)), 1), jnp.asarray(random.random(2000), jnp.float32))
def markov_samples(cumulative, draws):
    def step(state, u):
        state = jnp.sum(cumulative[state] < u).astype(jnp.int32)
        return state, state

    return lax.scan(step, jnp.int32(0), draws)


@program(normal(4096))
def running_sum(x):
    def step(total, value):
        total = total + value
        return total, total

    return lax.scan(step, jnp.float32(0), x)


@program(normal(64))
def bubble_sort(x):
    def inner(j, x):
        a, b = x[j], x[j + 1]
        return x.at[j].set(jnp.minimum(a, b)).at[j + 1].set(jnp.maximum(a, b))

    return lax.fori_loop(0, 63, lambda i, x: lax.fori_loop(0, 63 - i, inner, x), x)


@program(jnp.int32(97), jnp.int32(300))
def collatz(first, last):
    def length(n):
        def step(state):
            n, turns = state
            return lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), turns + 1

        return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]

    return lax.fori_loop(first, last, lambda n, most: jnp.maximum(most, length(n)), 0)


@program(jnp.asarray(np.linspace(-2, 0.5, 64), jnp.float32), jnp.asarray(np.linspace(-1, 1, 64), jnp.float32))
def mandelbrot(x, y):
    x, y = jnp.meshgrid(x, y)

    def step(_, state):
        a, b, count = state
        a, b = a * a - b * b + x, 2 * a * b + y
        inside = a * a + b * b < 4
        return jnp.where(inside, a, 2.0), jnp.where(inside, b, 2.0), count + inside

    return lax.fori_loop(0, 100, step, (x, y, jnp.zeros(x.shape, jnp.int32)))[2]


@program(jnp.float32(-0.7436), jnp.float32(0.1318))
def mandelbrot_point(x, y):
    def step(state):
        a, b, n = state
        return a * a - b * b + x, 2 * a * b + y, n + 1

    return lax.while_loop(lambda s: (s[0] * s[0] + s[1] * s[1] < 4) & (s[2] < 5000), step, (x, y, 0))[2]


@program(jnp.asarray([1.0, 1.0, 1.0]))
def lorenz_rk4(state):
    def slope(s):
        x, y, z = s
        return jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    def step(s, _):
        h = 0.005
        a = slope(s)
        b = slope(s + h / 2 * a)
        c = slope(s + h / 2 * b)
        d = slope(s + h * c)
        s = s + h / 6 * (a + 2 * b + 2 * c + d)
        return s, s

    return lax.scan(step, state, None, length=100)


@program(normal(64, 8), normal(64))
def gradient_descent(x, y):
    def loss(w):
        return jnp.mean((jnp.tanh(x @ w[:8]) * w[8] - y) ** 2)

    return lax.fori_loop(0, 300, lambda _, w: w - 0.05 * jax.grad(loss)(w), jnp.full(9, 0.1))


@program(normal(64, 32), normal(32, 32, scale=0.2), normal(32, 32, scale=0.2), normal(32, 64))
def greedy_decoding(words, w, u, out):
    def step(state):
        i, token, keys, values, tokens = state
        x = words[token]
        keys = lax.dynamic_update_slice(keys, (x @ w)[None], (i, 0))
        values = lax.dynamic_update_slice(values, (x @ u)[None], (i, 0))
        scores = jnp.where(jnp.arange(64) <= i, keys @ x / 32**0.5, -jnp.inf)
        x = x + jax.nn.softmax(scores) @ values
        token = jnp.argmax(x @ out).astype(jnp.int32)
        return i + 1, token, keys, values, tokens.at[i].set(token)

    start = (0, jnp.int32(3), jnp.zeros((64, 32)), jnp.zeros((64, 32)), jnp.zeros(64, jnp.int32))
    return lax.while_loop(lambda s: s[0] < 64, step, start)[4]


@program(normal(256, 3))
def ray_marching(directions):
    directions = directions / jnp.linalg.norm(directions, axis=1, keepdims=True)

    def distance(p):
        ball = jnp.linalg.norm(p - jnp.asarray([0.0, 0.0, 3.0]), axis=1) - 1
        return jnp.minimum(ball, p[:, 1] + 1)

    def step(_, t):
        return t + distance(directions * t[:, None])

    return lax.fori_loop(0, 64, step, jnp.zeros(256))


@program(integers(2, 32, 32))
def game_of_life(board):
    def step(_, board):
        around = sum(
            jnp.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
        )
        return ((around == 3) | ((board == 1) & (around == 2))).astype(jnp.int32)

    return lax.fori_loop(0, 100, step, board)


@program(integers(2, 256), integers(2, 8))
def rule_automaton(cells, rule):
    def step(cells, _):
        places = jnp.roll(cells, 1) * 4 + cells * 2 + jnp.roll(cells, -1)
        cells = rule[places]
        return cells, cells

    return lax.scan(step, cells, None, length=100)


@program(jnp.asarray(1 + random.integers(0, 20, 32), jnp.int32), integers(50, 32))
def knapsack(weights, values):
    def item(i, best):
        def place(j, best):
            capacity = 200 - j
            w = weights[i]
            taken = jnp.where(capacity >= w, best[capacity - w] + values[i], 0)
            return best.at[capacity].set(jnp.maximum(best[capacity], taken))

        return lax.fori_loop(0, 201, place, best)

    return lax.fori_loop(0, 32, item, jnp.zeros(201, jnp.int32))


@program(jnp.asarray(np.sort(random.normal(size=1024)), jnp.float32), normal(200))
def binary_search(table, values):
    def find(i, found):
        def step(state):
            low, high = state
            middle = (low + high) // 2
            below = table[middle] < values[i]
            return jnp.where(below, middle + 1, low), jnp.where(below, high, middle)

        return found.at[i].set(lax.while_loop(lambda s: s[0] < s[1], step, (0, 1024))[0])

    return lax.fori_loop(0, 200, find, jnp.zeros(200, jnp.int32))


@program(normal(24, 24))
def floyd_warshall(lengths):
    def step(k, d):
        return jnp.minimum(d, d[:, k][:, None] + d[k][None])

    return lax.fori_loop(0, 24, step, jnp.abs(lengths))


@program(jnp.int32(10000))
def sieve(limit):
    def mark(i, prime):
        def cross(state):
            j, prime = state
            return j + i, prime.at[j].set(False)

        return lax.cond(
            prime[i],
            lambda p: lax.while_loop(lambda s: s[0] < limit, cross, (i * i, p))[1],
            lambda p: p,
            prime,
        )

    return lax.fori_loop(2, 100, mark, jnp.ones(10000, bool)).sum()


@program(normal(20, scale=0.1), normal(400))
def fir_filter(taps, x):
    def step(history, value):
        history = jnp.concatenate([value[None], history[:-1]])
        return history, history @ taps

    return lax.scan(step, jnp.zeros(20), x)
