/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit: tables K10-6 to K10-19 of the Arm manual, element by element and byte by byte, and
   what our decoder and OpenCSD make of the bytes. */
#include "etmv4/test_example.h"
#include "etmv4/test_peer.h"

#include <stdarg.h>

#define PATH                                                                                   \
    "i 0x1000 14000400\n"                                                                      \
    "nops 2000 2008\n"                                                                         \
    "i 0x200c 54007fa0\n"                                                                      \
    "i 0x2010 d503201f\n"

/* clang-format off */
static const struct {
    const char *name;
    const char *registers;
    const char *log;
    const char *elements;
    const char *decoded; /* what a decoder makes of it */
    const char *bytes;   /* behind the A-Sync */
} examples[] = {
    { "K10-6", "", PATH "exception irq return=0x2014",
      BEGIN "atom(E) atom(N) exception(14,0x2014)", .decoded = "on ctx(EL0N) 1000-1004E 2000-2010N 2010-2014E exc(14,2014)",
      .bytes = "01 00 04 81 30 95 80 08 D9 06 1D 95 85 10" },
    { "K10-7", "TRCVIIECTLR=0x10000 TRCACVR0=0x2000 TRCACVR1=0x200f",
      PATH "exception irq return=0x2014",
      BEGIN "atom(E) trace_on address(0x2010) exception(14,0x2014)",
      .decoded = "on ctx(EL0N) 1000-1004E on 2010-2014E exc(14,2014)",
      .bytes = "01 00 04 81 30 95 80 08 F7 04 95 84 10 06 1D 95 05" },
    { "K10-8", SPEC, "speculate on\n" PATH "cancel 5\nexception irq return=0x2000\ncommit",
      BEGIN "atom(E) atom(N) cancel(1) exception(14,0x2000) commit(2)",
      .decoded = "on ctx(EL0N) 1000-1004E exc(14,2000)",
      .bytes = "01 00 04 81 30 95 80 08 D9 2E 01 06 1D 95 80 10 2D 02" },
    { "K10-9", SPEC, "speculate on\n" PATH "cancel 4\nexception data-fault return=0x2004\ncommit",
      BEGIN "atom(E) atom(N) cancel(1) exception(12,0x2004) commit(2)",
      .decoded = "on ctx(EL0N) 1000-1004E 2000-2004E exc(12,2004)",
      .bytes = "01 00 04 81 30 95 80 08 D9 2E 01 06 19 95 81 10 2D 02" },
    { "K10-10", SPEC,
      "speculate on\n" PATH "cancel 4\nexception data-fault return=0x2004\n"
      "exception irq return=0x4000\ncommit",
      BEGIN "atom(E) atom(N) cancel(1) exception(12,0x2004) address(0x4000) "
            "exception(14,0x4000) commit(3)",
      .decoded = "on ctx(EL0N) 1000-1004E 2000-2004E exc(12,2004) exc(14,4000)",
      .bytes = "01 00 04 81 30 95 80 08 D9 2E 01 06 19 95 81 10 06 5C 95 80 20 2D 03" },
    { "K10-11", "TRCCONFIGR=0x41",
      "context el=1 cid=0xaa\ni 0x1000 14000400\nnops 2000 2004\ni 0x2008 d5033fdf\n"
      "context cid=0xbb\ni 0x200c d503201f\nexception irq return=0x2010\ncontext cid=0xcc\n"
      "i 0x3000 14000001",
      "trace_info trace_on " EL1("0xaa") " address(0x1000) atom(E) atom(E) " EL1("0xbb")
          " exception(14,0x2010) " EL1("0xcc") " address(0x3000) atom(E)",
      .decoded = "on ctx(EL1N,aa) 1000-1004E 2000-200cE ctx(EL1N,bb) 200c-2010E exc(14,2010) ctx(EL1N,cc) 3000-3004E",
      .bytes = "01 00 04 81 B1 AA 00 00 00 95 80 08 DB 81 B1 BB 00 00 00 06 1D 95 84 10 81 B1 CC 00 00 "
      "00 95 80 18 F7" },
    { "K10-12", "TRCCONFIGR=0x41",
      "context el=1 cid=0xaa\ni 0x1000 14000400\nnops 2000 2004\ni 0x2008 d5033fdf\n"
      "context cid=0xbb\nexception irq return=0x200c\ncontext cid=0xcc\ni 0x3000 14000001",
      "trace_info trace_on " EL1("0xaa") " address(0x1000) atom(E) atom(E) " EL1("0xbb")
          " exception(14,0x200c) " EL1("0xcc") " address(0x3000) atom(E)",
      .decoded = "on ctx(EL1N,aa) 1000-1004E 2000-200cE ctx(EL1N,bb) exc(14,200c) ctx(EL1N,cc) 3000-3004E",
      .bytes = "01 00 04 81 B1 AA 00 00 00 95 80 08 DB 81 B1 BB 00 00 00 06 1D 95 83 10 81 B1 CC 00 00 "
      "00 95 80 18 F7" },
    { "K10-13", "TRCCONFIGR=0x41",
      "context el=1 cid=0xaa\ni 0x1000 14000400\nnops 2000 2004\n"
      "exception irq return=0x2008\ncontext cid=0xcc\ni 0x3000 14000001",
      "trace_info trace_on " EL1("0xaa") " address(0x1000) atom(E) exception(14,0x2008) "
          EL1("0xcc") " address(0x3000) atom(E)",
      .decoded = "on ctx(EL1N,aa) 1000-1004E 2000-2008E exc(14,2008) ctx(EL1N,cc) 3000-3004E",
      .bytes = "01 00 04 81 B1 AA 00 00 00 95 80 08 F7 06 1D 95 82 10 81 B1 CC 00 00 00 95 80 18 F7" },
#define CALL                                                                                   \
    "isa a32\ni 0x1000 0b0003fe taken\ni 0x2000 e320f000\ni 0x2004 e320f000\n"                 \
    "i 0x2008 e320f000\ni 0x200c 0a0003fb\ni 0x2010 e320f000\ni 0x2014 e12fff1e taken 0x1004\n" \
    "i 0x1004 e320f000\ni 0x1008 ea000000"
    { "K10-14", SPEC, CALL,
      "trace_info trace_on " EL0_32 " address(0x1000) atom(E) atom(N) atom(E) address(0x1004) "
      "atom(E) commit(4)",
      .decoded = "on ctx(EL0N) 1000-1004E 2000-2010N 2010-2018E 1004-100cE",
      .bytes = "01 00 04 81 20 95 80 08 FD 95 01 F7 2D 04" },
    { "K10-15", SPEC "TRCCONFIGR=0x1001", CALL,
      "trace_info trace_on " EL0_32 " address(0x1000) atom(E) atom(N) atom(E) atom(E) commit(4)",
      .decoded = "on ctx(EL0N) 1000-1004E 2000-2010N 2010-2018E 1004-100cE",
      .bytes = "01 00 04 81 20 95 80 08 FD F7 2D 04" },
#define TRANSACTION                                                                            \
    "i 0x2000 d5233060\ntransaction start\ni 0x2004 d503201f\ni 0x2008 54000fe0\n"             \
    "nops 200c 2800\ni 0x2804 140001ff\n"
    { "K10-16", "",
      "i 0x2000 d5233060\ntransaction start\ni 0x2004 140000ff\nnops 2400 2800\n"
      "i 0x2804 14000001\ni 0x2808 d503307f\ntransaction commit\ni 0x280c 14000001",
      "trace_info trace_on " EL0 " address(0x2000) atom(E) transaction_start atom(E) atom(E) "
      "transaction_commit atom(E)",
      .decoded = "on ctx(EL0N) 2000-2004E start 2004-2008E 2400-2808E commit 2808-2810E",
      .bytes = "01 00 04 81 30 95 80 10 F7 0A DB 0B F7" },
    { "K10-17", "",
      TRANSACTION "transaction fail\ni 0x2004 d503201f\ni 0x2008 54000fe0 taken",
      "trace_info trace_on " EL0 " address(0x2000) atom(E) transaction_start atom(N) atom(E) "
      "address(0x3000) transaction_failure address(0x2004) atom(E)",
      .decoded = "on ctx(EL0N) 2000-2004E start 2004-200cN 200c-2808E fail 2004-200cE",
      .bytes = "01 00 04 81 30 95 80 10 F7 0A DA 95 80 18 06 31 70 95 81 10 F7" },
    { "K10-18", SPEC,
      "speculate on\n" TRANSACTION
      "transaction fail cancel=513\ni 0x2004 d503201f\ni 0x2008 54000fe0 taken\ncommit",
      "trace_info trace_on " EL0 " address(0x2000) atom(E) transaction_start atom(N) atom(E) "
      "address(0x3000) cancel(2) transaction_failure address(0x2004) atom(E) commit(3)",
      .decoded = "on ctx(EL0N) 2000-2004E start fail 2004-200cE",
      .bytes = "01 00 04 81 30 95 80 10 F7 0A DA 95 80 18 2E 02 06 31 70 95 81 10 F7 2D 03" },
    { "K10-19", SPEC,
      "speculate on\ni 0x1000 54008000 taken\n" TRANSACTION
      "cancel 514 direction\ni 0x1004 14000001\ncommit",
      BEGIN "atom(E) atom(E) transaction_start atom(N) atom(E) cancel(4) mispredict atom(E) "
            "commit(2)",
      .decoded = "on ctx(EL0N) 1000-1004N 1004-1008E",
      .bytes = "01 00 04 81 30 95 80 08 DB 0A F6 3D F7 2D 02" },
};
/* clang-format on */

