/* SPDX-License-Identifier: BSD-2-Clause */
/* A library with the OpenCSD interface, loaded by its path, so that two of them can be held against
   each other in one program. */
#ifndef OPENCSD_TESTS_LIBRARY_H
#define OPENCSD_TESTS_LIBRARY_H

#include <stdbool.h>

#include <opencsd/c_api/opencsd_c_api.h>

#define LIBRARY_FUNCTIONS(use)                                                                 \
    use(ocsd_get_version) use(ocsd_get_version_str) use(ocsd_create_dcd_tree)                  \
        use(ocsd_destroy_dcd_tree) use(ocsd_dt_process_data) use(ocsd_dt_set_gen_elem_outfn)   \
            use(ocsd_dt_create_decoder) use(ocsd_dt_remove_decoder) use(                       \
                ocsd_dt_attach_packet_callback) use(ocsd_dt_get_decode_stats)                  \
                use(ocsd_dt_reset_decode_stats) use(ocsd_dt_add_binfile_mem_acc) use(          \
                    ocsd_dt_add_binfile_region_mem_acc) use(ocsd_dt_add_buffer_mem_acc)        \
                    use(ocsd_dt_add_callback_mem_acc) use(ocsd_dt_add_callback_trcid_mem_acc)  \
                        use(ocsd_dt_remove_mem_acc) use(ocsd_tl_log_mapped_mem_ranges)         \
                            use(ocsd_def_errlog_init) use(ocsd_def_errlog_config_output) use(  \
                                ocsd_def_errlog_set_strprint_cb) use(ocsd_def_errlog_msgout)   \
                                use(ocsd_err_str) use(ocsd_get_last_err) use(ocsd_pkt_str)     \
                                    use(ocsd_gen_elem_str) use(ocsd_gen_elem_init)             \
                                        use(ocsd_dt_set_raw_frame_printer)                     \
                                            use(ocsd_dt_set_gen_elem_printer)                  \
                                                use(ocsd_dt_set_pkt_protocol_printer)          \
                                                    use(ocsd_register_custom_decoder)          \
                                                        use(ocsd_deregister_decoders)          \
                                                            use(ocsd_cust_protocol_to_str)

struct library {
    const char *name; /* for messages */
    void *handle;
#define LIBRARY_MEMBER(function) __typeof__(function) *function;
    LIBRARY_FUNCTIONS(LIBRARY_MEMBER)
#undef LIBRARY_MEMBER
};

/* False: it is not there; says why. */
bool library_open(struct library *library, const char *name, const char *path);

#endif
