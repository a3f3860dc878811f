/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions as text, by LLVM's C disassembler.  Its library is large and slow to load, so it is
   loaded when the first text is asked for, not with the program. */
#include <trackway/disassembly.h>

#include "base/bytes.h"
#include "base/core.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "isa/isa.h"
#include "isa/known.h"

size_t tw_instruction_size(const struct tw_code_bytes *code)
{
    size_t size = 0;

    if (code->size < 2)
        return 0;
    switch (code->isa) {
    case TW_ISA_A64:
    case TW_ISA_A32:
        size = 4;
        break;
    case TW_ISA_T32:
    case TW_ISA_TEE:
        size = tw_t32_size(tw_load_le16(code->bytes));
        break;
    case TW_ISA_RV32:
    case TW_ISA_RV64:
        size = tw_rv_size(tw_load_le16(code->bytes));
        break;
    default:
        break;
    }
    return size <= code->size ? size : 0;
}

uint32_t tw_instruction_opcode(const struct tw_code_bytes *code)
{
    switch (tw_instruction_size(code)) {
    case 2:
        return tw_load_le16(code->bytes);
    case 4:
        if (code->isa == TW_ISA_T32 || code->isa == TW_ISA_TEE)
            return (uint32_t)tw_load_le16(code->bytes) << 16 | tw_load_le16(code->bytes + 2);
        return tw_load_le32(code->bytes);
    default:
        return 0;
    }
}

#ifdef TW_WITH_LLVM

#include "base/library.h"
#include "base/platform.h"

enum kind { A64, A32, T32, T32_M, RV32, RV64, KINDS };

static const struct {
    const char *triple, *features;
    const char *comment; /* what begins one */
} targets[KINDS] = {
#define ARM_FEATURES                                                                           \
    "+v9.5a,+neon,+d32,+fp64,+fullfp16,+fp16fml,+crypto,+aes,+sha2,+bf16,+i8mm,+dotprod,+crc," \
    "+ras,+sb,+clrbhb,+dfb,+mp,+perfmon,+virtualization,+trustzone,+hwdiv,+hwdiv-arm"
#define RISCV_FEATURES                                                                         \
    "+m,+a,+f,+d,+c,+v,+h,+zicsr,+zifencei,+zicntr,+zihpm,+zba,+zbb,+zbc,+zbs,+zbkb,+zbkc,"    \
    "+zbkx,+zkn,+zks,+zkr,+zfh,+zfa,+zfbfmin,+zcb,+zicbom,+zicbop,+zicboz,+zicond,"            \
    "+zihintpause,+zihintntl,+zawrs,+zimop,+zcmop,+zabha,+experimental-zacas,"                 \
    "+experimental-zicfilp,+experimental-zicfiss,+svinval,+zvfh,+zvfbfmin,"                    \
    "+zvfbfwma,+zvbb,+zvbc,+zvkng,+zvksg"
    [A64] = { "aarch64-none-elf", "+all", " // " },
    [A32] = { "armv9.5a-none-eabi", ARM_FEATURES, " @ " },
    [T32] = { "thumbv9.5a-none-eabi", ARM_FEATURES, " @ " },
    [T32_M] = { "thumbv8.1m.main-none-eabi",
                "+mve.fp,+fp64,+fp-armv8d16,+fullfp16,+dsp,+lob,+pacbti,+8msecext,+ras",
                " @ " },
    [RV32] = { "riscv32-none-elf", RISCV_FEATURES, " # " },
    [RV64] = { "riscv64-none-elf", RISCV_FEATURES, " # " },
};

/* What is used of LLVM's C interface, which is stable: its headers are not needed to build this. */
enum { OPTION_PRINT_IMM_HEX = 2 };
#define REFERENCE_NONE        UINT64_C(0)
#define REFERENCE_BRANCH      UINT64_C(1)
#define REFERENCE_PCREL_LOAD  UINT64_C(2)
#define REFERENCE_ARM64_LDRXL UINT64_C(0x100000004)
#define REFERENCE_ARM64_ADR   UINT64_C(0x100000005)

typedef int operand_fn(void *context, uint64_t pc, uint64_t offset, uint64_t operand_size,
                       uint64_t instruction_size, int tag, void *out);
typedef const char *lookup_fn(void *context, uint64_t value, uint64_t *type, uint64_t pc,
                              const char **name);

