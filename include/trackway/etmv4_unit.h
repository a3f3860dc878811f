/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of an ETE or ETMv4 trace unit: what a processor does in, trace bytes out.
   Experimental. */
#ifndef TRACKWAY_ETMV4_UNIT_H
#define TRACKWAY_ETMV4_UNIT_H

#include <trackway/log.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The elements that a unit makes before it packs them. */
enum tw_etmv4_unit_element_type {
    TW_ETMV4_UNIT_TRACE_INFO,
    TW_ETMV4_UNIT_TRACE_ON,
    TW_ETMV4_UNIT_CONTEXT,
    TW_ETMV4_UNIT_ADDRESS, /* Target Address */
    TW_ETMV4_UNIT_ATOM,
    TW_ETMV4_UNIT_EXCEPTION,
    TW_ETMV4_UNIT_EXCEPTION_RETURN, /* ETMv4 */
    TW_ETMV4_UNIT_FUNCTION_RETURN,  /* ETMv4, M profile */
    TW_ETMV4_UNIT_SOURCE_ADDRESS,   /* ETE */
    TW_ETMV4_UNIT_Q,
    TW_ETMV4_UNIT_COMMIT,
    TW_ETMV4_UNIT_CANCEL,
    TW_ETMV4_UNIT_MISPREDICT,
    TW_ETMV4_UNIT_DISCARD,
    TW_ETMV4_UNIT_OVERFLOW,
    TW_ETMV4_UNIT_TRANSACTION_START, /* ETE, like the rest but for cycles, time and events */
    TW_ETMV4_UNIT_TRANSACTION_COMMIT,
    TW_ETMV4_UNIT_TRANSACTION_FAILURE,
    TW_ETMV4_UNIT_CYCLE_COUNT,
    TW_ETMV4_UNIT_TIMESTAMP,
    TW_ETMV4_UNIT_TIMESTAMP_MARKER,
    TW_ETMV4_UNIT_EVENT,
    TW_ETMV4_UNIT_INSTRUMENTATION,
    TW_ETMV4_UNIT_ELEMENT_TYPES
};

struct tw_etmv4_unit_element {
    uint8_t type;    /* enum tw_etmv4_unit_element_type */
    uint16_t number; /* exception type, event, Exception level of an instrumentation */
    bool is_taken;   /* atom: E */
    /* exception: it has an address; Q: a count; cycle count and timestamp: too */
    bool is_known;
    uint8_t isa;    /* addresses: enum tw_isa */
    uint64_t value; /* address, timestamp, instrumentation */
    uint32_t count; /* Q, commit, cancel, cycles */
    struct tw_step_context context;
};

/* "address(0x1000)", "atom(E)" ...; never more than `room` bytes with the zero that ends it;
   returns the length. */
TW_API size_t tw_etmv4_unit_element_text(char *out, size_t room,
                                         const struct tw_etmv4_unit_element *element);

struct tw_etmv4_unit_config {
    size_t size;         /* sizeof(struct tw_etmv4_unit_config) */
    bool is_ete;         /* else ETMv4 */
    bool is_m;           /* ETMv4 of the M profile: 32-bit addresses, Thread and Handler mode */
    bool is_self_hosted; /* TRFCR_ELx, MDCR_EL3 and HCR_EL2.TGE say where trace is prohibited;
                            else a debugger may trace everything */
    bool no_gathering; /* atoms are not held back for longer packets: each step ends with all of
                            its bytes */
    uint8_t return_stack_depth; /* entries; 0: 15, the most */
    uint8_t source_addresses; /* ETE: a Source Address instead of so many not-taken branches, or
                                 more, and the taken one behind them; 0: never */
    uint32_t q_instructions;  /* a Q element instead of so many instructions, or more, where
                                 TRCCONFIGR.QE and TRCQCTLR let it; 0: never */
    bool q_without_count;     /* ... without their number, if TRCCONFIGR.QE lets it */
    uint32_t fifo_size;       /* bytes that wait for the sink; when they do not fit, the unit
                                 overflows until all are out, or stalls the processor where
                                 TRCSTALLCTLR says so; 0: without bound */
    uint32_t cycles_per_byte; /* how fast the sink takes them; 0: 1 */
    void (*on_element)(void *context,
                       const struct tw_etmv4_unit_element *element); /* or NULL */
    void *element_context;
    const struct tw_allocator *allocator;
    /* At a periodic synchronization so many P0 elements come before its address and context, unless
       one of them needs an address; not with speculation. */
    uint8_t late_places;
    /* The return stack after a failed transaction is that of its start, not empty; not with
       speculation. */
    bool restores_returns;
};

/* One of the choices above by its name: "return-stack", "source-addresses", "q", "q-uncounted",
   "fifo", "cycles-per-byte", "self-hosted", "at-once" (no_gathering), "late-places",
   "restored-returns".  TW_E_ARGUMENT: there is none
   of this name, or the value is too large. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_config_set(struct tw_etmv4_unit_config *config,
                                                           const char *name, uint64_t value);

struct tw_etmv4_unit;

/* A unit with everything that the architecture allows: its identification registers say so and
   may be written before tracing to make it lesser.  It is disabled; all else reads as 0. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_new(struct tw_etmv4_unit **unit,
                                                    const struct tw_etmv4_unit_config *config,
                                                    struct tw_fault *fault);
TW_API void tw_etmv4_unit_free(struct tw_etmv4_unit *unit);
/* What was wrong with the last call that failed. */
TW_API const char *tw_etmv4_unit_fault(const struct tw_etmv4_unit *unit);

