# SPDX-License-Identifier: BSD-2-Clause
from ._core import Error as Error
from ._core import Image as Image
from ._core import ItmUnit as ItmUnit
from ._core import Packets as Packets
from ._core import Part as Part
from ._core import Run as Run
from ._core import StmUnit as StmUnit
from ._core import Symbols as Symbols
from ._core import Unit as Unit
from ._core import features as features
from ._core import formats as formats
from ._core import frame as frame
from ._core import protocols as protocols
from ._core import unframe as unframe
from .capture import Capture as Capture
from .capture import open as open
from .doctor import Doctor as Doctor
from .doctor import Identity as Identity
from .elements import ELEMENT as ELEMENT
from .elements import ELEMENT_NAMES as ELEMENT_NAMES
from .elements import ISA_NAMES as ISA_NAMES
from .elements import columns as columns
from .elements import concatenate as concatenate
from .elements import text as text
from .elements import to_pandas as to_pandas
from .paths import Path
from .results import Calls as Calls
from .results import Coverage as Coverage
from .results import Profile as Profile
from .results import Statistics as Statistics
from .results import load as load
from .results import merge as merge
from .sums import analyse as analyse
from .sums import analysis as analysis
from .timeline import Timeline as Timeline
from .units import encode as encode

__version__: str
__all__ = [
    "Calls", "Capture", "Coverage", "Doctor", "ELEMENT", "ELEMENT_NAMES", "Error", "ISA_NAMES", "Identity", "Image",
    "ItmUnit", "Packets", "Part", "Profile", "Run", "Statistics", "StmUnit", "Symbols", "Timeline", "Unit", "analyse", "analysis",
    "columns", "concatenate", "encode", "features", "formats", "frame", "identify", "load", "merge", "open",
    "protocols", "text", "to_pandas", "unframe", "UNKNOWN", "NO_SYNC", "TRACE_ON", "EO_TRACE", "PE_CONTEXT",
    "INSTR_RANGE", "I_RANGE_NOPATH", "ADDR_NACC", "ADDR_UNKNOWN", "EXCEPTION", "EXCEPTION_RET", "TIMESTAMP",
    "CYCLE_COUNT", "EVENT", "SWTRACE", "SYNC_MARKER", "MEMTRANS", "INSTRUMENTATION", "ITMTRACE", "DATA_ADDR",
    "DATA_VALUE", "BUS_TRANSFER", "CUSTOM", "ERROR", "REPEAT",
]

def identify(what: Path | bytearray) -> Identity: ...

# Numbers of element types.
UNKNOWN: int
NO_SYNC: int
TRACE_ON: int
EO_TRACE: int
PE_CONTEXT: int
INSTR_RANGE: int
I_RANGE_NOPATH: int
ADDR_NACC: int
ADDR_UNKNOWN: int
EXCEPTION: int
EXCEPTION_RET: int
TIMESTAMP: int
CYCLE_COUNT: int
EVENT: int
SWTRACE: int
SYNC_MARKER: int
MEMTRANS: int
INSTRUMENTATION: int
ITMTRACE: int
DATA_ADDR: int
DATA_VALUE: int
BUS_TRANSFER: int
CUSTOM: int
ERROR: int
REPEAT: int
