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
from ._core import Error, Packets, Part, Run, features
from .capture import Capture, open  # noqa: A004 - as people write it
from .elements import ELEMENT, ELEMENT_NAMES, ISA_NAMES, columns, concatenate, text, to_pandas
from .results import Calls, Coverage, Profile, Statistics, load, merge
from .sums import analysis, analyse

__version__ = _core.__version__
unframe = _core.unframe
formats = _core.formats

# INSTR_RANGE, PE_CONTEXT ...: the numbers of element types.
globals().update({name: number for number, name in enumerate(ELEMENT_NAMES)})

__all__ = ["Calls", "Capture", "Coverage", "ELEMENT", "ELEMENT_NAMES", "Error", "ISA_NAMES", "Packets",
           "Part", "Profile", "Run", "Statistics", "analyse", "analysis", "columns", "concatenate",
           "features", "formats", "load", "merge", "open", "text", "to_pandas", "unframe",
           *ELEMENT_NAMES]
