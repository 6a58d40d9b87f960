"""Closed forms of uniform cost, for reading beside the rounds of `uniform`.

Vectors of n bytes on p ranks; results in nanoseconds. With q the largest power of two up to p. As
printed, the last message to the ranks left out of halving and doubling is charged as an exchange,
although it goes one way.
"""

from __future__ import annotations

from itertools import pairwise

from collc_research.networks.network import Uniform


def ceil_log2(p: int) -> int:
    """The least k for which 2 to the k is at least p."""
    return (p - 1).bit_length()


def _floor_log2(p: int) -> int:
    return p.bit_length() - 1


def _alpha_one_way(net: Uniform) -> float:
    return net.one_way_alpha * net.alpha_ns


def _beta_one_way(net: Uniform) -> float:
    return net.one_way_beta * net.beta_ns_per_byte


def tree_reduce(p: int, n: float, net: Uniform) -> float:
    """Whole vectors along a binomial tree."""
    message = _alpha_one_way(net) + n * _beta_one_way(net)
    return ceil_log2(p) * (message + n * net.gamma_ns_per_byte)


def tree_allreduce(p: int, n: float, net: Uniform) -> float:
    """The same, and back as a broadcast."""
    message = _alpha_one_way(net) + n * _beta_one_way(net)
    return ceil_log2(p) * (2 * message + n * net.gamma_ns_per_byte)


def recursive_doubling(p: int, n: float, net: Uniform) -> float:
    """Whole vectors exchanged in pairs; others than powers of two are served at the end."""
    exchange = net.alpha_ns + n * (net.beta_ns_per_byte + net.gamma_ns_per_byte)
    extra = 0.0 if p & (p - 1) == 0 else _alpha_one_way(net) + n * _beta_one_way(net)
    return ceil_log2(p) * exchange + extra


def halving_doubling(p: int, n: float, net: Uniform) -> float:
    """An allreduce by halving and doubling."""
    k, alpha = _floor_log2(p), net.alpha_ns
    beta, gamma = n * net.beta_ns_per_byte, n * net.gamma_ns_per_byte
    saved = (2 * beta + gamma) / (1 << k)
    if p == 1 << k:
        return 2 * k * alpha + 2 * beta + gamma - saved
    start = (1 + net.one_way_alpha) * alpha + (1 + net.one_way_beta) / 2 * beta + gamma / 2
    return start + 2 * k * alpha + 2 * beta + gamma - saved + alpha + beta


def halving_doubling_reduce(p: int, n: float, net: Uniform) -> float:
    """A reduction by halving, then gathering at the root."""
    k, alpha, both = _floor_log2(p), net.alpha_ns, 1 + net.one_way_alpha
    beta, gamma = n * net.beta_ns_per_byte, n * net.gamma_ns_per_byte
    there_and_back = (1 + net.one_way_beta) * beta + gamma
    whole = k * both * alpha + there_and_back - there_and_back / (1 << k)
    if p == 1 << k:
        return whole
    return whole + both * alpha + (1 + net.one_way_beta) / 2 * beta + gamma / 2


def ring_allreduce(p: int, n: float, net: Uniform) -> float:
    """Chunks exchanged with ever farther ranks, then passed on around the ring."""
    part = n * (2 * net.beta_ns_per_byte + net.gamma_ns_per_byte)
    return 2 * (p - 1) * net.alpha_ns + part - part / p


def ring_reduce(p: int, n: float, net: Uniform) -> float:
    """Chunks exchanged likewise, then sent to the root."""
    beta, gamma = n * net.beta_ns_per_byte, n * net.gamma_ns_per_byte
    part = (1 + net.one_way_beta) * beta + gamma
    return (p - 1) * (1 + net.one_way_alpha) * net.alpha_ns + part - part / p


def binary_blocks(p: int) -> tuple[int, ...]:
    """The exponents of the powers of two that make up p, largest first."""
    return tuple(e for e in reversed(range(p.bit_length())) if p >> e & 1)


def largest_gap(p: int) -> int:
    """The largest difference between the exponents of neighbouring binary blocks."""
    exponents = binary_blocks(p)
    return max((a - b for a, b in pairwise(exponents)), default=0)
