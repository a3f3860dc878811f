/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway encode: what its encoders share, one for each kind of trace unit. */
#ifndef ENCODE_H
#define ENCODE_H

#include <trackway/capture.h>
#include <trackway/image.h>
#include <trackway/log.h>

#include "shared/arena.h"
#include "shared/option_text.h"
#include "shared/options.h"

enum { ENCODE_REGISTERS = 32 };

/* Code of the log that is in no program file. */
struct encode_page {
    uint64_t base;
    uint8_t *bytes; /* NULL: the program file has this page */
};

struct encoding {
    const struct options *options;
    const struct encoder *encoder;
    struct arena arena;
    struct tw_image *image;
    struct encode_page *pages;
    size_t page_count, page_room, last_page;
    uint64_t instructions;
    unsigned line;                            /* of a text log, that is at work; 0: of none */
    bool is_m;                                /* the log is of the M profile ... */
    const char *cpu;                          /* ... of this processor; NULL: it does not say */
    bool has_pointer_auth, has_late_branches; /* what of its code not every core has */

    /* What the encoder's begin and end fill. */
    void *unit;
    const char *device, *device_type, *core_type;
    struct tw_register registers[ENCODE_REGISTERS];
    size_t register_count;
    const uint8_t *bytes; /* the trace, valid until free */
    size_t size;
    const uint8_t *data_bytes; /* RISC-V: data trace that is a stream of its own */
    size_t data_size;
    const char *data_device_type;
    const char *text, *data_text; /* RISC-V: the configuration of each; or NULL */
    uint8_t id;
    bool is_of_no_core; /* STM */
    bool has_nonsecure; /* M profile: code of the Non-secure state ran */
};

/* Each says what is wrong when it returns false. */
struct encoder {
    const char *protocol;
    const char *presets; /* what --preset may be, as is_choice takes it; or NULL */
    bool takes_riscv;
    bool (*begin)(struct encoding *encoding);
    bool (*step)(struct encoding *encoding, const struct tw_step *step);
    bool (*run)(struct encoding *encoding); /* reads the log itself; or NULL: step does */
    bool (*end)(struct encoding *encoding);
    void (*free)(struct encoding *encoding);
};

extern const struct encoder encoder_ete, encoder_etmv4, encoder_etrace, encoder_ptm,
    encoder_etmv3, encoder_ntrace, encoder_itm, encoder_stm;

/* Calls `set` for each of "K=V,K=V" or each line "K=V" of a file. */
bool encode_settings(struct encoding *encoding, const char *text,
                     bool (*set)(struct encoding *encoding, const char *name, uint64_t value));

/* The snapshot of what the encoding holds. */
bool encode_write(struct encoding *encoding, const char *folder);

/* encode_arm.c: the names of an ETE or ETMv4 in a snapshot.  Call it when the code was seen. */
void encode_describe_arm(struct encoding *encoding, bool is_ete);
/* The core that an M-profile log is of, by a name that other decoders know too. */
const char *encode_m_core(const struct encoding *encoding);

/* encode_memory.c: the program's memory for the snapshot. */
bool encode_open_image(struct encoding *encoding);
bool encode_note_code(struct encoding *encoding, const struct tw_step *step);
bool encode_dumps(struct encoding *encoding, struct tw_snapshot_dump **dumps, size_t *count);
void encode_free_memory(struct encoding *encoding);

#endif
