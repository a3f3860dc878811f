/* SPDX-License-Identifier: BSD-2-Clause */
/* size: table */
/* The rules of the sequence checker: what software must do, what may happen else, and the fix. */
#include <string.h>

#include "trbe/sequence.h"
#include "trctl/sequence.h"

/* clang-format off */
static const struct tw_sequence_rule rules[RULE_COUNT] = {
    [RULE_TS1] = { "TS1", "R_BFJKD R_MJQXM", "A register write acts on trace only after a context synchronization event",
      "Between a write to a register that trace operations use and the first instruction whose trace must heed it, "
      "there has to be an ISB, an exception or an exception return. A TSB CSYNC is not needed.",
      "trace is made with old, new or mixed values", "put an ISB behind the writes" },
    [RULE_TS2] = { "TS2", "R_ZCDDS R_TSPXF", "Trace of earlier code must be drained before its registers are changed",
      "Prohibit trace; context synchronization event; TSB CSYNC; then write. For registers of the Trace Buffer Unit "
      "the event has to lead to a prohibited region and the TSB CSYNC to run there.",
      "trace that is still on its way is lost or lands in the wrong buffer, and hardware may overwrite the new value",
      "prohibit trace (TRFCR_ELx), ISB, TSB CSYNC before this write" },
    [RULE_TS3] = { "TS3", "R_VTNCS", "Reading what trace wrote needs an event, TSB CSYNC and another event",
      "Context synchronization event into a prohibited region; TSB CSYNC; a second event; then read TRBPTR, TRBSR, TRBTRG "
      "or the trace unit's registers.",
      "a stale pointer or status: the size of the trace is taken wrong", "ISB, TSB CSYNC, ISB before this read" },
    [RULE_TS4] = { "TS4", "R_VLWDM", "Reading the buffer needs a DSB after the TSB CSYNC",
      "Event into a prohibited region; TSB CSYNC; DSB for reads and writes (DSB NSH, or ISH when another processor reads); then "
      "read the buffer. DSB LD and DSB ST are not enough, and a DSB before the TSB CSYNC does nothing for it.",
      "the last bytes of trace are missing or torn", "TSB CSYNC, then DSB NSH (or ISH), before the buffer is read" },
    [RULE_TS5] = { "TS5", "R_JPPZZ", "An External abort is recorded only when the write is complete",
      "The event that comes before reading TRBSR_ELx or TRBPTR_EL1 has to follow the DSB, not only the TSB CSYNC.",
      "an External abort is not seen: a broken buffer is taken as good", "move the ISB behind the DSB" },
    [RULE_TS6] = { "TS6", "R_MRVPT", "TSB CSYNC drains only in a prohibited region that an event led to",
      "Prohibit trace by TRFCR_ELx (or disable the trace unit), make that act by a context synchronization event, then TSB CSYNC. An exception "
      "to an Exception level that may not be traced does both.",
      "trace made after the barrier, or before it, is not drained", "clear TRFCR_ELx.ExTRE and ISB before the TSB CSYNC" },
    [RULE_TS7] = { "TS7", "R_CKVWP", "TSB CSYNC is ordered only by context synchronization events and DSBs",
      "What must come after the TSB CSYNC needs an ISB or a DSB in between; so does what must come before it.",
      "the TSB CSYNC runs late, or early: what follows does not wait for the trace", "put a DSB (memory) or an ISB (registers) behind the TSB CSYNC" },
    [RULE_TS8] = { "TS8", "R_NNRHD", "A change of the trace filter acts at the next event, and not surely before",
      "After a write to TRFCR_ELx.ExTRE a context synchronization event has to come before the code that is, or is not, to be traced; and a trace unit "
      "that was switched off has to be off before trace is allowed again.",
      "where trace starts or stops is not known; code of the tracer itself may be traced", "put an ISB between" },
    [RULE_TS9] = { "TS9", "S_DSSHH R_DJMDD", "TRBLIMITR_EL1.E and the other TRB registers are ordered by events",
      "Write the TRB registers; event; then the write that sets E. And: clear E; event; then write the others. An enabled unit may ignore writes.",
      "writes are ignored, or the unit starts with an old pointer and writes over memory", "put an ISB between this write and the one before" },
    [RULE_TS10] = { "TS10", "R_DFHWV", "Memory and TLB maintenance reaches buffer writes after DSB and an event",
      "Maintenance; DSB; context synchronization event; then the code whose trace is to use it.",
      "the buffer is written through a stale translation", "put a DSB and an ISB behind the maintenance" },
    [RULE_TS11] = { "TS11", "R_BSMLW R_SJFRQ S_YKCND", "The owner's translation registers change only while the unit is disabled",
      "Disable the Trace Buffer Unit; event; change TTBRx, TCR, ... ; event; enable it again. While enabled it may walk the tables at any time.",
      "tables that are half switched are walked: trace goes to foreign memory, or a stale translation stays in use",
      "clear TRBLIMITR_EL1.E and ISB before the change; set it only after an ISB behind the change" },
    [RULE_TS12] = { "TS12", "R_RRCNN S_YKCND", "The owner changes only when trace is drained and the unit is off",
      "Before SCR_EL3.{NSE,NS}, MDCR_EL3.{NSTB,NSTBE} or MDCR_EL2.E2TB change, drain with TSB CSYNC and do not leave the unit enabled. It is enabled only "
      "while SCR_EL3 selects the Security state that owns it.",
      "trace in the wrong context: written through a foreign translation, or discarded", "drain (ISB, TSB CSYNC), clear TRBLIMITR_EL1.E and ISB first; set it when SCR_EL3 selects the owner's state" },
    [RULE_TS13] = { "TS13", "R_HCVVS R_QVGHP", "Trace of speculation and of resources follows the code it hangs on",
      "Nothing: such trace is synchronized with the instruction it belongs to.", "-", "-" },
    [RULE_TS14] = { "TS14", "R_WYHRT R_XQVZW R_MPXXN", "In Debug state TSB CSYNC drains only with the trace unit disabled",
      "In Debug state disable the trace unit first; entry to Debug state stands for the event; then TSB CSYNC, then DSB for memory.",
      "trace is not drained", "clear TRCPRGCTLR.EN before the TSB CSYNC" },
    [RULE_TS15] = { "TS15", "R_XLVQM R_CZLXW R_FCBLJ R_YWSDB I_GFJWK", "After a TSB CSYNC in a prohibited region the trace unit is silent",
      "Nothing: until the region is left, there is no more trace and no trigger, and the last byte ends a packet.", "-", "-" },
    [RULE_TS16] = { "TS16", "I_ZLDPS", "An interrupt may cut a TSB CSYNC short, which is then done again",
      "Nothing: the return address is that of the TSB CSYNC.", "-", "-" },
    [RULE_TS17] = { "TS17", "S_TTPKR", "Reads of TRCSTATR need an event before each",
      "A context synchronization event between the write that switches the trace unit and the first read, and between reads.",
      "the loop may never see the change, or sees the state from before", "put an ISB before the read, inside the loop" },
    [RULE_TS18] = { "TS18", "R_RWYQD", "The trace unit's registers are written while it is Idle",
      "TRCPRGCTLR.EN is 0 and TRCSTATR.IDLE was seen as 1; only TRCPRGCTLR and the claim tags may be written at other times.",
      "the write is ignored or leaves an UNKNOWN value; the trace may not be decodable", "disable the trace unit and wait for TRCSTATR.IDLE first" },
    [RULE_TS19] = { "TS19", "R_MDZDN", "TRCPRGCTLR.EN changes only in the Idle or Running state",
      "After setting EN wait for TRCSTATR.IDLE to be 0 before clearing it; after clearing EN wait for IDLE to be 1 before setting it.",
      "the write is ignored, or EN is UNKNOWN", "poll TRCSTATR.IDLE (with an ISB in the loop) before this write" },
    [RULE_EN4] = { "EN4", "K10.5.7.1.1", "The enable loop waits for TRCSTATR.IDLE to be 0",
      "IDLE is bit 0. PMSTABLE is bit 1 and has no meaning while the trace unit is enabled.",
      "the loop ends at once, or never: trace may begin later than the code believes", "test bit 0 of TRCSTATR, and loop while it is 1" },
    [RULE_DIS5] = { "DIS5", "K10.5.7.1.2", "The disable loop waits for IDLE and PMSTABLE to be 1",
      "TRCSTATR bits 0 and 1 become 1 when the trace unit has stopped and its registers can be read.",
      "the loop ends while the unit still runs, or never", "loop until (TRCSTATR & 3) == 3" },
    [RULE_DIS6] = { "DIS6", "K10.5.7.1.2", "The filter is restored after the trace unit is idle",
      "Restore TRFCR_ELx when TRCSTATR says that the unit has stopped.",
      "code after the restore may still be traced", "move the restore behind the polling loop" },
    [RULE_SAVE7] = { "SAVE7", "K10.5.7.1.3", "The trace unit's registers are saved once they are stable",
      "Read them after TRCSTATR.PMSTABLE was seen as 1.",
      "values that were still changing are saved", "poll TRCSTATR.PMSTABLE (with an ISB in the loop) before the reads" },
    [RULE_SAVE8] = { "SAVE8", "K10.5.7.1.3", "Power goes only when the trace unit is idle",
      "Wait for TRCSTATR.IDLE to be 1 before the power-down.",
      "trace that has not left the unit is lost", "poll TRCSTATR.IDLE before the power-down" },
    [RULE_O4] = { "O4", "S_VKHHY", "The trace unit's registers can be read only while it is disabled",
      "Clear TRCPRGCTLR.EN before they are saved; that also resets the compression of the trace.",
      "unreadable registers: UNKNOWN values are saved", "clear TRCPRGCTLR.EN first" },
    [RULE_I3] = { "I3", "K10.5.7.1 S_PKLXF", "Enable from the sink to the source",
      "The Trace Buffer Unit first, the trace unit after it; disable in the other order.",
      "trace that is made before the buffer is ready is lost", "set TRBLIMITR_EL1.E before TRCPRGCTLR.EN" },
    [RULE_POLL] = { "POLL", "I_DHQGM", "A loop on TRCSTATR may never end",
      "The trace unit cannot become idle while its trace cannot drain; a loop wants a bound.",
      "software hangs when the sink is blocked", "bound the loop, or say why it ends" },
    [RULE_INPUT] = { "INPUT", "", "A line that cannot be read",
      "Register names as the architecture has them, or S<op0>_<op1>_C<n>_C<m>_<op2>.",
      "the line is passed over, and what depends on it is not checked", "correct the line" },
};
/* clang-format on */

const struct tw_sequence_rule *tw_seq_rule(enum rule_index index)
{
    return &rules[index];
}

const struct tw_sequence_rule *tw_sequence_rule(size_t index)
{
    if (index < RULE_COUNT)
        return &rules[index];
    index -= RULE_COUNT;
    return index < TW_TRCTL_RULES ? &tw_trctl_rules[index] : NULL;
}

static bool is_name(const struct tw_sequence_rule *rule, const char *name)
{
    size_t k = 0;

    while (rule->name[k] &&
           (name[k] == rule->name[k] ||
            (name[k] >= 'a' && name[k] <= 'z' && name[k] - 'a' + 'A' == rule->name[k])))
        k++;
    return !rule->name[k] && !name[k];
}

const struct tw_sequence_rule *tw_sequence_find_rule(const char *name)
{
    const struct tw_sequence_rule *rule;

    for (size_t i = 0; (rule = tw_sequence_rule(i)); i++)
        if (is_name(rule, name))
            return rule;
    return NULL;
}
