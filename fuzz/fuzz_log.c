/* SPDX-License-Identifier: BSD-2-Clause */
/* Execution logs from any bytes, and what trace units make of them: a unit never breaks, and what
   it makes are good packets. */
#include <stdlib.h>

#include <trackway/etmv4.h>
#include <trackway/etmv4_unit.h>
#include <trackway/log.h>

enum { CONFIG_BYTES = 4, STEPS_MOST = 3000, BYTES_MOST = 1 << 18, CYCLES_MOST = 64 };

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static void set(struct tw_etmv4_unit *unit, const char *name, uint64_t value)
{
    require(tw_etmv4_unit_write_register(unit, name, value) == TW_OK);
}

static struct tw_etmv4_unit *make_unit(const uint8_t *bytes)
{
    const struct tw_etmv4_unit_config config = { .size = sizeof config,
                                                 .is_ete = bytes[0] & 1,
                                                 .is_self_hosted = bytes[0] & 2,
                                                 .no_gathering = bytes[0] & 4,
                                                 .source_addresses = bytes[0] >> 3 & 3,
                                                 .q_instructions = bytes[0] >> 5 & 3,
                                                 .fifo_size = bytes[0] & 0x80 ? 64 : 0 };
    struct tw_etmv4_unit *unit;
    uint64_t idr0;

    require(tw_etmv4_unit_new(&unit, &config, NULL) == TW_OK);
    require(tw_etmv4_unit_read_register(unit, &idr0, "TRCIDR0") == TW_OK);
    set(unit, "TRCIDR0", idr0 ^ (uint64_t)(bytes[3] & 3) << 29);
    set(unit, "TRCIDR8", bytes[3] >> 2 & 31);
    set(unit, "TRCTRACEIDR", 0x10);
    set(unit, "TRCCONFIGR", 1 | (uint64_t)bytes[1] << 3 | (uint64_t)bytes[2] << 11);
    set(unit, "TRCVICTLR", 0x201);
    set(unit, "TRCSYNCPR", bytes[3] & 0x80 ? 8 : 0);
    set(unit, "TRCCCCTLR", 4);
    set(unit, "TRCRSCTLR2", 1);
    set(unit, "TRCEVENTCTL0R", bytes[3] & 0x40 ? 2 : 0);
    set(unit, "TRCEVENTCTL1R", 1);
    set(unit, "TRFCR_EL1", 1);
    return unit;
}

static void check_packets(const struct tw_etmv4_unit *unit, bool is_ete)
{
    struct tw_register registers[32];
    struct tw_etmv4_config config;
    struct tw_etmv4_reader *reader;
    struct tw_etmv4_packet packet;
    size_t count = 0, size, at = 0;
    const uint8_t *bytes = tw_etmv4_unit_output(unit, &size);

    while (tw_etmv4_unit_register(unit, &registers[count], count) == TW_OK)
        count++;
    require(tw_etmv4_config_from(&config, registers, count, is_ete ? "ARM-AA64" : "Cortex-A57",
                                 is_ete, NULL) == TW_OK);
    require(tw_etmv4_reader_new(&reader, &config, NULL, NULL) == TW_OK);
    while (at < size) {
        require(tw_etmv4_read(reader, &packet, bytes + at, size - at, true) == TW_OK);
        require(!tw_etmv4_type_is_bad(packet.base.type));
        at += packet.base.size;
    }
    tw_etmv4_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_log *log;
    struct tw_etmv4_unit *unit;
    struct tw_step step;
    unsigned steps = 0;
    size_t made = 0;

    if (size < CONFIG_BYTES)
        return 0;
    if (tw_log_open_memory(&log, data + CONFIG_BYTES, size - CONFIG_BYTES, NULL, NULL) != TW_OK)
        return 0;
    unit = make_unit(data);
    require(tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 1) == TW_OK);
    while (steps++ < STEPS_MOST && made < BYTES_MOST && tw_log_next(log, &step) == TW_OK) {
        if ((step.kind == TW_STEP_CYCLES || step.kind == TW_STEP_CLOCK) &&
            step.value > CYCLES_MOST)
            step.value = CYCLES_MOST; /* one at a time would take long */
        if (tw_etmv4_unit_step(unit, &step) != TW_OK)
            break;
        (void)tw_etmv4_unit_output(unit, &made);
    }
    (void)(tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 0) == TW_OK);
    check_packets(unit, data[0] & 1);
    tw_etmv4_unit_free(unit);
    tw_log_free(log);
    return 0;
}
