# SPDX-License-Identifier: Apache-2.0
"""What the constants k_mu and k_lambda of the tetrahedral law mean to an engineer, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

# The law's stress at a small strain e is 2 G e + lame trace(e): expand its energy
# mu/2 (I_C - 3) - mu/2 ln((I_C + 1)/4) + lambda/2 (J - alpha)^2, alpha = 1 + mu/lambda - mu/(4 lambda), about rest.
_SHEAR = 0.75  # G / k_mu
_LAME = 0.625  # (k_lambda - lame) / k_mu


class Moduli(NamedTuple):
    """Small-strain moduli of an isotropic solid: shear G, Lame's first, bulk K, Young's E in Pa, Poisson's ratio nu."""

    G: Any
    lame: Any
    K: Any
    E: Any
    nu: Any


def true_moduli(k_mu: Any, k_lambda: Any) -> Moduli:
    """The moduli of a body whose tetrahedra have k_mu and k_lambda [Pa], numbers or arrays.

    They are not k_mu and k_lambda themselves: the law of the semi-implicit solver has G = 0.75 k_mu and
    Lame's first parameter k_lambda - 0.625 k_mu. A bar of it, pulled slightly, has this E and this nu.
    """
    shear, lame = _SHEAR * k_mu, k_lambda - _LAME * k_mu
    return Moduli(shear, lame, lame + 2 * shear / 3, shear * (3 * lame + 2 * shear) / (lame + shear),
                  lame / (2 * (lame + shear)))


def tet_materials_of(E: Any, nu: Any) -> tuple[Any, Any]:
    """(k_mu, k_lambda) [Pa] with which a body has Young's modulus E [Pa] and Poisson's ratio nu; undoes true_moduli."""
    shear, lame = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    return shear / _SHEAR, lame + (_LAME / _SHEAR) * shear


def tet_material_slopes(E: Any, nu: Any) -> tuple[Any, Any, Any, Any]:
    """d k_mu/dE, d k_mu/dnu, d k_lambda/dE, d k_lambda/dnu of tet_materials_of."""
    g_e, g_nu = 1 / (2 * (1 + nu)), -E / (2 * (1 + nu) ** 2)
    bottom = (1 + nu) * (1 - 2 * nu)
    l_e, l_nu = nu / bottom, E * (1 + 2 * nu**2) / bottom**2
    part = _LAME / _SHEAR
    return g_e / _SHEAR, g_nu / _SHEAR, l_e + part * g_e, l_nu + part * g_nu


def bulk_stiffness(k_mu: Any, k_lambda: Any) -> Any:
    """K = k_lambda - k_mu / 8: where it is not positive, the body at rest collapses whatever the time step."""
    return true_moduli(k_mu, k_lambda).K
