/* SPDX-License-Identifier: BSD-2-Clause */
/* A simulator with a trace unit: simulator FILE writes the trace of a loop that it executes. */
#include <stdio.h>

#include <trackway/etmv4_unit.h>

/* At 0x1000: add, subs, b.ne 0x1000, ret. */
static const uint32_t code[] = { 0x8b020020, 0xf1000463, 0x54ffffc1, 0xd65f03c0 };

static enum tw_status execute(struct tw_etmv4_unit *unit)
{
    for (unsigned left = 100; left; left--) {
        for (unsigned i = 0; i < (left > 1 ? 3 : 4); i++) {
            struct tw_retired at = { .address = 0x1000 + 4 * i,
                                     .isa = TW_ISA_A64,
                                     .opcode = code[i] };
            enum tw_status status;

            tw_retired_classify(&at, NULL);
            if (i == 2 && left > 1)
                at.flags |= TW_RETIRED_TAKEN;
            if (i == 3)
                at.target = 0x2000;
            status = tw_etmv4_unit_retire(unit, &at, 1);
            if (status != TW_OK)
                return status;
        }
    }
    return TW_OK;
}

int main(int argc, char **argv)
{
    const struct tw_etmv4_unit_config config = { .size = sizeof config, .is_ete = true };
    struct tw_etmv4_unit *unit;
    FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
    const uint8_t *bytes;
    size_t size;

    if (!file || tw_etmv4_unit_new(&unit, &config, NULL) != TW_OK)
        return fprintf(stderr, "usage: simulator FILE\n"), 3;
    if (tw_etmv4_unit_preset(unit, TW_ETMV4_UNIT_MINIMAL, 0, 0) != TW_OK ||
        tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 1) != TW_OK ||
        execute(unit) != TW_OK || tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 0) != TW_OK)
        return fprintf(stderr, "%s\n", tw_etmv4_unit_fault(unit)), 3;
    bytes = tw_etmv4_unit_output(unit, &size);
    printf("301 instructions in %zu bytes\n", size);
    size = fwrite(bytes, 1, size, file) - size;
    tw_etmv4_unit_free(unit);
    return fclose(file) || size ? 3 : 0;
}