/* ---- and back ---- */

static void tell(char *out, const char *format, ...) TW_PRINTF(2, 3);
static void tell(char *out, const char *format, ...)
{
    const size_t used = strlen(out);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(out + used, TEXT_MOST - used, format, arguments);
    va_end(arguments);
}

static void tell_context(char *out, unsigned el, bool has_cid, uint32_t cid)
{
    tell(out, has_cid ? " ctx(EL%uN,%x)" : " ctx(EL%uN)", el, cid);
}

static void tell_element(char *out, const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_TRACE_ON:
        tell(out, "%son", *out ? " " : "");
        break;
    case TW_ELEMENT_PE_CONTEXT:
        tell_context(out, element->el, element->flags & TW_CONTEXT_HAS_CID,
                     element->context_id);
        break;
    case TW_ELEMENT_INSTR_RANGE:
        tell(out, " %" PRIx64 "-%" PRIx64 "%c", element->start, tw_element_end(element),
             element->flags & TW_RANGE_EXECUTED ? 'E' : 'N');
        break;
    case TW_ELEMENT_EXCEPTION:
        tell(out, " exc(%u,%" PRIx64 ")", element->number, element->return_address);
        break;
    case TW_ELEMENT_MEMTRANS:
        tell(out, " %s",
             element->kind == TW_TRANS_START    ? "start"
             : element->kind == TW_TRANS_COMMIT ? "commit"
                                                : "fail");
        break;
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_EO_TRACE:
        break;
    default:
        tell(out, " %s", tw_element_type_name(element->type));
    }
}

