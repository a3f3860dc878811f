/* SPDX-License-Identifier: BSD-2-Clause */
/* The drop-in for OpenCSD by itself: memory, threads, and what clients do that the original does not bear. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <opencsd/c_api/opencsd_c_api.h>

enum { ID = 0x10, START = 0x1000, LOOPS = 1000, PAGES = 4, PAGE = 4096 };

/* ---- A program and its trace */

/* A loop over four pages: at the end of the last a branch back to the start. */
static uint8_t code[PAGES * PAGE];

static void make_code(void)
{
    const uint32_t nop = 0xd503201f, back = 0x14000000 | ((1u << 26) - (PAGES * PAGE / 4 - 1));

    for (size_t i = 0; i < sizeof code; i += 4)
        memcpy(code + i, i + 4 == sizeof code ? &back : &nop, 4);
}

static size_t put(uint8_t *out, size_t at, const uint8_t *bytes, size_t size)
{
    memcpy(out + at, bytes, size);
    return at + size;
}

/* A-Sync, Trace Info, Trace On, the start in a context, and that the branch was taken, again and again. */
static size_t make_trace(uint8_t *out, unsigned loops, uint8_t context_id)
{
    static const uint8_t head[] = { 0, 0, 0, 0,    0,    0,    0,    0,
                                    0, 0, 0, 0x80, 0x01, 0x01, 0x00, 0x04 };
    const uint8_t place[] = {
        0x85, 0x00, 0x08, 0x00, 0, 0, 0, 0, 0, 0xb1, context_id, 0, 0, 0
    };
    size_t at = put(out, 0, head, sizeof head);

    at = put(out, at, place, sizeof place);
    for (unsigned i = 0; i < loops; i++)
        out[at++] = 0xf7;
    return at;
}

static dcd_tree_handle_t make_tree(int flags)
{
    const ocsd_etmv4_cfg config = { .reg_idr0 = 0x28000ea1,
                                    .reg_idr1 = 0x4100f403,
                                    .reg_idr2 = 0x488,
                                    .reg_configr = 0xc1,
                                    .reg_traceidr = ID,
                                    .arch_ver = ARCH_V8,
                                    .core_prof = profile_CortexA };
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    unsigned char id = 0;

    CHECK(tree != NULL);
    CHECK_EQ(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, flags, &config, &id),
             OCSD_OK);
    CHECK_EQ(id, ID);
    return tree;
}

struct seen {
    unsigned ranges, missing, no_sync, others;
    uint64_t instructions;
};

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct seen *seen = (struct seen *)(uintptr_t)context;

    (void)index;
    (void)id;
    switch (element->elem_type) {
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        seen->ranges++;
        seen->instructions += element->num_instr_range;
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        seen->missing++;
        break;
    case OCSD_GEN_TRC_ELEM_NO_SYNC:
        seen->no_sync++;
        break;
    default:
        seen->others++;
        break;
    }
    return OCSD_RESP_CONT;
}

static void feed(dcd_tree_handle_t tree, ocsd_trc_index_t index, const uint8_t *bytes,
                 size_t size)
{
    uint32_t used = 0;

    CHECK_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, index, (uint32_t)size, bytes, &used),
             OCSD_RESP_CONT);
    CHECK_EQ(used, size);
}

/* ---- Memory */

struct reads {
    unsigned count;
    bool has_none; /* there is no code */
};

static uint32_t read_code(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint8_t id,
                          const uint32_t size, uint8_t *out)
{
    struct reads *reads = (struct reads *)(uintptr_t)context;
    const uint64_t offset = address - START;
    const uint64_t rest = offset < sizeof code ? sizeof code - offset : 0;
    const uint32_t given = (uint32_t)(rest < size ? rest : size);

    (void)space;
    CHECK_EQ(id, ID);
    reads->count++;
    if (reads->has_none)
        return 0;
    memcpy(out, code + (offset < sizeof code ? offset : 0), given);
    return given;
}

static dcd_tree_handle_t make_reading_tree(struct seen *seen, struct reads *reads)
{
    dcd_tree_handle_t tree = make_tree(OCSD_CREATE_FLG_FULL_DECODER);

    memset(seen, 0, sizeof *seen);
    memset(reads, 0, sizeof *reads);
    make_code();
    CHECK_EQ(ocsd_dt_set_gen_elem_outfn(tree, on_element, seen), OCSD_OK);
    CHECK_EQ(ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~(ocsd_vaddr_t)0, OCSD_MEM_SPACE_ANY,
                                                read_code, reads),
             OCSD_OK);
    return tree;
}

