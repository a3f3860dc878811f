/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoders that the client brings, used well and badly. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

/* A decoder of four-byte packets: each becomes a packet and, in full decoders, an element. */
struct echo_config {
    uint8_t id;
    bool is_bad; /* what it fills in is not complete */
    ocsd_err_t error;
};

struct echo {
    ocsd_extern_dcd_cb_fns library;
    bool is_full;
    uint8_t id;
    uint8_t buffered[4];
    unsigned count;
    ocsd_trc_index_t index;
};

static int made, freed;

static ocsd_datapath_resp_t send(struct echo *echo)
{
    const ocsd_extern_dcd_cb_fns *library = &echo->library;
    ocsd_generic_trace_elem element;

    if (library->packetCBFlags & OCSD_CUST_DCD_PKT_CB_USE_MON)
        library->fn_packet_mon(library->lib_context, OCSD_OP_DATA, echo->index, echo->buffered,
                               4, echo->buffered);
    if (library->packetCBFlags & OCSD_CUST_DCD_PKT_CB_USE_SINK)
        return library->fn_packet_data_sink(library->lib_context, OCSD_OP_DATA, echo->index,
                                            echo->buffered);
    if (!echo->is_full)
        return OCSD_RESP_CONT;
    memset(&element, 0, sizeof element);
    lib->ocsd_gen_elem_init(&element, OCSD_GEN_TRC_ELEM_CUSTOM);
    return library->fn_gen_elem_out(library->lib_context, echo->index, echo->id, &element);
}

static ocsd_datapath_resp_t take(const void *handle, const ocsd_datapath_op_t op,
                                 const ocsd_trc_index_t index, const uint32_t size,
                                 const uint8_t *data, uint32_t *used)
{
    struct echo *echo = (struct echo *)(uintptr_t)handle;
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    uint32_t at = 0;

    if (op != OCSD_OP_DATA) {
        (void)printf("op %d %u %d\n", (int)op, (unsigned)index, used != NULL);
        return OCSD_RESP_CONT;
    }
    while (at < size && OCSD_DATA_RESP_IS_CONT(answer)) {
        if (!echo->count)
            echo->index = index + at;
        echo->buffered[echo->count++] = data[at++];
        if (echo->count == 4) {
            answer = send(echo);
            echo->count = 0;
        }
    }
    *used = at;
    return answer;
}

static void update(const void *handle, const int flags)
{
    struct echo *echo = (struct echo *)(uintptr_t)handle;

    (void)printf("flags %d\n", flags);
    echo->library.packetCBFlags = flags;
}

static ocsd_err_t create(const int flags, const void *config,
                         const ocsd_extern_dcd_cb_fns *library,
                         ocsd_extern_dcd_inst_t *instance)
{
    static char name[] = "ECHO";
    const struct echo_config *wanted = config;
    struct echo *echo;

    (void)printf("create %x %d\n", (unsigned)flags, library->packetCBFlags);
    if (wanted->error)
        return wanted->error;
    echo = calloc(1, sizeof *echo);
    if (!echo)
        return OCSD_ERR_MEM;
    made++;
    echo->library = *library;
    echo->is_full = (flags & OCSD_CREATE_FLG_FULL_DECODER) != 0;
    echo->id = wanted->id;
    *instance = (ocsd_extern_dcd_inst_t){ .fn_data_in = take,
                                          .fn_update_pkt_mon = wanted->is_bad ? NULL : update,
                                          .decoder_handle = echo,
                                          .p_decoder_name = name,
                                          .cs_id = wanted->id };
    return OCSD_OK;
}

static ocsd_err_t destroy(const void *handle)
{
    freed++;
    free((void *)(uintptr_t)handle);
    return OCSD_OK;
}

static ocsd_err_t id_of(const void *config, unsigned char *id)
{
    *id = ((const struct echo_config *)config)->id;
    return *id == 0x6f ? OCSD_ERR_INVALID_ID : OCSD_OK;
}

static ocsd_err_t text_of(const void *packet, char *buffer, const int size)
{
    const uint8_t *bytes = packet;

    (void)snprintf(buffer, (size_t)size, "ECHO %02x%02x%02x%02x", bytes[0], bytes[1], bytes[2],
                   bytes[3]);
    return OCSD_OK;
}

static ocsd_extern_dcd_fact_t factory(void)
{
    return (ocsd_extern_dcd_fact_t){ create, destroy, id_of, text_of, OCSD_PROTOCOL_UNKNOWN };
}

/* ---- Registering */