/* The code that an example runs. */
static struct tw_image *example_image(struct memory *memory, const char *text)
{
    static char log_text[TEXT_MOST];
    struct tw_log *log;
    struct tw_step step;

    expand(log_text, text);
    CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)log_text, strlen(log_text), NULL, NULL),
             TW_OK);
    while (tw_log_next(log, &step) == TW_OK)
        for (size_t i = 0; step.kind == TW_STEP_INSTRUCTIONS && i < step.count; i++)
            memory_add(memory, &step.instructions[i]);
    tw_log_free(log);
    return memory_image(memory);
}

#ifdef TW_PEER_OPENCSD
static void tell_peer(char *out, const struct peer_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const ocsd_generic_trace_elem *element = &list->items[i];

        switch (element->elem_type) {
        case OCSD_GEN_TRC_ELEM_TRACE_ON:
            tell(out, "%son", *out ? " " : "");
            break;
        case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
            tell_context(out, (unsigned)element->context.exception_level,
                         element->context.ctxt_id_valid, element->context.context_id);
            break;
        case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
            tell(out, " %" PRIx64 "-%" PRIx64 "%c", element->st_addr, element->en_addr,
                 element->last_instr_exec ? 'E' : 'N');
            break;
        case OCSD_GEN_TRC_ELEM_EXCEPTION:
            tell(out, " exc(%u,%" PRIx64 ")", element->exception_number, element->en_addr);
            break;
        case OCSD_GEN_TRC_ELEM_MEMTRANS:
            tell(out, " %s",
                 element->mem_trans == OCSD_MEM_TRANS_TRACE_INIT ? "init"
                 : element->mem_trans == OCSD_MEM_TRANS_START    ? "start"
                 : element->mem_trans == OCSD_MEM_TRANS_COMMIT   ? "commit"
                                                                 : "fail");
            break;
        default:
            break;
        }
    }
}

