# SPDX-License-Identifier: Apache-2.0
"""Prints include/novaphy/elementary_table.inc: the numbers behind the elementary functions of novaphy/elementary.hpp.

Each polynomial interpolates at Chebyshev nodes, in 100 digits, and is then rounded to float64. The degrees are the
smallest whose error stays below the last place of a float64. Needs mpmath:

    python make_elementary_table.py > ../include/novaphy/elementary_table.inc
"""
import mpmath as mp

mp.mp.dps = 100
TINY = mp.mpf("1e-12")


def fit(function, low, high, terms):
    """Coefficients, lowest first, of the polynomial through `terms` Chebyshev nodes of [low, high]."""
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * terms)) for k in range(terms)]
    system = mp.matrix(terms, terms)
    for i, node in enumerate(nodes):
        for j in range(terms):
            system[i, j] = node**j
    return list(mp.lu_solve(system, mp.matrix([function(node) for node in nodes])))


def leading(value, bits):
    """`value` cut to its first `bits` bits."""
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.floor(mp.ldexp(mantissa, bits)), exponent - bits)


def table(name, comment, coefficients):
    print(f"// {comment}")
    print(f"constexpr double {name}[] = {{")
    for c in coefficients:
        print(f"    {float(c).hex()},")
    print("};")


def number(name, value, comment=""):
    print(f"constexpr double {name} = {float(value).hex()};" + (f"  // {comment}" if comment else ""))


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Constants of elementary_sequences.inc. Made by sdk/tools/make_elementary_table.py; do not edit.")
    slack = mp.mpf("1.0005")

    quarter = (mp.pi / 4) ** 2 * slack
    table("kSin", "sin(r) = r + r u P(u), u = r^2, |r| <= pi/4",
          fit(lambda u: (mp.sin(mp.sqrt(u)) / mp.sqrt(u) - 1) / u, TINY, quarter, 7))
    table("kCos", "cos(r) = 1 - u/2 + u^2 P(u)",
          fit(lambda u: (mp.cos(mp.sqrt(u)) - 1 + u / 2) / u**2, TINY, quarter, 7))
    half = mp.log(2) / 2 * slack
    table("kExp", "exp(r) = 1 + r + r^2 P(r), |r| <= log(2)/2",
          fit(lambda r: (mp.exp(r) - 1 - r) / r**2 if abs(r) > TINY else mp.mpf(1) / 2, -half, half, 11))
    widest = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * slack
    table("kLog", "2 atanh(s) = 2 s + s w P(w), w = s^2, s = (m - 1)/(m + 1), m from sqrt(1/2) to sqrt(2)",
          fit(lambda w: (2 * mp.atanh(mp.sqrt(w)) / mp.sqrt(w) - 2) / w, TINY, widest, 9))
    eighth = mp.tan(mp.pi / 8) ** 2 * slack
    table("kAtan", "atan(t) = t + t w P(w), w = t^2, |t| <= tan(pi/8)",
          fit(lambda w: (mp.atan(mp.sqrt(w)) / mp.sqrt(w) - 1) / w, TINY, eighth, 13))

    half_pi = mp.pi / 2
    first = leading(half_pi, 33)
    second = leading(half_pi - first, 33)
    number("kHalfPi1", first, "pi/2 in three parts; the first two have 33 bits, so 20-bit multiples are exact")
    number("kHalfPi2", second)
    number("kHalfPi3", half_pi - first - second)
    number("kPi", mp.pi, "pi")
    number("kHalfPi", half_pi, "pi/2")
    number("kQuarterPi", mp.pi / 4, "pi/4")
    number("kTwoOverPi", 2 / mp.pi, "2/pi")
    number("kTanEighthPi", mp.tan(mp.pi / 8), "tan(pi/8)")
    ln2 = leading(mp.log(2), 42)
    number("kLn2High", ln2, "log(2) in two parts; the first has 42 bits")
    number("kLn2Low", mp.log(2) - ln2)
    number("kLog2E", 1 / mp.log(2), "1/log(2)")
    bits = int(mp.floor(2 / mp.pi * mp.mpf(2) ** 256))
    words = [(bits >> (224 - 32 * i)) & 0xFFFFFFFF for i in range(8)]
    print("// The first 256 bits of 2/pi after the point.")
    print("constexpr std::uint32_t kTwoOverPiBits[] = {" + ", ".join(f"0x{w:08x}u" for w in words) + "};")


main()
