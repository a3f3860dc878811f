# SPDX-License-Identifier: BSD-2-Clause
"""Trace made of execution logs."""
from typing import Any

from ._core import Image, Unit
from .paths import Path


def encode(log: Path | bytearray, protocol: str = "etmv4", image: Image | None = None,
           registers: dict[str, int] | None = None, *, output: Path | None = None, framed: bool = False,
           overwrite: bool = False, **unit: Any) -> dict[str, Any]:
    """An execution log (a path, or bytes) through the model of a trace unit.

    protocol: one of trackway.protocols(); image: the program, for logs without opcodes; registers, parameters,
    choices, preset, range: as trackway.Unit takes them. output: a folder, which becomes a snapshot that
    trackway.open takes; framed: with the trace in CoreSight frames.

    What was made, as Unit.finish() gives it: data, registers, parameters, id ...
    """
    model = Unit(protocol, image=image, registers=registers, **unit)
    model.log(log)
    made = model.finish()
    if output is not None:
        model.save(output, framed=framed, overwrite=overwrite)
    return made
