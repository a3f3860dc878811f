/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that no one should make: the log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

static void on_text(const void *context, const char *text, const int length)
{
    (void)printf("[%s] %d %s\n", (const char *)context, length, text);
}

static void show_file(const char *path)
{
    char line[512];
    FILE *file = fopen(path, "r");

    while (file && fgets(line, sizeof line, file))
        (void)printf("%s: %s", path, line);
    if (file)
        (void)fclose(file);
    else
        (void)printf("%s: none\n", path);
    (void)remove(path);
}

static void before_init(void)
{
    dcd_tree_handle_t tree = framed_tree(0);
    ocsd_trc_index_t index = 7;
    uint8_t id = 7;
    char text[256] = "xyz";

    say("config", lib->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_STDOUT, NULL));
    say("callback", lib->ocsd_def_errlog_set_strprint_cb(tree, NULL, on_text));
    lib->ocsd_def_errlog_msgout("nowhere\n");
    say("last", lib->ocsd_get_last_err(&index, &id, text, sizeof text));
    (void)printf("%u %u %s\n", (unsigned)index, id, text);
}

static void outputs(void)
{
    dcd_tree_handle_t tree = framed_tree(0);

    for (int flags = 0; flags < 8; flags++) {
        say("init", lib->ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
        say("config", lib->ocsd_def_errlog_config_output(flags & ~C_API_MSGLOGOUT_FLG_STDERR,
                                                         flags & 1 ? "calls_log.txt" : NULL));
        lib->ocsd_def_errlog_msgout("a line\n");
        (void)fflush(stdout);
        show_file("calls_log.txt");
        show_file("ocsd_trace_decode.log");
        say("callback",
            lib->ocsd_def_errlog_set_strprint_cb(tree, (void *)(uintptr_t) "one", on_text));
        lib->ocsd_def_errlog_msgout("another\n");
        (void)fflush(stdout);
        show_file("calls_log.txt");
        show_file("ocsd_trace_decode.log");
    }
    say("empty name", lib->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, ""));
    lib->ocsd_def_errlog_msgout("more\n");
    show_file("ocsd_trace_decode.log");
}

static void verbosities(void)
{
    for (int verbosity = 0; verbosity < 5; verbosity++) {
        dcd_tree_handle_t tree;
        ocsd_trc_index_t index = 7;
        uint8_t id = 7;
        char text[256] = "";

        say("init", lib->ocsd_def_errlog_init((ocsd_err_severity_t)verbosity, 1));
        (void)lib->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
        tree = framed_tree(OCSD_CREATE_FLG_PACKET_PROC);
        (void)lib->ocsd_def_errlog_set_strprint_cb(tree, (void *)(uintptr_t) "one", on_text);
        (void)feed(tree, 0, 15);
        (void)feed(tree, 16, 16);
        lib->ocsd_tl_log_mapped_mem_ranges(tree);
        (void)lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_EL1N, small_code,
                                              16);
        lib->ocsd_tl_log_mapped_mem_ranges(tree);
        say("last", lib->ocsd_get_last_err(&index, &id, text, sizeof text));
        (void)printf("%u %u %s\n", (unsigned)index, id, text);
        lib->ocsd_destroy_dcd_tree(tree);
    }
}

/* Where a printer writes is settled when it is made. */
static void two_trees(void)
{
    dcd_tree_handle_t trees[2];

    for (unsigned i = 0; i < 2; i++) {
        trees[i] = raw_tree(OCSD_CREATE_FLG_PACKET_PROC);
        (void)lib->ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 1);
        (void)lib->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
        (void)lib->ocsd_def_errlog_set_strprint_cb(
            trees[i], (void *)(uintptr_t)(i ? "two" : "one"), on_text);
        (void)lib->ocsd_dt_set_pkt_protocol_printer(trees[i], 0x10, 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        (void)feed(trees[i], 0, 31);
        say("reset", lib->ocsd_dt_process_data(trees[i], OCSD_OP_RESET, 0, 0, NULL, NULL));
    }
    lib->ocsd_def_errlog_msgout("to the last\n");
}

static void error_texts(void)
{
    char text[256];

    for (int code = 0; code < 33; code++) { /* what follows is in disorder in 1.3.3 */
        lib->ocsd_err_str((ocsd_err_t)code, text, sizeof text);
        (void)printf("%d %s\n", code, text);
    }
    for (int size = 1; size < 5; size++) {
        memset(text, 'x', sizeof text);
        lib->ocsd_err_str(OCSD_ERR_MEM, text, size);
        (void)printf("%d %.6s\n", size, text);
    }
}

static void error_text_null(void)
{
    lib->ocsd_err_str(OCSD_ERR_MEM, NULL, 10);
    say("text", 0);
}

static void error_text_size_0(void)
{
    char text[8] = "xyz";

    lib->ocsd_err_str(OCSD_ERR_MEM, text, 0);
    say("text", text[0]);
}

static void message_null(void)
{
    (void)lib->ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
    lib->ocsd_def_errlog_msgout(NULL);
    say("message", 0);
}

static void last_error_null(void)
{
    say("last", lib->ocsd_get_last_err(NULL, NULL, NULL, 0));
}

static void callback_null_handle(void)
{
    (void)lib->ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
    say("callback", lib->ocsd_def_errlog_set_strprint_cb(NULL, NULL, on_text));
}

static void callback_null_function(void)
{
    dcd_tree_handle_t tree = framed_tree(0);

    (void)lib->ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
    (void)lib->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    say("callback", lib->ocsd_def_errlog_set_strprint_cb(tree, NULL, NULL));
    lib->ocsd_def_errlog_msgout("nowhere\n");
}

const struct call_case log_cases[] = { { "log_before_init", before_init },
                                       { "log_outputs", outputs },
                                       { "log_verbosities", verbosities },
                                       { "log_two_trees", two_trees },
                                       { "error_texts", error_texts },
                                       { "error_text_null", error_text_null },
                                       { "error_text_size_0", error_text_size_0 },
                                       { "message_null", message_null },
                                       { "last_error_null", last_error_null },
                                       { "log_callback_null_handle", callback_null_handle },
                                       { "log_callback_null_function", callback_null_function },
                                       { NULL, NULL } };
