/* SPDX-License-Identifier: BSD-2-Clause */
/* The Trace Buffer Unit's writes to memory: translation, attributes, and writes that wait. */
#include "trbe/unit.h"

static void ask(const struct tw_trbe *unit, struct tw_trbe_walk *walk, uint64_t size)
{
    struct tw_trbe_state state;
    const uint64_t mar = unit->used[TW_TRBE_MAR];

    tw_trbe_get_state(unit, &state);
    *walk = (struct tw_trbe_walk){
        .address = unit->used[TW_TRBE_PTR],
        .size = size,
        .regime = state.regime,
        .security = state.owner_security,
        .is_stage1_off = state.effective_nvm,
        .physical = unit->used[TW_TRBE_PTR],
    };
    if (state.effective_nvm) {
        walk->attributes = (uint8_t)tw_trbe_bits(mar, 0, 8);
        walk->shareability = (uint8_t)tw_trbe_bits(mar, 8, 2);
    }
    if (state.is_external)
        walk->security = (uint8_t)tw_trbe_bits(mar, 10, 2);
    else
        walk->has_stage2 = state.owner_el == 1 && unit->used[TW_TRBE_HCR_EL2] & HCR_VM &&
                           tw_trbe_has_el2(unit, state.owner_security);
}

/* R_MXRFD, R_BRRRK: a stage 1 Address size fault for addresses that no memory has. */
static bool is_too_wide(const struct tw_trbe *unit, uint64_t address)
{
    const unsigned bits = unit->config.address_bits ? unit->config.address_bits : 48;

    return tw_trbe_is_self_hosted(unit) && tw_trbe_effective_nvm(unit) && bits < 64 &&
           address >> bits != 0;
}

static enum tw_trbe_reply translate(struct tw_trbe *unit, struct tw_trbe_walk *walk,
                                    uint64_t size)
{
    enum tw_trbe_reply reply = TW_TRBE_DONE;

    ask(unit, walk, size);
    if (is_too_wide(unit, walk->address)) {
        walk->fault = (struct tw_trbe_fault){ .class_code = TW_TRBE_EC_STAGE1, .status = 0 };
        reply = TW_TRBE_FAULT;
    } else if (unit->config.translate) {
        reply = unit->config.translate(unit->config.context, walk);
    }
    if (walk->size > size)
        walk->size = size;
    if (reply == TW_TRBE_DONE && walk->size == 0)
        reply = TW_TRBE_BUSY; /* an answer for no byte at all */
    if (reply == TW_TRBE_FAULT && walk->fault.class_code != TW_TRBE_EC_STAGE2 &&
        walk->fault.class_code != TW_TRBE_EC_GPC)
        walk->fault.class_code = TW_TRBE_EC_STAGE1;
    return reply;
}

static enum tw_trbe_reply write_now(struct tw_trbe *unit, struct tw_trbe_store *store)
{
    const uint64_t mpam = unit->used[TW_TRBE_MPAM];
    enum tw_trbe_reply reply = TW_TRBE_DONE;

    store->done = store->size;
    if (!tw_trbe_is_self_hosted(unit) && mpam >> 26 & 1) {
        store->has_mpam = true;
        store->mpam_space = (uint8_t)tw_trbe_bits(mpam, 24, 2);
        store->pmg = (uint8_t)tw_trbe_bits(mpam, 16, 8);
        store->partid = (uint16_t)mpam;
    }
    if (unit->config.write)
        reply = unit->config.write(unit->config.context, store);
    if (store->done > store->size)
        store->done = store->size;
    if (reply == TW_TRBE_DONE)
        store->done = store->size;
    unit->counts.written += store->done;
    return reply;
}

/* An External abort on one byte.  True: it is over, go on behind that byte. */
static bool absorb_abort(struct tw_trbe *unit, const struct tw_trbe_fault *fault)
{
    if (unit->config.aborts == 1)
        return true;
    if (unit->config.aborts == 2 || tw_trbe_has(unit, TW_TRBE_V9_3)) {
        unit->has_fault_pointer = true;
        tw_trbe_tell(unit, TW_TRBE_ON_SERROR, fault->status, 0);
        return true;
    }
    return false;
}