static void memory_is_asked_once_for_a_page(void **state)
{
    uint8_t trace[64 + LOOPS];
    const size_t size = make_trace(trace, LOOPS, 1);
    struct seen seen;
    struct reads reads;
    dcd_tree_handle_t tree = make_reading_tree(&seen, &reads);

    (void)state;
    feed(tree, 0, trace, size);
    CHECK_EQ(seen.ranges, LOOPS);
    CHECK_EQ(seen.instructions, (uint64_t)LOOPS * sizeof code / 4);
    CHECK_EQ(seen.missing, 0);
    CHECK(reads.count <= PAGES + 1);
    /* In pieces it is not asked again either. */
    for (unsigned i = 0; i < 10; i++)
        feed(tree, (ocsd_trc_index_t)(size + i), (const uint8_t[]){ 0xf7 }, 1);
    CHECK_EQ(seen.ranges, LOOPS + 10);
    CHECK(reads.count <= PAGES + 1);
    ocsd_destroy_dcd_tree(tree);
}

static void memory_is_asked_again_in_another_address_space(void **state)
{
    uint8_t trace[256];
    struct seen seen;
    struct reads reads;
    dcd_tree_handle_t tree = make_reading_tree(&seen, &reads);
    size_t size = make_trace(trace, 3, 1);
    unsigned asked;

    (void)state;
    feed(tree, 0, trace, size);
    asked = reads.count;
    CHECK_EQ(seen.missing, 0);
    reads.has_none = true; /* another process, without such code */
    feed(tree, 1000, trace, make_trace(trace, 3, 2));
    CHECK(reads.count > asked);
    CHECK(seen.missing > 0);
    CHECK_EQ(seen.ranges, 3);
    reads.has_none = false; /* and back */
    seen.missing = 0;
    size = make_trace(trace, 3, 1);
    feed(tree, 2000, trace, size);
    CHECK_EQ(seen.missing, 0);
    CHECK_EQ(seen.ranges, 6);
    ocsd_destroy_dcd_tree(tree);
}

static void memory_is_asked_again_after_a_change(void **state)
{
    uint8_t trace[256];
    struct seen seen;
    struct reads reads;
    dcd_tree_handle_t tree = make_reading_tree(&seen, &reads);
    const size_t size = make_trace(trace, 3, 1);

    (void)state;
    feed(tree, 0, trace, size);
    CHECK_EQ(seen.ranges, 3);
    CHECK_EQ(ocsd_dt_remove_mem_acc(tree, 0, OCSD_MEM_SPACE_ANY), OCSD_OK);
    feed(tree, (ocsd_trc_index_t)size, (const uint8_t[]){ 0xf7 }, 1);
    CHECK_EQ(seen.ranges, 3);
    CHECK_EQ(seen.missing, 1);
    CHECK_EQ(ocsd_dt_add_buffer_mem_acc(tree, START, OCSD_MEM_SPACE_ANY, code, sizeof code),
             OCSD_OK);
    feed(tree, 1000, trace, size);
    CHECK_EQ(seen.ranges, 6);
    ocsd_destroy_dcd_tree(tree);
}

static void memory_can_be_asked_every_time(void **state)
{
    uint8_t trace[256];
    struct seen seen;
    struct reads reads;
    dcd_tree_handle_t tree = make_reading_tree(&seen, &reads);
    const size_t size = make_trace(trace, 3, 1);
    unsigned asked;

    (void)state;
    CHECK_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 0, 0, 0), OCSD_OK);
    feed(tree, 0, trace, size);
    asked = reads.count;
    feed(tree, (ocsd_trc_index_t)size, (const uint8_t[]){ 0xf7 }, 1);
    CHECK(reads.count > asked);
    ocsd_destroy_dcd_tree(tree);
}

/* ---- The data path */

