/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that no one should make: trees, decoders and the data path. */
#include <stdio.h>
#include <string.h>

#include "calls.h"

static void version(void)
{
    say("version", lib->ocsd_get_version());
    (void)puts(lib->ocsd_get_version_str());
}

static void tree_flags(void)
{
    for (uint32_t flags = 0; flags < 0x80; flags++) {
        dcd_tree_handle_t framed =
            lib->ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, flags);
        dcd_tree_handle_t raw = lib->ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, flags);

        (void)printf("flags %x: %d %d\n", (unsigned)flags, framed != NULL, raw != NULL);
        lib->ocsd_destroy_dcd_tree(framed);
        lib->ocsd_destroy_dcd_tree(raw);
    }
}

static void destroy_null(void)
{
    lib->ocsd_destroy_dcd_tree(C_API_INVALID_TREE_HANDLE);
    say("destroyed", 0);
}

static void data_null_handle(void)
{
    uint32_t used = 7;

    say("data", lib->ocsd_dt_process_data(NULL, OCSD_OP_DATA, 0, 4, small_trace, &used));
    say("used", used);
    for (int op = 0; op < 5; op++)
        say("op", lib->ocsd_dt_process_data(NULL, (ocsd_datapath_op_t)op, 0, 0, NULL, NULL));
}

static void data_no_decoder(void)
{
    dcd_tree_handle_t raw = raw_tree(0), framed = framed_tree(0);

    (void)feed(raw, 0, 16);
    (void)feed(framed, 0, 16);
    for (int op = 1; op < 4; op++) {
        say("raw", lib->ocsd_dt_process_data(raw, (ocsd_datapath_op_t)op, 0, 0, NULL, NULL));
        say("framed",
            lib->ocsd_dt_process_data(framed, (ocsd_datapath_op_t)op, 0, 0, NULL, NULL));
    }
}

static void data_odd(void)
{
    const int kinds[] = { OCSD_CREATE_FLG_PACKET_PROC, OCSD_CREATE_FLG_FULL_DECODER };

    for (size_t i = 0; i < 2; i++) {
        dcd_tree_handle_t raw = raw_tree(kinds[i]);
        uint32_t used = 7;

        say("size 0", lib->ocsd_dt_process_data(raw, OCSD_OP_DATA, 0, 0, small_trace, &used));
        say("used", used);
        used = 7;
        say("no data", lib->ocsd_dt_process_data(raw, OCSD_OP_DATA, 0, 4, NULL, &used));
        say("used", used);
        say("no used", lib->ocsd_dt_process_data(raw, OCSD_OP_DATA, 0, 4, small_trace, NULL));
        say("op 4", lib->ocsd_dt_process_data(raw, (ocsd_datapath_op_t)4, 0, 0, NULL, NULL));
        say("op 77", lib->ocsd_dt_process_data(raw, (ocsd_datapath_op_t)77, 0, 0, NULL, NULL));
    }
}

static void data_odd_framed(void)
{
    dcd_tree_handle_t framed = framed_tree(OCSD_CREATE_FLG_PACKET_PROC);
    uint32_t used = 7;

    say("size 0", lib->ocsd_dt_process_data(framed, OCSD_OP_DATA, 0, 0, small_trace, &used));
    say("no data", lib->ocsd_dt_process_data(framed, OCSD_OP_DATA, 0, 16, NULL, &used));
    say("no used", lib->ocsd_dt_process_data(framed, OCSD_OP_DATA, 0, 16, small_trace, NULL));
    (void)feed(framed, 0, 15);
    (void)feed(framed, 0, 32);
    (void)feed(framed, 16, 16); /* not where the last one ended */
    say("op 9", lib->ocsd_dt_process_data(framed, (ocsd_datapath_op_t)9, 0, 0, NULL, NULL));
}

static void full_without_anything(void)
{
    dcd_tree_handle_t raw = raw_tree(OCSD_CREATE_FLG_FULL_DECODER);

    for (int op = 1; op < 4; op++)
        say("op", lib->ocsd_dt_process_data(raw, (ocsd_datapath_op_t)op, 0, 0, NULL, NULL));
    (void)feed(raw, 0, SMALL_TRACE);
    (void)feed(raw, 0, SMALL_TRACE);
}

