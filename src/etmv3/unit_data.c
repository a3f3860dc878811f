/* SPDX-License-Identifier: BSD-2-Clause */
/* The ETMv3 trace unit: transfers of data. */
#include "etmv3/unit.h"

#include "base/fault.h"

static uint8_t value_size(uint32_t value)
{
    return value > 0xffff ? 4 : value > 0xff ? 2 : value ? 1 : 0;
}

enum tw_status tw_etmv3_unit_access(struct tw_etmv3_unit *unit,
                                    const struct tw_etmv3_transfer *transfers, size_t count)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;

    if (!tw_etmv3_has_data(setup) || !unit->base.is_tracing)
        return TW_OK;
    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    for (size_t i = 0; i < count; i++) {
        const struct tw_etmv3_transfer *from = &transfers[i];
        struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_NORM_DATA } };

        if (from->tag > 3)
            return TW_E_ARGUMENT;
        packet.is_first =
            !from->has_no_address && (i == 0 || from->address != transfers[i - 1].address + 4 ||
                                      from->is_big_endian != transfers[i - 1].is_big_endian);
        packet.has_data_address = packet.is_first && setup->data_address;
        packet.data_address = packet.has_data_address ? from->address : 0;
        packet.is_big_endian = from->is_big_endian;
        packet.tag = from->tag;
        if (from->is_untraced) {
            packet.base.type = TW_ETMV3_VAL_NOT_TRACED;
            packet.tag = 0;
        } else if (from->tag) {
            packet.base.type = TW_ETMV3_OOO_ADDR_PLC;
        } else if (setup->data_value) {
            packet.has_value = true;
            packet.data_value = from->value;
            packet.value_size = value_size(from->value);
        }
        TW_TRY(tw_etmv3_unit_put(unit, &packet));
        if (from->has_failed && packet.has_value)
            TW_TRY(tw_etmv3_unit_put_simple(unit, TW_ETMV3_STORE_FAIL));
    }
    return TW_OK;
}

enum tw_status tw_etmv3_unit_data(struct tw_etmv3_unit *unit, unsigned tag, uint32_t value,
                                  bool has_failed)
{
    const struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_OOO_DATA },
                                            .tag = tag & 3,
                                            .has_value = true,
                                            .data_value = value,
                                            .value_size = value_size(value) };

    if (tag < 1 || tag > 3)
        return TW_E_ARGUMENT;
    if (!unit->writer.setup.data_value || !unit->base.is_tracing)
        return TW_OK;
    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    TW_TRY(tw_etmv3_unit_put(unit, &packet));
    return has_failed ? tw_etmv3_unit_put_simple(unit, TW_ETMV3_STORE_FAIL) : TW_OK;
}

enum tw_status tw_etmv3_unit_suppress(struct tw_etmv3_unit *unit)
{
    if (!tw_etmv3_has_data(&unit->writer.setup) || unit->writer.setup.data_only)
        return TW_OK;
    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    return tw_etmv3_unit_put_simple(unit, TW_ETMV3_DATA_SUPPRESSED);
}