static void an_end_inside_a_packet_loses_the_way(void **state)
{
    uint8_t trace[256];
    struct seen seen;
    struct reads reads;
    dcd_tree_handle_t tree = make_reading_tree(&seen, &reads);
    const size_t size = make_trace(trace, 3, 1);

    (void)state;
    feed(tree, 0, trace, size);
    feed(tree, 100, (const uint8_t[]){ 0x85, 0x00 }, 2);
    CHECK_EQ(ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL), OCSD_RESP_CONT);
    feed(tree, 102, (const uint8_t[]){ 0xf7, 0xf7, 0xf7 }, 3);
    CHECK_EQ(seen.ranges, 3);
    feed(tree, 200, trace, size);
    CHECK_EQ(seen.ranges, 6);
    ocsd_destroy_dcd_tree(tree);
}

static void an_end_between_packets_does_not(void **state)
{
    uint8_t trace[256];
    struct seen seen;
    struct reads reads;
    dcd_tree_handle_t tree = make_reading_tree(&seen, &reads);
    const size_t size = make_trace(trace, 3, 1);

    (void)state;
    feed(tree, 0, trace, size);
    CHECK_EQ(ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL), OCSD_RESP_CONT);
    feed(tree, (ocsd_trc_index_t)size, (const uint8_t[]){ 0xf7, 0xf7 }, 2);
    CHECK_EQ(seen.ranges, 5);
    ocsd_destroy_dcd_tree(tree);
}

static void on_monitor(const void *context, const ocsd_datapath_op_t op,
                       const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                       const uint8_t *bytes)
{
    (void)context, (void)op, (void)index, (void)packet, (void)size, (void)bytes;
}

static void on_message(const void *context, const char *text, const int length)
{
    unsigned *count = (unsigned *)(uintptr_t)context;

    (void)length;
    *count += strstr(text, "OCSD_ERR_BAD_DECODE_PKT") != NULL;
}

/* Whoever looks at packets or not, and wherever the block ends. */
static void a_bad_packet_is_told_of_at_once(void **state)
{
    enum { LEAST = 30, MOST = 90, RESERVED = 0x08 };

    (void)state;
    (void)ocsd_def_errlog_init(OCSD_ERR_SEV_INFO,
                               1); /* decoders look at it when they are made */
    (void)ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    for (unsigned loops = LEAST; loops < MOST; loops++) {
        for (int is_monitored = 0; is_monitored < 2; is_monitored++) {
            uint8_t trace[64 + MOST];
            struct seen seen;
            struct reads reads;
            dcd_tree_handle_t tree = make_reading_tree(&seen, &reads);
            size_t size = make_trace(trace, loops, 1);
            unsigned messages = 0;

            CHECK_EQ(ocsd_def_errlog_set_strprint_cb(tree, &messages, on_message), OCSD_OK);
            if (is_monitored)
                CHECK_EQ(ocsd_dt_attach_packet_callback(tree, ID, OCSD_C_API_CB_PKT_MON,
                                                        (void *)(uintptr_t)on_monitor, NULL),
                         OCSD_OK);
            trace[size++] = RESERVED;
            feed(tree, 0, trace, size);
            CHECK_EQ(messages, 1);
            CHECK_EQ(seen.ranges, loops);
            feed(tree, (ocsd_trc_index_t)size, (const uint8_t[]){ 0xf7 }, 1);
            CHECK_EQ(messages, 1);
            CHECK_EQ(seen.ranges, loops);
            CHECK_EQ(seen.no_sync, 2); /* at the beginning, and now */
            ocsd_destroy_dcd_tree(tree);
        }
    }
}

