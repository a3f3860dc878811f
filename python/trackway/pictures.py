# SPDX-License-Identifier: BSD-2-Clause
"""Pictures in notebooks."""


def inside_a_page(svg: str) -> str:
    """The picture without what only a file of its own has."""
    return svg[svg.find("<svg"):] if "<svg" in svg else ""