static void registering(void)
{
    ocsd_extern_dcd_fact_t good = factory(), bad;
    char name[16];

    bad = good;
    bad.createDecoder = NULL;
    say("no create", lib->ocsd_register_custom_decoder("A", &bad));
    bad = good;
    bad.destroyDecoder = NULL;
    say("no destroy", lib->ocsd_register_custom_decoder("A", &bad));
    bad = good;
    bad.csidFromConfig = NULL;
    say("no id", lib->ocsd_register_custom_decoder("A", &bad));
    bad = good;
    bad.pktToString = NULL;
    say("built in", lib->ocsd_register_custom_decoder("ETMV4I", &good));
    say("no text", lib->ocsd_register_custom_decoder("A", &bad));
    say("number", bad.protocol_id);
    say("again", lib->ocsd_register_custom_decoder("A", &good));
    for (int i = 0; i < 11; i++) {
        (void)snprintf(name, sizeof name, "B%d", i);
        say(name, lib->ocsd_register_custom_decoder(name, &good));
        say("number", good.protocol_id);
    }
    say("deregister", lib->ocsd_deregister_decoders());
}

static void register_null(void)
{
    ocsd_extern_dcd_fact_t good = factory();

    say("name", lib->ocsd_register_custom_decoder(NULL, &good));
}

static void register_null_factory(void)
{
    say("factory", lib->ocsd_register_custom_decoder("A", NULL));
}

static void texts(void)
{
    static const uint8_t packet[4] = { 0xde, 0xad, 0xbe, 0xef };
    ocsd_extern_dcd_fact_t good = factory(), plain = factory();
    char text[128] = "";

    plain.pktToString = NULL;
    (void)lib->ocsd_register_custom_decoder("GOOD", &good);
    (void)lib->ocsd_register_custom_decoder("PLAIN", &plain);
    say("good", lib->ocsd_cust_protocol_to_str(good.protocol_id, packet, text, sizeof text));
    (void)puts(text);
    say("plain", lib->ocsd_cust_protocol_to_str(plain.protocol_id, packet, text, sizeof text));
    (void)puts(text);
    say("packet", lib->ocsd_pkt_str(good.protocol_id, packet, text, sizeof text));
    (void)puts(text);
    say("none",
        lib->ocsd_cust_protocol_to_str(OCSD_PROTOCOL_CUSTOM_9, packet, text, sizeof text));
    say("built in",
        lib->ocsd_cust_protocol_to_str(OCSD_PROTOCOL_ETMV4I, packet, text, sizeof text));
}

/* ---- Decoding */

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    (void)context;
    (void)printf("element %u %u %d\n", (unsigned)index, id, (int)element->elem_type);
    return index % 3 ? OCSD_RESP_CONT : OCSD_RESP_WAIT;
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet)
{
    const uint8_t *bytes = packet;

    (void)context;
    (void)printf("packet %d %u %02x%02x\n", (int)op, (unsigned)index, bytes[0], bytes[3]);
    return index % 3 ? OCSD_RESP_CONT : OCSD_RESP_WAIT;
}

static void on_monitor(const void *context, const ocsd_datapath_op_t op,
                       const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                       const uint8_t *bytes)
{
    (void)context;
    (void)packet;
    (void)printf("monitor %d %u %u %02x\n", (int)op, (unsigned)index, (unsigned)size, bytes[0]);
}

static void decode(bool is_framed, int flags, const struct echo_config *config)
{
    static uint8_t frames[64];
    ocsd_extern_dcd_fact_t good = factory();
    dcd_tree_handle_t tree = is_framed ? framed_tree(0) : raw_tree(0);
    unsigned char id = 0xee;
    uint32_t used = 0;

    memset(frames, 0x42, sizeof frames);
    frames[0] = (uint8_t)(config->id << 1 | 1);
    (void)lib->ocsd_register_custom_decoder("ECHO", &good);
    say("create", lib->ocsd_dt_create_decoder(tree, "ECHO", flags, config, &id));
    say("id", id);
    say("again", lib->ocsd_dt_create_decoder(tree, "ECHO", flags, config, &id));
    say("elements", lib->ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    if (flags & OCSD_CREATE_FLG_PACKET_PROC)
        say("sink", lib->ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK,
                                                        (void *)(uintptr_t)on_packet, NULL));
    say("monitor", lib->ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_MON,
                                                       (void *)(uintptr_t)on_monitor, NULL));
    for (uint32_t done = 0, tries = 0; done < sizeof frames && tries < 40; tries++) {
        const ocsd_datapath_resp_t answer = lib->ocsd_dt_process_data(
            tree, OCSD_OP_DATA, done, (uint32_t)sizeof frames - done, frames + done, &used);

        (void)printf("used %u -> %d\n", (unsigned)used, (int)answer);
        done += used;
        if (OCSD_DATA_RESP_IS_WAIT(answer))
            say("flush", lib->ocsd_dt_process_data(tree, OCSD_OP_FLUSH, 5, 0, NULL, NULL));
    }
    say("end", lib->ocsd_dt_process_data(tree, OCSD_OP_EOT, 6, 0, NULL, NULL));
    say("reset", lib->ocsd_dt_process_data(tree, OCSD_OP_RESET, 7, 0, NULL, NULL));
    lib->ocsd_destroy_dcd_tree(tree);
    (void)printf("made %d freed %d\n", made, freed);
}