/* The first FSYNC may be cut anywhere, and bytes before it are nothing. */
static void an_fsync_is_found_in_pieces(void **state)
{
    static const uint8_t before[] = { 0x55, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f };
    uint8_t trace[64], stream[sizeof before + 64] = { 0 };
    const size_t size = make_trace(trace, 14, 1); /* 44 bytes: three frames of them, less one */

    (void)state;
    memcpy(stream, before, sizeof before);
    for (size_t i = 0, at = sizeof before; i < size; at++) {
        const size_t place = (at - sizeof before) % 16;

        if (at == sizeof before)
            stream[at] = ID << 1 | 1;
        if (at == sizeof before || place == 15)
            continue;
        stream[at] = trace[i++];
        if (place % 2 == 0 &&
            stream[at] & 1) { /* its lowest bit goes to the end of the frame */
            stream[at] &= 0xfe;
            stream[at - place + 15] |= (uint8_t)(1u << place / 2);
        }
    }
    for (size_t cut = 0; cut <= sizeof before; cut += 2) {
        const ocsd_etmv4_cfg config = { .reg_idr0 = 0x28000ea1,
                                        .reg_idr1 = 0x4100f403,
                                        .reg_idr2 = 0x488,
                                        .reg_configr = 0xc1,
                                        .reg_traceidr = ID,
                                        .arch_ver = ARCH_V8,
                                        .core_prof = profile_CortexA };
        dcd_tree_handle_t tree = ocsd_create_dcd_tree(
            OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS);
        struct seen seen = { 0 };
        unsigned char id = 0;

        make_code();
        CHECK(tree != NULL);
        CHECK_EQ(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I,
                                        OCSD_CREATE_FLG_FULL_DECODER, &config, &id),
                 OCSD_OK);
        CHECK_EQ(ocsd_dt_set_gen_elem_outfn(tree, on_element, &seen), OCSD_OK);
        CHECK_EQ(ocsd_dt_add_buffer_mem_acc(tree, START, OCSD_MEM_SPACE_ANY, code, sizeof code),
                 OCSD_OK);
        if (cut)
            feed(tree, 0, stream, cut);
        feed(tree, (ocsd_trc_index_t)cut, stream + cut, sizeof before + 48 - cut);
        CHECK_EQ(seen.ranges, 14);
        ocsd_destroy_dcd_tree(tree);
    }
}

/* ---- Handles */

static void a_handle_that_is_none_is_found_out(void **state)
{
    const uint8_t bytes[16] = { 0 };
    dcd_tree_handle_t old = make_tree(OCSD_CREATE_FLG_PACKET_PROC), other;
    uint32_t used = 0;

    (void)state;
    ocsd_destroy_dcd_tree(old);
    ocsd_destroy_dcd_tree(old);
    other = make_tree(OCSD_CREATE_FLG_PACKET_PROC);
    CHECK(other != old);
    CHECK_EQ(ocsd_dt_process_data(old, OCSD_OP_DATA, 0, 16, bytes, &used),
             OCSD_RESP_FATAL_NOT_INIT);
    CHECK_EQ(ocsd_dt_process_data((dcd_tree_handle_t)&used, OCSD_OP_DATA, 0, 16, bytes, &used),
             OCSD_RESP_FATAL_NOT_INIT);
    CHECK_EQ(ocsd_dt_process_data(other, OCSD_OP_DATA, 0, 16, bytes, &used), OCSD_RESP_CONT);
    ocsd_destroy_dcd_tree(other);
}

/* ---- Threads */

static void *decode_many(void *context)
{
    struct seen *sum = context;
    uint8_t trace[64 + LOOPS];
    const size_t size = make_trace(trace, LOOPS, 1);

    for (unsigned i = 0; i < 20; i++) {
        struct seen seen = { 0 };
        struct reads reads = { 0 };
        dcd_tree_handle_t tree = make_tree(OCSD_CREATE_FLG_FULL_DECODER);

        (void)ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 1);
        (void)ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
        (void)ocsd_dt_set_gen_elem_outfn(tree, on_element, &seen);
        (void)ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~(ocsd_vaddr_t)0, OCSD_MEM_SPACE_ANY,
                                                 read_code, &reads);
        feed(tree, 0, trace, size);
        sum->ranges += seen.ranges;
        sum->instructions += seen.instructions;
        ocsd_destroy_dcd_tree(tree);
    }
    return NULL;
}

static void trees_of_several_threads_do_not_meet(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct seen sums[THREADS];

    (void)state;
    make_code();
    memset(sums, 0, sizeof sums);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, decode_many, &sums[i]), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(sums[i].ranges, 20 * LOOPS);
        CHECK_EQ(sums[i].instructions, (uint64_t)20 * LOOPS * sizeof code / 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_asked_once_for_a_page),
        cmocka_unit_test(memory_is_asked_again_in_another_address_space),
        cmocka_unit_test(memory_is_asked_again_after_a_change),
        cmocka_unit_test(memory_can_be_asked_every_time),
        cmocka_unit_test(an_end_inside_a_packet_loses_the_way),
        cmocka_unit_test(an_end_between_packets_does_not),
        cmocka_unit_test(a_bad_packet_is_told_of_at_once),
        cmocka_unit_test(an_fsync_is_found_in_pieces),
        cmocka_unit_test(a_handle_that_is_none_is_found_out),
        cmocka_unit_test(trees_of_several_threads_do_not_meet),
    };

    return cmocka_run_group_tests_name("opencsd", tests, NULL, NULL);
}
