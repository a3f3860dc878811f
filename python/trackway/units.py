# SPDX-License-Identifier: BSD-2-Clause
"""Trace made of execution logs."""
from ._core import Unit


def encode(log, protocol="etmv4", image=None, registers=None, *, output=None, framed=False, overwrite=False, **unit):
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
