# SPDX-License-Identifier: BSD-2-Clause
"""Names of files, as functions take them."""
from collections.abc import Iterable
from os import PathLike

Path = str | bytes | PathLike[str]


def each(paths: Path | Iterable[Path]) -> list[Path]:
    """One, or many, as a list."""
    return [paths] if isinstance(paths, (str, bytes, PathLike)) else list(paths)