static void ask_peer(char *out, const struct tw_etmv4_unit *unit, struct tw_image *image,
                     const uint8_t *bytes, size_t size)
{
    struct peer_list list;

    peer_decode(unit, true, image, NULL, &list, bytes, size);
    tell_peer(out, &list);
    free(list.items);
}
#else
static void ask_peer(char *out, const struct tw_etmv4_unit *unit, struct tw_image *image,
                     const uint8_t *bytes, size_t size)
{
    (void)out;
    (void)unit;
    (void)image;
    (void)bytes;
    (void)size;
}
#endif

/* A unit with the example's registers, for its decoders. */
static struct tw_etmv4_unit *example_unit(const char *registers)
{
    const struct tw_etmv4_unit_config config = { .size = sizeof config, .is_ete = true };
    struct tw_etmv4_unit *unit;

    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    set_registers(unit, "TRCTRACEIDR=0x10 TRCVICTLR=0x201 TRCCONFIGR=1");
    set_registers(unit, registers);
    return unit;
}

static void the_tables_of_the_manual_there_and_back(void **state)
{
    static char out[TEXT_MOST];

    (void)state;
    for (size_t i = 0; i < LENGTH(examples); i++) {
        struct memory memory = { 0 };
        struct decoding decoding;
        struct tw_image *image;
        struct tw_etmv4_unit *unit;
        struct tw_batch batch = { .size = sizeof batch };
        uint8_t *bytes;
        size_t size;

        CHECK_CASE(examples[i].name);
        bytes = check_example((struct tw_etmv4_unit_config){ .is_ete = true },
                              examples[i].registers, examples[i].log, examples[i].elements,
                              examples[i].bytes, &size);
        image = example_image(&memory, examples[i].log);
        unit = example_unit(examples[i].registers);
        decoding = decoding_new(unit, true, image, false);
        CHECK_EQ(tw_tree_feed(decoding.tree, bytes, size), TW_OK);
        CHECK_EQ(tw_tree_finish(decoding.tree), TW_OK);
        out[0] = 0;
        while (tw_tree_next(decoding.tree, &batch) == TW_OK)
            for (size_t j = 0; j < batch.count; j++)
                tell_element(out, &batch.elements[j]);
        CHECK_TEXT(out, examples[i].decoded);
        out[0] = 0;
        ask_peer(out, unit, image, bytes, size);
        if (HAS_PEER)
            CHECK_TEXT(out, examples[i].decoded);
        tw_tree_free(decoding.tree);
        tw_etmv4_unit_free(unit);
        tw_image_free(image);
        memory_free(&memory);
        free(bytes);
    }
    CHECK_EQ(LENGTH(examples), 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_of_the_manual_there_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