static void decode_packets(void)
{
    decode(false, OCSD_CREATE_FLG_PACKET_PROC, &(struct echo_config){ .id = 0x21 });
}

static void decode_full(void)
{
    decode(false, OCSD_CREATE_FLG_FULL_DECODER, &(struct echo_config){ .id = 0x21 });
}

static void decode_framed(void)
{
    decode(true, OCSD_CREATE_FLG_PACKET_PROC, &(struct echo_config){ .id = 0x21 });
}

static void decode_framed_full(void)
{
    decode(true, OCSD_CREATE_FLG_FULL_DECODER, &(struct echo_config){ .id = 0x21 });
}

static void create_odd(void)
{
    static const struct echo_config odd[] = { { .id = 0x6f },
                                              { .id = 0x22, .error = OCSD_ERR_FAIL } };
    ocsd_extern_dcd_fact_t good = factory();

    (void)lib->ocsd_register_custom_decoder("ECHO", &good);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        dcd_tree_handle_t tree = framed_tree(0);
        unsigned char id = 0xee;

        say("create", lib->ocsd_dt_create_decoder(tree, "ECHO", 1, &odd[i], &id));
        say("id", id);
    }
    say("deregister", lib->ocsd_deregister_decoders());
    say("gone",
        lib->ocsd_dt_create_decoder(framed_tree(0), "ECHO", 1, &odd[1], &(unsigned char){ 0 }));
}

/* fn_update_pkt_mon is missing. */
static void create_incomplete(void)
{
    const struct echo_config config = { .id = 0x22, .is_bad = true };
    ocsd_extern_dcd_fact_t good = factory();
    unsigned char id = 0xee;

    (void)lib->ocsd_register_custom_decoder("ECHO", &good);
    say("create", lib->ocsd_dt_create_decoder(framed_tree(0), "ECHO", 1, &config, &id));
}

/* ---- What the library offers */

static ocsd_extern_dcd_cb_fns kept;

static ocsd_err_t create_keeping(const int flags, const void *config,
                                 const ocsd_extern_dcd_cb_fns *library,
                                 ocsd_extern_dcd_inst_t *instance)
{
    kept = *library;
    return create(flags, config, library, instance);
}

static void start_keeping(dcd_tree_handle_t tree, int flags)
{
    const struct echo_config config = { .id = 0x21 };
    ocsd_extern_dcd_fact_t keeping = factory();
    unsigned char id;

    keeping.createDecoder = create_keeping;
    (void)lib->ocsd_register_custom_decoder("KEEPING", &keeping);
    say("create", lib->ocsd_dt_create_decoder(tree, "KEEPING", flags, &config, &id));
}

static void show_instruction(const char *name, ocsd_isa isa, uint32_t opcode)
{
    ocsd_instr_info info = { .pe_type = { ARCH_V8, profile_CortexA },
                             .isa = isa,
                             .instr_addr = 0x4000,
                             .opcode = opcode,
                             .dsb_dmb_waypoints = 1,
                             .wfi_wfe_branch = 1 };
    const int result = (int)kept.fn_arm_instruction_decode(kept.lib_context, &info);

    (void)printf("%s %d: ", name, result);
    if (result == OCSD_OK)
        (void)printf("%08" PRIx32 " type %d sub %d to %" PRIx64
                     " isa %d size %u cond %u link %u it %u",
                     info.opcode, (int)info.type, (int)info.sub_type,
                     info.type == OCSD_INSTR_BR ? info.branch_addr : 0, (int)info.next_isa,
                     info.instr_size, info.is_conditional, info.is_link,
                     isa == ocsd_isa_thumb2 ? info.thumb_it_conditions : 0u);
    (void)puts("");
}

