/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions as text.  Stable. */
#ifndef TRACKWAY_DISASSEMBLY_H
#define TRACKWAY_DISASSEMBLY_H

#include <trackway/symbols.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An instruction in memory; more bytes than it has may follow. */
struct tw_code_bytes {
    const uint8_t *bytes;
    size_t size;
    uint64_t address;
    uint8_t isa; /* enum tw_isa */
};

struct tw_disassembler_config {
    size_t size;           /* sizeof(struct tw_disassembler_config) */
    const char *core_type; /* "Cortex-M33" ...: T32 of an M core has instructions of its own */
    const struct tw_symbols *symbols; /* names branch targets; borrowed; may be NULL */
    const struct tw_allocator *allocator;
    /* Optional, asked where `symbols` has no name: the symbol that a branch target belongs to, at the
       address that it has when it is executed; false: it belongs to none. */
    bool (*find)(void *context, struct tw_symbol *symbol, uint64_t address);
    void *context;
};

/* How many bytes it has, 2 or 4; 0: it is cut, or its instruction set is not known.  These two
   work in every build. */
TW_API size_t tw_instruction_size(const struct tw_code_bytes *code);
/* Its opcode as a number: of a 4-byte T32 instruction the first halfword is the upper one. */
TW_API uint32_t tw_instruction_opcode(const struct tw_code_bytes *code);

struct tw_disassembler;

/* TW_E_UNSUPPORTED: this build cannot, or LLVM's library is not there; `fault`, if not NULL, says
   which package brings it.  LLVM keeps a list of its targets for the whole process: threads must
   not make the first disassemblers of a process at the same time. */
TW_API TW_MUST_USE enum tw_status
tw_disassembler_new(struct tw_disassembler **disassembler,
                    const struct tw_disassembler_config *config, struct tw_fault *fault);
TW_API void tw_disassembler_free(struct tw_disassembler *disassembler);

/* One instruction as text, "ldr x0, [x1]"; a word that is none, ".inst 0x...".  Branch targets are
   addresses, with symbol and offset behind them where there is one.  Writes at most `room` bytes, a
   final zero among them; 256 are enough but for long names.  Returns tw_instruction_size; at 0 the
   text is empty.  T32: instructions of one IT block have to be given one after the other. */
TW_API size_t tw_disassemble(struct tw_disassembler *disassembler, char *text, size_t room,
                             const struct tw_code_bytes *code);

#ifdef __cplusplus
}
#endif

#endif