/* Registers by their names, without regard to case: "TRCCONFIGR", "TRCACVR3", "TRFCR_EL1" ...
   Writing 1 to TRCPRGCTLR starts tracing, 0 ends it; what governs tracing is written before. */
TW_API TW_MUST_USE enum tw_status
tw_etmv4_unit_write_register(struct tw_etmv4_unit *unit, const char *name, uint64_t value);
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_read_register(const struct tw_etmv4_unit *unit,
                                                              uint64_t *value,
                                                              const char *name);
/* The registers that a decoder needs, one after the other: TW_END behind the last. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_register(const struct tw_etmv4_unit *unit,
                                                         struct tw_register *out,
                                                         size_t number);

/* Programming for one process at Non-secure (and Realm) EL0: all of it, all but the addresses
   from `first` to `last`, or only those; `last` is the address of the last instruction. */
enum tw_etmv4_unit_preset {
    TW_ETMV4_UNIT_MINIMAL,
    TW_ETMV4_UNIT_EXCLUDE,
    TW_ETMV4_UNIT_INCLUDE
};
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_preset(struct tw_etmv4_unit *unit,
                                                       enum tw_etmv4_unit_preset preset,
                                                       uint64_t first, uint64_t last);

/* What the processor does.  All of these return TW_E_ARGUMENT when it cannot be, and TW_E_MEMORY. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_retire(struct tw_etmv4_unit *unit,
                                                       const struct tw_retired *instructions,
                                                       size_t count);
/* In force from here on; for an exception, call it after tw_etmv4_unit_exception. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_context(struct tw_etmv4_unit *unit,
                                                        const struct tw_step_context *context);
/* `type` is an enum tw_exception_type or 0x10 to 0x17; the address is that of the instruction to
   return to, and means nothing for a reset. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_exception(struct tw_etmv4_unit *unit,
                                                          unsigned type,
                                                          uint64_t return_address, uint8_t isa);
/* The same of the M profile: the number in IPSR, up to 511; chained: it follows right behind the end of
   another one, and there is no address. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_exception_m(struct tw_etmv4_unit *unit,
                                                            unsigned number,
                                                            uint64_t return_address,
                                                            bool is_chained);
/* Instructions ran that no one tells of; the unit does not trace them. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_gap(struct tw_etmv4_unit *unit);
/* The outermost transaction: START after its TSTART retired; FAIL: `cancelled` of the youngest
   instructions are still speculative, and go with it. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_transaction(struct tw_etmv4_unit *unit,
                                                            enum tw_transaction what,
                                                            uint64_t cancelled);
/* Cycles pass; each instruction takes so many of itself (1 at first); the timestamp is this now,
   and counts cycles. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_cycles(struct tw_etmv4_unit *unit,
                                                       uint32_t count);
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_clock(struct tw_etmv4_unit *unit,
                                                      uint32_t cycles_per_instruction);
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_time(struct tw_etmv4_unit *unit, uint64_t time);
/* An event of this number (TRCEXTINSELR<n>.evtCount; ETMv4: external input) in this cycle. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_external(struct tw_etmv4_unit *unit,
                                                         uint16_t number);
/* PE comparator inputs, bit n is input n; they stay until the next call. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_inputs(struct tw_etmv4_unit *unit,
                                                       uint8_t inputs);
/* TRCIT was executed with this value (ETE with FEAT_ITE). */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_instrument(struct tw_etmv4_unit *unit,
                                                           uint64_t value);
/* Debug state is entered (after its exception) or left. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_debug(struct tw_etmv4_unit *unit,
                                                      bool is_halted);
/* A low-power state is entered (WFI) or left: resources wait, unless TRCEVENTCTL1R.LPOVERRIDE. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_low_power(struct tw_etmv4_unit *unit,
                                                          bool is_asleep);
/* Trace is prohibited for a reason that is not in the unit's registers (the buffer's owner). */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_prohibit(struct tw_etmv4_unit *unit,
                                                         bool is_prohibited);

/* Speculation, TRCIDR8 above 0: instructions retired while it is on are not certain.  Commit: all
   but the youngest `except` are.  Cancel: the youngest `count` never happened. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_speculate(struct tw_etmv4_unit *unit,
                                                          bool is_on);
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_commit(struct tw_etmv4_unit *unit,
                                                       uint64_t except);
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_cancel(struct tw_etmv4_unit *unit,
                                                       uint64_t count, enum tw_cancel how);

/* What the sink does: loses trace from here on, can take it again, wants all that there is, wants
   a synchronization point. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_overflow(struct tw_etmv4_unit *unit);
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_recover(struct tw_etmv4_unit *unit);
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_flush(struct tw_etmv4_unit *unit);
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_synchronize(struct tw_etmv4_unit *unit);

/* Any step of an execution log. */
TW_API TW_MUST_USE enum tw_status tw_etmv4_unit_step(struct tw_etmv4_unit *unit,
                                                     const struct tw_step *step);

/* The bytes made so far, valid until the next call; tw_etmv4_unit_take drops them.  Events that left
   the unit (TRCEVENTCTL1R and external outputs): one bit each, cleared by the call. */
TW_API const uint8_t *tw_etmv4_unit_output(const struct tw_etmv4_unit *unit, size_t *size);
TW_API void tw_etmv4_unit_take(struct tw_etmv4_unit *unit);
TW_API unsigned tw_etmv4_unit_events(struct tw_etmv4_unit *unit);

#ifdef __cplusplus
}
#endif

#endif