struct calls {
    void *(*create)(const char *triple, const char *cpu, const char *features, void *context,
                    int tag, operand_fn *operand, lookup_fn *lookup);
    int (*set_options)(void *llvm, uint64_t options);
    void (*dispose)(void *llvm);
    size_t (*disassemble)(void *llvm, uint8_t *bytes, uint64_t size, uint64_t pc, char *out,
                          size_t room);
};

struct tw_disassembler {
    struct calls calls;
    void *library;
    void *contexts[KINDS];
    bool is_m;
    const struct tw_symbols *symbols;
    bool (*find)(void *context, struct tw_symbol *symbol, uint64_t address);
    void *context;
    struct tw_allocator allocator_copy;
    const struct tw_allocator *allocator;

    /* LLVM remembers open IT and VPT blocks; they do not reach beyond a jump. */
    uint64_t next;
    unsigned open; /* instructions that such a block may still have */

    /* Told by LLVM while it writes the text. */
    bool has_target, has_literal;
    uint64_t target, literal;

    struct tw_known *known; /* of A64; NULL: none yet */
};

static bool register_targets(void *library)
{
    static const char *const names[] = {
        "LLVMInitializeAArch64TargetInfo",   "LLVMInitializeAArch64TargetMC",
        "LLVMInitializeAArch64Disassembler", "LLVMInitializeARMTargetInfo",
        "LLVMInitializeARMTargetMC",         "LLVMInitializeARMDisassembler",
        "LLVMInitializeRISCVTargetInfo",     "LLVMInitializeRISCVTargetMC",
        "LLVMInitializeRISCVDisassembler",
    };

    for (size_t i = 0; i < TW_LENGTH(names); i++) {
        void (*initialize)(void);

        if (!tw_library_take(library, &initialize, names[i]))
            return false;
        initialize();
    }
    return true;
}

static enum tw_status load(struct tw_disassembler *made, struct tw_fault *fault)
{
    static const char *const files[] = { TW_LLVM_SONAME, TW_LLVM_LIBRARY };
    struct calls *calls = &made->calls;

    made->library = tw_library_open(files, TW_LENGTH(files));
    if (!made->library)
        return tw_fail(fault, TW_E_UNSUPPORTED,
                       "no disassembly: %s is not there (Debian: libllvm19)", TW_LLVM_SONAME);
    if (!tw_library_take(made->library, &calls->create, "LLVMCreateDisasmCPUFeatures") ||
        !tw_library_take(made->library, &calls->set_options, "LLVMSetDisasmOptions") ||
        !tw_library_take(made->library, &calls->dispose, "LLVMDisasmDispose") ||
        !tw_library_take(made->library, &calls->disassemble, "LLVMDisasmInstruction") ||
        !register_targets(made->library))
        return tw_fail(fault, TW_E_UNSUPPORTED, "no disassembly: %s lacks functions",
                       TW_LLVM_SONAME);
    return TW_OK;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

enum tw_status tw_disassembler_new(struct tw_disassembler **disassembler,
                                   const struct tw_disassembler_config *config,
                                   struct tw_fault *fault)
{
    struct tw_disassembler_config copy;
    struct tw_disassembler *made;
    enum tw_status status;

