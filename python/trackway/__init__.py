# SPDX-License-Identifier: BSD-2-Clause
"""Processor hardware trace, decoded: elements as NumPy arrays, and answers.

    import trackway

    with trackway.open("capture") as capture:
        for part in capture.run():
            executed = part.elements["count"][part.elements["type"] == trackway.INSTR_RANGE]
        print(capture.profile())

`help(trackway.Capture)` tells what can be asked of a capture.
"""
from . import _core
from ._core import Error, Image, ItmUnit, Packets, Part, Run, StmUnit, Symbols, Unit, features, frame, protocols
from .capture import Capture, open  # noqa: A004 - as people write it
from .doctor import Doctor, Identity
from .elements import ELEMENT, ELEMENT_NAMES, ISA_NAMES, columns, concatenate, text, to_pandas
from .results import Calls, Coverage, Profile, Statistics, load, merge
from .sums import analysis, analyse
from .timeline import Timeline
from .units import encode

__version__ = _core.__version__
unframe = _core.unframe
formats = _core.formats


def identify(what):
    """What a file is that says nothing of itself, how sure that is and why, and the command that opens it; of a path or bytes."""
    return Identity(_core.identify(what))


# INSTR_RANGE, PE_CONTEXT ...: the numbers of element types.
globals().update({name: number for number, name in enumerate(ELEMENT_NAMES)})

__all__ = ["Calls", "Capture", "Coverage", "Doctor", "ELEMENT", "ELEMENT_NAMES", "Error", "ISA_NAMES", "Identity", "Image",
           "ItmUnit", "Packets", "Part", "Profile", "Run", "Statistics", "StmUnit", "Symbols", "Timeline", "Unit", "analyse", "analysis", "columns",
           "concatenate", "encode", "features", "formats", "frame", "identify", "load", "merge", "open", "protocols", "text", "to_pandas",
           "unframe", *ELEMENT_NAMES]