static void library_instructions(void)
{
    start_keeping(framed_tree(0), OCSD_CREATE_FLG_FULL_DECODER);
    show_instruction("nop", ocsd_isa_aarch64, 0xd503201f);
    show_instruction("cbz", ocsd_isa_aarch64, 0xb4000040);
    show_instruction("bl", ocsd_isa_aarch64, 0x94000002);
    show_instruction("ret", ocsd_isa_aarch64, 0xd65f03c0);
    show_instruction("blr", ocsd_isa_aarch64, 0xd63f0000);
    show_instruction("eret", ocsd_isa_aarch64, 0xd69f03e0);
    show_instruction("isb", ocsd_isa_aarch64, 0xd5033fdf);
    show_instruction("dsb", ocsd_isa_aarch64, 0xd5033f9f);
    show_instruction("wfi", ocsd_isa_aarch64, 0xd503207f);
    show_instruction("beq", ocsd_isa_arm, 0x0afffffe);
    show_instruction("blx", ocsd_isa_arm, 0xfa000000);
    show_instruction("bx lr", ocsd_isa_arm, 0xe12fff1e);
    show_instruction("addne", ocsd_isa_arm, 0x12811001);
    show_instruction("blx", ocsd_isa_thumb2, 0xe802f000);
    show_instruction("bx lr", ocsd_isa_thumb2, 0xffff4770);
    show_instruction("beq", ocsd_isa_thumb2, 0xffffd0fe);
    show_instruction("itt", ocsd_isa_thumb2, 0xffffbf04);
    show_instruction("tee", ocsd_isa_tee, 0);
    show_instruction("jazelle", ocsd_isa_jazelle, 0);
    show_instruction("custom", ocsd_isa_custom, 0);
}

static void library_memory(void)
{
    dcd_tree_handle_t tree = framed_tree(0);
    uint8_t out[32];
    uint32_t count = 8;

    start_keeping(tree, OCSD_CREATE_FLG_FULL_DECODER);
    say("none", kept.fn_memory_access(kept.lib_context, 0x1000, 0x21, OCSD_MEM_SPACE_EL1N,
                                      &count, out));
    (void)lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, small_code, 16);
    for (unsigned i = 0; i < 4; i++) {
        count = 8;
        say("read", kept.fn_memory_access(kept.lib_context, 0xff8 + 8 * i, 0x21,
                                          OCSD_MEM_SPACE_EL1N, &count, out));
        say("count", count);
    }
    count = 8;
    say("cut", kept.fn_memory_access(kept.lib_context, 0x100c, 0x21, OCSD_MEM_SPACE_EL1N,
                                     &count, out));
    say("count", count);
}

static void library_of_packets(void)
{
    ocsd_generic_trace_elem element;
    uint8_t out[8];
    uint32_t count = 8;
    ocsd_instr_info info;

    memset(&info, 0, sizeof info);
    memset(&element, 0, sizeof element);
    start_keeping(framed_tree(0), OCSD_CREATE_FLG_PACKET_PROC);
    say("element", kept.fn_gen_elem_out(kept.lib_context, 0, 0x21, &element));
    say("memory",
        kept.fn_memory_access(kept.lib_context, 0, 0x21, OCSD_MEM_SPACE_ANY, &count, out));
    say("instruction", kept.fn_arm_instruction_decode(kept.lib_context, &info));
    say("sink", kept.fn_packet_data_sink(kept.lib_context, OCSD_OP_DATA, 0, out));
    kept.fn_packet_mon(kept.lib_context, OCSD_OP_DATA, 0, out, 4, out);
}

static void on_text(const void *context, const char *text, const int length)
{
    (void)context;
    (void)printf("%d %s\n", length, text);
}

static void library_log(void)
{
    dcd_tree_handle_t tree = framed_tree(0);

    (void)lib->ocsd_def_errlog_init(OCSD_ERR_SEV_WARN, 1);
    (void)lib->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    (void)lib->ocsd_def_errlog_set_strprint_cb(tree, NULL, on_text);
    start_keeping(tree, OCSD_CREATE_FLG_FULL_DECODER);
    for (int severity = 1; severity < 4; severity++) {
        kept.fn_log_error(kept.lib_context, (ocsd_err_severity_t)severity, OCSD_ERR_FAIL, 7,
                          0x21, "of mine");
        kept.fn_log_error(kept.lib_context, (ocsd_err_severity_t)severity, OCSD_ERR_FAIL, 7,
                          0x21, NULL);
        kept.fn_log_msg(kept.lib_context, (ocsd_err_severity_t)severity, "just so");
    }
}

const struct call_case custom_cases[] = {
    { "custom_registering", registering },
    { "custom_register_null", register_null },
    { "custom_register_null_factory", register_null_factory },
    { "custom_texts", texts },
    { "custom_packets", decode_packets },
    { "custom_full", decode_full },
    { "custom_framed", decode_framed },
    { "custom_framed_full", decode_framed_full },
    { "custom_create_odd", create_odd },
    { "custom_create_incomplete", create_incomplete },
    { "custom_library_instructions", library_instructions },
    { "custom_library_memory", library_memory },
    { "custom_library_of_packets", library_of_packets },
    { "custom_library_log", library_log },
    { NULL, NULL }
};