static struct tw_trbe_fault synchronous(const struct tw_trbe_fault *fault)
{
    struct tw_trbe_fault reported = *fault;

    if (reported.class_code != TW_TRBE_EC_STAGE2 && reported.class_code != TW_TRBE_EC_GPC)
        reported.class_code = TW_TRBE_EC_STAGE1;
    if (reported.status == 0)
        reported.status = 0x10;
    return reported;
}

static enum tw_trbe_reply write_run(struct tw_trbe *unit, const struct tw_trbe_walk *walk,
                                    const uint8_t *bytes, size_t *size)
{
    const size_t wanted = *size;
    size_t done = 0;

    while (done < wanted) {
        struct tw_trbe_store store = {
            .address = walk->address + done,
            .physical = walk->physical + done,
            .bytes = bytes + done,
            .size = wanted - done,
            .security = walk->security,
            .attributes = walk->attributes,
            .shareability = walk->shareability,
        };
        const enum tw_trbe_reply reply = write_now(unit, &store);

        done += store.done;
        if (reply == TW_TRBE_DONE)
            break;
        *size = done;
        if (reply == TW_TRBE_BUSY || done == wanted)
            return reply == TW_TRBE_BUSY ? TW_TRBE_BUSY : TW_TRBE_DONE;
        if (!absorb_abort(unit, &store.fault)) {
            const struct tw_trbe_fault fault = synchronous(&store.fault);

            tw_trbe_report(unit, &fault);
            return TW_TRBE_FAULT;
        }
        done++; /* the byte that met the abort counts as written */
    }
    *size = wanted;
    return TW_TRBE_DONE;
}

static void wait_run(struct tw_trbe *unit, const struct tw_trbe_walk *walk,
                     const uint8_t *bytes, size_t size)
{
    const uint32_t room = unit->config.queue;

    for (size_t i = 0; i < size; i++) {
        if (unit->waiting_count == room)
            tw_trbe_perform(unit, 1);
        unit->waiting[(unit->waiting_first + unit->waiting_count) % room] =
            (struct tw_trbe_waiting){
                .address = walk->address + i,
                .physical = walk->physical + i,
                .byte = bytes[i],
                .security = walk->security,
                .attributes = walk->attributes,
                .shareability = walk->shareability,
            };
        unit->waiting_count++;
    }
}

/* The oldest waiting writes reach memory.  Aborts come late: they are asynchronous. */
void tw_trbe_perform(struct tw_trbe *unit, uint32_t count)
{
    for (; count && unit->waiting_count; count--) {
        const struct tw_trbe_waiting next = unit->waiting[unit->waiting_first];
        struct tw_trbe_store store = {
            .address = next.address,
            .physical = next.physical,
            .bytes = &next.byte,
            .size = 1,
            .security = next.security,
            .attributes = next.attributes,
            .shareability = next.shareability,
        };

        unit->waiting_first = (unit->waiting_first + 1) % unit->config.queue;
        unit->waiting_count--;
        if (unit->synchronized)
            unit->synchronized--;
        if (write_now(unit, &store) == TW_TRBE_FAULT)
            tw_trbe_abort(unit, &store.fault);
    }
}

/* At TRBPTR; *size becomes what was written.  A fault is reported here. */
enum tw_trbe_reply tw_trbe_store_bytes(struct tw_trbe *unit, const uint8_t *bytes, size_t *size)
{
    struct tw_trbe_walk walk;
    const enum tw_trbe_reply reply = translate(unit, &walk, *size);

    if (reply != TW_TRBE_DONE) {
        *size = 0;
        if (reply == TW_TRBE_FAULT)
            tw_trbe_report(unit, &walk.fault);
        return reply;
    }
    *size = (size_t)walk.size;
    if (unit->config.timing == TW_TRBE_SEQUENTIAL)
        return write_run(unit, &walk, bytes, size);
    wait_run(unit, &walk, bytes, *size);
    return TW_TRBE_DONE;
}