    *disassembler = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_disassembler_config", fault));
    config = &copy;
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a disassembler");
    if (config->allocator) {
        made->allocator_copy = *config->allocator;
        made->allocator = &made->allocator_copy;
    }
    made->is_m = tw_core_profile(config->core_type) == TW_PROFILE_M;
    made->symbols = config->symbols;
    made->find = config->find;
    made->context = config->context;
    status = load(made, fault);
    if (status == TW_OK)
        *disassembler = made;
    else
        tw_disassembler_free(made);
    return status;
}

void tw_disassembler_free(struct tw_disassembler *disassembler)
{
    struct tw_allocator allocator;
    bool is_ours;

    if (!disassembler)
        return;
    for (size_t i = 0; i < KINDS; i++)
        if (disassembler->contexts[i])
            disassembler->calls.dispose(disassembler->contexts[i]);
    /* The library stays: its lists of targets do not survive being loaded twice. */
    tw_give(disassembler->allocator, disassembler->known);
    allocator = disassembler->allocator_copy;
    is_ours = !disassembler->allocator;
    tw_give(is_ours ? NULL : &allocator, disassembler);
}

/* LLVM asks what lies at an address that an instruction refers to. */
static const char *look_up(void *context, uint64_t value, uint64_t *type, uint64_t pc,
                           const char **name)
{
    struct tw_disassembler *disassembler = context;
    const uint64_t asked = *type;

    (void)pc;
    *type = REFERENCE_NONE;
    *name = NULL;
    if (asked == REFERENCE_BRANCH) {
        disassembler->has_target = true;
        disassembler->target = value;
    } else if (asked == REFERENCE_PCREL_LOAD || asked == REFERENCE_ARM64_LDRXL ||
               asked == REFERENCE_ARM64_ADR) {
        disassembler->has_literal = true;
        disassembler->literal = value;
    }
    return NULL; /* no name: the address itself is printed */
}

static enum kind kind_of(const struct tw_disassembler *disassembler, uint8_t isa)
{
    switch (isa) {
    case TW_ISA_A64:
        return A64;
    case TW_ISA_A32:
        return A32;
    case TW_ISA_T32:
    case TW_ISA_TEE:
        return disassembler->is_m ? T32_M : T32;
    case TW_ISA_RV32:
        return RV32;
    case TW_ISA_RV64:
        return RV64;
    default:
        return KINDS;
    }
}

static void *context_for(struct tw_disassembler *disassembler, enum kind kind, uint64_t address)
{
    const struct calls *calls = &disassembler->calls;
    void **context = &disassembler->contexts[kind];

    if (*context && disassembler->open && disassembler->next != address &&
        (kind == T32 || kind == T32_M)) {
        calls->dispose(*context);
        *context = NULL;
        disassembler->open = 0;
    }
    if (!*context) {
        *context = calls->create(targets[kind].triple, "", targets[kind].features, disassembler,
                                 0, NULL, look_up);
        if (*context)
            (void)calls->set_options(*context, OPTION_PRINT_IMM_HEX);
    }
    return *context;
}

/* Whether the text opens a block of conditional instructions; at most four follow. */
static bool opens_block(const char *text)
{
    return (begins(text, "it") && text[strspn(text, "ite")] == '\t') || begins(text, "vpst") ||
           begins(text, "vpt");
}

/* RISC-V's printer gives the distance of a branch, the last operand: replaces it by the target. */
static void show_target(struct tw_disassembler *disassembler, char *text, size_t room,
                        const struct tw_code_bytes *code)
{
    static const struct tw_rv_options options = { .has_zcmp = false };
    struct tw_rv_instruction about;
    char *operand = strrchr(text, ' ');
    struct tw_text out;

    tw_rv_classify(&about, tw_instruction_opcode(code), code->address, code->isa, &options);
    if (about.flow.kind != TW_FLOW_BRANCH)
        return;
    if (!operand)
        operand = strrchr(text, '\t');
    if (!operand)
        return;
    operand++;
    out = tw_text_in(operand, room - (size_t)(operand - text));
    tw_text_hex(&out, about.flow.target);
    disassembler->has_target = true;
    disassembler->target = about.flow.target;
}

static void put_name(struct tw_text *out, const struct tw_disassembler *disassembler)
{
    const uint64_t target = disassembler->target;
    struct tw_symbol symbol;

    if (!(disassembler->symbols && tw_symbols_find(disassembler->symbols, &symbol, target)) &&
        !(disassembler->find && disassembler->find(disassembler->context, &symbol, target)))
        return;
    tw_text_add(out, " <");
    tw_text_add(out, symbol.name);
    if (disassembler->target != symbol.address) {
        tw_text_char(out, '+');
        tw_text_hex(out, disassembler->target - symbol.address);
    }
    tw_text_char(out, '>');
}

/* LLVM's line, "\tmnemonic\toperands", as ours. */
static void put_line(struct tw_text *out, char *line)
{
    const size_t left = out->room - out->size - 1;
    size_t size;

    line += *line == '\t';
    for (size = 0; line[size]; size++)
        if (line[size] == '\t' || line[size] == '\n')
            line[size] = ' ';
    tw_text_add_size(out, line, size < left ? size : left);
    out->failed |= size > left;
}

/* What an address in it means. */
static void put_meaning(struct tw_text *out, const struct tw_disassembler *disassembler,
                        enum kind kind)
{
    if (disassembler->has_target)
        put_name(out, disassembler);
    if (disassembler->has_literal) {
        tw_text_add(out, targets[kind].comment);
        tw_text_hex(out, disassembler->literal);
    }
}

static void put_unknown(struct tw_text *out, const struct tw_code_bytes *code, size_t size)
{
    tw_text_format(out, ".inst 0x%0*x", (int)(2 * size), (unsigned)tw_instruction_opcode(code));
}

/* Where the text of this instruction is kept; NULL: it is not. */
static struct tw_known *known_of(struct tw_disassembler *disassembler, struct tw_known_key *key,
                                 const struct tw_code_bytes *code, enum kind kind)
{
    if (kind != A64 || !tw_known_key(key, tw_instruction_opcode(code), code->address))
        return NULL;
    if (!disassembler->known) /* without memory for it, each is asked for */
        disassembler->known =
            tw_take(disassembler->allocator, sizeof(struct tw_known) << TW_KNOWN_BITS);
    return disassembler->known ? tw_known_at(disassembler->known, key) : NULL;
}

/* Whether the addresses that LLVM told of are those that the key has. */
static bool is_as_told(const struct tw_disassembler *disassembler,
                       const struct tw_known_key *key)
{
    return disassembler->has_target == (key->hole == TW_HOLE_TARGET) &&
           disassembler->has_literal == (key->hole == TW_HOLE_DISTANCE) &&
           (!disassembler->has_target || disassembler->target == key->address) &&
           (!disassembler->has_literal || disassembler->literal == key->address);
}

static void put_known(struct tw_text *out, struct tw_disassembler *disassembler,
                      const struct tw_known *known, const struct tw_known_key *key)
{
    tw_known_put(out, known, key);
    disassembler->has_target = key->hole == TW_HOLE_TARGET;
    disassembler->has_literal = key->hole == TW_HOLE_DISTANCE;
    disassembler->target = disassembler->literal = key->address;
}

/* LLVM's text of the instruction, as far as it is in the bytes; false: it has none. */
static bool ask(struct tw_disassembler *disassembler, struct tw_text *out,
                const struct tw_code_bytes *code, size_t size, enum kind kind)
{
    void *context = context_for(disassembler, kind, code->address);
    uint8_t bytes[4] = { 0 };
    char line[256];

    memcpy(bytes, code->bytes, size);
    disassembler->has_target = disassembler->has_literal = false;
    disassembler->next = code->address + size;
    disassembler->open -= disassembler->open != 0;
    if (!context || disassembler->calls.disassemble(context, bytes, size, code->address, line,
                                                    sizeof line) != size)
        return false;
    if (opens_block(line + (line[0] == '\t')))
        disassembler->open = 4;
    if (kind == RV32 || kind == RV64)
        show_target(disassembler, line, sizeof line, code);
    put_line(out, line);
    return true;
}

size_t tw_disassemble(struct tw_disassembler *disassembler, char *text, size_t room,
                      const struct tw_code_bytes *code)
{
    const size_t size = tw_instruction_size(code);
    const enum kind kind = kind_of(disassembler, code->isa);
    struct tw_known_key key;
    struct tw_known *known;
    struct tw_text out;

    if (!room)
        return size;
    text[0] = 0;
    if (!size || kind == KINDS)
        return 0;
    out = tw_text_in(text, room);
    known = known_of(disassembler, &key, code, kind);
    if (known && tw_known_is(known, &key)) {
        put_known(&out, disassembler, known, &key);
    } else if (!ask(disassembler, &out, code, size, kind)) {
        put_unknown(&out, code, size);
        return size;
    } else if (known && is_as_told(disassembler, &key)) {
        tw_known_keep(known, &key, &out);
    }
    if (!out.failed)
        put_meaning(&out, disassembler, kind);
    return size;
}

#else

enum tw_status tw_disassembler_new(struct tw_disassembler **disassembler,
                                   const struct tw_disassembler_config *config,
                                   struct tw_fault *fault)
{
    (void)config;
    *disassembler = NULL;
    return tw_fail(fault, TW_E_UNSUPPORTED,
                   "this build has no disassembly; it needs a system with dlopen, and LLVM "
                   "(Debian: libllvm19)");
}

void tw_disassembler_free(struct tw_disassembler *disassembler)
{
    (void)disassembler;
}

size_t tw_disassemble(struct tw_disassembler *disassembler, char *text, size_t room,
                      const struct tw_code_bytes *code)
{
    (void)disassembler;
    if (room)
        text[0] = 0;
    return tw_instruction_size(code);
}

#endif