static void create_odd(void)
{
    const ocsd_etmv4_cfg config = small_config(0x10);
    dcd_tree_handle_t tree = framed_tree(0);
    unsigned char id = 0xee;

    say("unknown", lib->ocsd_dt_create_decoder(tree, "NONE", 1, &config, &id));
    say("empty", lib->ocsd_dt_create_decoder(tree, "", 1, &config, &id));
    say("case", lib->ocsd_dt_create_decoder(tree, "etmv4i", 1, &config, &id));
    say("id", id);
    say("good", lib->ocsd_dt_create_decoder(tree, "ETMV4I", 1, &config, &id));
    say("id", id);
    say("again", lib->ocsd_dt_create_decoder(tree, "ETMV4I", 1, &config, &id));
    say("other", lib->ocsd_dt_create_decoder(tree, "ETE", 1,
                                             &(ocsd_ete_cfg){ .reg_traceidr = 0x10 }, &id));
    say("remove", lib->ocsd_dt_remove_decoder(tree, 0x10));
    say("remove again", lib->ocsd_dt_remove_decoder(tree, 0x10));
    say("remove 0", lib->ocsd_dt_remove_decoder(tree, 0));
    say("remove ff", lib->ocsd_dt_remove_decoder(tree, 0xff));
    say("once more", lib->ocsd_dt_create_decoder(tree, "ETMV4I", 2, &config, &id));
}

static void create_every_protocol(void)
{
    static const char *const names[] = {
        "ETMV3", "ETMV4I", "ETMV4D", "PTM", "STM", "ETE", "ITM"
    };
    const uint64_t zeros[32] = { 0 };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int flags = 0; flags < 4; flags++) {
            dcd_tree_handle_t tree = raw_tree(0);
            unsigned char id = 0xee;

            (void)printf("%s %d: ", names[i], flags);
            say("", lib->ocsd_dt_create_decoder(tree, names[i], flags, zeros, &id));
            say("id", id);
            lib->ocsd_destroy_dcd_tree(tree);
        }
}

static void create_null_handle(void)
{
    const ocsd_etmv4_cfg config = small_config(0x10);
    unsigned char id = 0xee;

    say("create", lib->ocsd_dt_create_decoder(NULL, "ETMV4I", 1, &config, &id));
}

static void create_null_name(void)
{
    const ocsd_etmv4_cfg config = small_config(0x10);
    unsigned char id = 0xee;

    say("create", lib->ocsd_dt_create_decoder(framed_tree(0), NULL, 1, &config, &id));
}

static void create_null_config(void)
{
    unsigned char id = 0xee;

    say("create", lib->ocsd_dt_create_decoder(framed_tree(0), "ETMV4I", 1, NULL, &id));
}

static void create_null_id(void)
{
    const ocsd_etmv4_cfg config = small_config(0x10);

    say("create", lib->ocsd_dt_create_decoder(framed_tree(0), "ETMV4I", 1, &config, NULL));
}

static void remove_null_handle(void)
{
    say("remove", lib->ocsd_dt_remove_decoder(NULL, 0x10));
}

static void destroy_twice(void)
{
    dcd_tree_handle_t tree = raw_tree(OCSD_CREATE_FLG_PACKET_PROC);

    lib->ocsd_destroy_dcd_tree(tree);
    lib->ocsd_destroy_dcd_tree(tree);
    say("data", feed(tree, 0, 16));
}

static void foreign_handle(void)
{
    static uint64_t no_tree[64];
    uint32_t used = 7;

    say("data", lib->ocsd_dt_process_data(no_tree, OCSD_OP_DATA, 0, 16, small_trace, &used));
    lib->ocsd_destroy_dcd_tree(no_tree);
}

/* ---- Every answer that a callback can give */

static int next_answer, element_count;

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    (void)context;
    (void)printf("element %u %u %d\n", (unsigned)index, id, (int)element->elem_type);
    return element_count++ % 2 ? (ocsd_datapath_resp_t)next_answer : OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet)
{
    (void)context;
    (void)packet;
    (void)printf("packet %d %u\n", (int)op, (unsigned)index);
    return element_count++ % 2 ? (ocsd_datapath_resp_t)next_answer : OCSD_RESP_CONT;
}

