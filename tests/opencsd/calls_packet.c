/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that no one should make: packets, statistics and printers. */
#include <stdio.h>
#include <string.h>

#include "calls.h"

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet)
{
    (void)context;
    (void)op;
    (void)index;
    (void)packet;
    return OCSD_RESP_CONT;
}

static void attach_odd(void)
{
    void *function = (void *)(uintptr_t)on_packet;

    for (int kind = 1; kind < 3; kind++) {
        dcd_tree_handle_t framed = framed_tree(kind), raw = raw_tree(kind);

        for (int type = 0; type < 4; type++) {
            const ocsd_c_api_cb_types wanted = (ocsd_c_api_cb_types)type;

            say("framed",
                lib->ocsd_dt_attach_packet_callback(framed, 0x10, wanted, function, NULL));
            say("no id",
                lib->ocsd_dt_attach_packet_callback(framed, 0x11, wanted, function, NULL));
            say("raw", lib->ocsd_dt_attach_packet_callback(raw, 0x11, wanted, function, NULL));
        }
    }
}

static void attach_null_handle(void)
{
    say("attach", lib->ocsd_dt_attach_packet_callback(NULL, 0x10, OCSD_C_API_CB_PKT_SINK,
                                                      (void *)(uintptr_t)on_packet, NULL));
}

static void attach_null_function(void)
{
    dcd_tree_handle_t tree = raw_tree(OCSD_CREATE_FLG_PACKET_PROC);

    say("attach",
        lib->ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK, NULL, NULL));
    (void)feed(tree, 0, 32);
}

static void stats(void)
{
    ocsd_decode_stats_t *found = NULL;
    dcd_tree_handle_t tree = framed_tree(OCSD_CREATE_FLG_PACKET_PROC);

    say("good", lib->ocsd_dt_get_decode_stats(tree, 0x10, &found));
    say("found", found != NULL);
    found = NULL;
    say("no id", lib->ocsd_dt_get_decode_stats(tree, 0x11, &found));
    say("found", found != NULL);
    say("reset", lib->ocsd_dt_reset_decode_stats(tree, 0x10));
    say("reset no id", lib->ocsd_dt_reset_decode_stats(tree, 0x11));
}

static void stats_null_handle(void)
{
    ocsd_decode_stats_t *found = NULL;

    say("get", lib->ocsd_dt_get_decode_stats(NULL, 0x10, &found));
}

static void stats_null_block(void)
{
    say("get", lib->ocsd_dt_get_decode_stats(framed_tree(1), 0x10, NULL));
}

static void packet_text(void)
{
    const uint64_t zeros[64] = { 0 };
    char text[512];

    for (int protocol = 0; protocol < 8; protocol++) {
        memset(text, 'x', sizeof text);
        (void)printf("%d: ", protocol);
        if (protocol == OCSD_PROTOCOL_ETE)
            continue; /* 1.3.3 has no text for it */
        say("", lib->ocsd_pkt_str((ocsd_trace_protocol_t)protocol, zeros, text, sizeof text));
        (void)puts(text);
        for (int size = -1; size < 4; size++) {
            memset(text, 'x', sizeof text);
            say("short", lib->ocsd_pkt_str((ocsd_trace_protocol_t)protocol, zeros, text, size));
            (void)printf("%.4s\n", text);
        }
    }
    say("no buffer", lib->ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, zeros, NULL, 100));
    say("custom", lib->ocsd_pkt_str(OCSD_PROTOCOL_CUSTOM_0, zeros, text, 100));
}

static void packet_text_null(void)
{
    char text[64];

    say("null", lib->ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, NULL, text, sizeof text));
}

static void element_text(void)
{
    ocsd_generic_trace_elem element;
    char text[512];

    for (int type = 0; type < 20; type++) {
        memset(&element, 0, sizeof element);
        lib->ocsd_gen_elem_init(&element, (ocsd_gen_trc_elem_t)type);
        memset(text, 'x', sizeof text);
        say("text", lib->ocsd_gen_elem_str(&element, text, sizeof text));
        (void)printf("%d %s\n", type, text);
        for (int size = -1; size < 4; size++) {
            memset(text, 'x', sizeof text);
            say("short", lib->ocsd_gen_elem_str(&element, text, size));
            (void)printf("%.4s\n", text);
        }
    }
    say("no buffer", lib->ocsd_gen_elem_str(&element, NULL, 100));
}

static void element_text_null(void)
{
    char text[64];

    say("null", lib->ocsd_gen_elem_str(NULL, text, sizeof text));
}

static void element_init_null(void)
{
    lib->ocsd_gen_elem_init(NULL, OCSD_GEN_TRC_ELEM_NO_SYNC);
    say("init", 0);
}

static void printers(void)
{
    dcd_tree_handle_t framed = framed_tree(OCSD_CREATE_FLG_PACKET_PROC);
    dcd_tree_handle_t full = framed_tree(OCSD_CREATE_FLG_FULL_DECODER);

    (void)lib->ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
    (void)lib->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    say("sink", lib->ocsd_dt_set_pkt_protocol_printer(framed, 0x10, 0));
    say("monitor", lib->ocsd_dt_set_pkt_protocol_printer(framed, 0x10, 1));
    say("again", lib->ocsd_dt_set_pkt_protocol_printer(framed, 0x10, 1));
    say("no id", lib->ocsd_dt_set_pkt_protocol_printer(framed, 0x11, 0));
    say("full sink", lib->ocsd_dt_set_pkt_protocol_printer(full, 0x10, 0));
    say("full monitor", lib->ocsd_dt_set_pkt_protocol_printer(full, 0x10, 1));
    say("elements", lib->ocsd_dt_set_gen_elem_printer(full));
    say("frames", lib->ocsd_dt_set_raw_frame_printer(framed, 3));
    say("frames again", lib->ocsd_dt_set_raw_frame_printer(framed, 3));
}

static void printers_null_handle(void)
{
    say("packets", lib->ocsd_dt_set_pkt_protocol_printer(NULL, 0x10, 0));
    say("elements", lib->ocsd_dt_set_gen_elem_printer(NULL));
    say("frames", lib->ocsd_dt_set_raw_frame_printer(NULL, 3));
}

static void frame_printer_without_frames(void)
{
    say("frames", lib->ocsd_dt_set_raw_frame_printer(raw_tree(1), 3));
}

const struct call_case packet_cases[] = { { "attach_odd", attach_odd },
                                          { "attach_null_handle", attach_null_handle },
                                          { "attach_null_function", attach_null_function },
                                          { "stats", stats },
                                          { "stats_null_handle", stats_null_handle },
                                          { "stats_null_block", stats_null_block },
                                          { "packet_text", packet_text },
                                          { "packet_text_null", packet_text_null },
                                          { "element_text", element_text },
                                          { "element_text_null", element_text_null },
                                          { "element_init_null", element_init_null },
                                          { "printers", printers },
                                          { "printers_null_handle", printers_null_handle },
                                          { "frame_printer_without_frames",
                                            frame_printer_without_frames },
                                          { NULL, NULL } };