static void feed_slowly(dcd_tree_handle_t tree)
{
    size_t done = 0;

    for (unsigned tries = 0; tries < 40 && done < SMALL_TRACE; tries++) {
        uint32_t used = 0;
        const ocsd_datapath_resp_t answer = lib->ocsd_dt_process_data(
            tree, OCSD_OP_DATA, (ocsd_trc_index_t)done, (uint32_t)(SMALL_TRACE - done),
            small_trace + done, &used);

        (void)printf("used %u -> %d\n", (unsigned)used, (int)answer);
        done += used;
        if (!OCSD_DATA_RESP_IS_CONT(answer))
            say("flush", lib->ocsd_dt_process_data(tree, OCSD_OP_FLUSH, 0, 0, NULL, NULL));
    }
    say("end", lib->ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL));
    say("reset", lib->ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, NULL, NULL));
}

static void every_element_answer(void)
{
    for (next_answer = 0; next_answer < 10; next_answer++) {
        dcd_tree_handle_t tree = raw_tree(OCSD_CREATE_FLG_FULL_DECODER);

        (void)printf("answer %d\n", next_answer);
        element_count = 0;
        (void)lib->ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL);
        (void)lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, small_code, 16);
        feed_slowly(tree);
        lib->ocsd_destroy_dcd_tree(tree);
    }
}

static void every_packet_answer(void)
{
    for (next_answer = 0; next_answer < 10; next_answer++) {
        dcd_tree_handle_t tree = raw_tree(OCSD_CREATE_FLG_PACKET_PROC);

        (void)printf("answer %d\n", next_answer);
        element_count = 0;
        (void)lib->ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK,
                                                  (void *)(uintptr_t)on_packet, NULL);
        feed_slowly(tree);
        lib->ocsd_destroy_dcd_tree(tree);
    }
}

/* Without a FLUSH in between. */
static void data_after_wait(void)
{
    dcd_tree_handle_t tree = raw_tree(OCSD_CREATE_FLG_PACKET_PROC);
    size_t done = 0;

    next_answer = OCSD_RESP_WAIT;
    element_count = 0;
    (void)lib->ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK,
                                              (void *)(uintptr_t)on_packet, NULL);
    for (unsigned tries = 0; tries < 40 && done < SMALL_TRACE; tries++) {
        uint32_t used = 0;

        say("data", lib->ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)done,
                                              (uint32_t)(SMALL_TRACE - done),
                                              small_trace + done, &used));
        done += used;
    }
}

static void flags_for_bad_packets(void)
{
    static const int flags[] = {
        OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS, OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS,
        OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS,   OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS,
        OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS,  OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS
    };

    next_answer = OCSD_RESP_CONT;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        for (int kind = 1; kind < 3; kind++) {
            dcd_tree_handle_t tree = raw_tree(kind | flags[i]);

            (void)printf("flags %x\n", (unsigned)flags[i]);
            (void)lib->ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK,
                                                      (void *)(uintptr_t)on_packet, NULL);
            (void)lib->ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL);
            (void)lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, small_code,
                                                  16);
            feed_slowly(tree);
            lib->ocsd_destroy_dcd_tree(tree);
        }
}

static void output_null_handle(void)
{
    say("outfn", lib->ocsd_dt_set_gen_elem_outfn(NULL, on_element, NULL));
}

static void output_null_function(void)
{
    dcd_tree_handle_t tree = raw_tree(OCSD_CREATE_FLG_FULL_DECODER);

    say("outfn", lib->ocsd_dt_set_gen_elem_outfn(tree, NULL, NULL));
    (void)lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, small_code, 16);
    (void)feed(tree, 0, SMALL_TRACE);
}

const struct call_case tree_cases[] = { { "version", version },
                                        { "tree_flags", tree_flags },
                                        { "destroy_null", destroy_null },
                                        { "data_null_handle", data_null_handle },
                                        { "data_no_decoder", data_no_decoder },
                                        { "data_odd", data_odd },
                                        { "data_odd_framed", data_odd_framed },
                                        { "full_without_anything", full_without_anything },
                                        { "create_odd", create_odd },
                                        { "create_every_protocol", create_every_protocol },
                                        { "create_null_handle", create_null_handle },
                                        { "create_null_name", create_null_name },
                                        { "create_null_config", create_null_config },
                                        { "create_null_id", create_null_id },
                                        { "remove_null_handle", remove_null_handle },
                                        { "destroy_twice", destroy_twice },
                                        { "foreign_handle", foreign_handle },
                                        { "every_element_answer", every_element_answer },
                                        { "every_packet_answer", every_packet_answer },
                                        { "data_after_wait", data_after_wait },
                                        { "flags_for_bad_packets", flags_for_bad_packets },
                                        { "output_null_handle", output_null_handle },
                                        { "output_null_function", output_null_function },
                                        { NULL, NULL } };
