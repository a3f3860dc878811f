/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose the buffer is: MDCR_EL3.{NSTBE,NSTB} names a Security state, SCR_EL3.{NSE,NS} selects one. */
#include "trbe/sequence.h"

#define SCR_NS     ((uint64_t)1)
#define SCR_NSE    ((uint64_t)1 << 62)
#define MDCR_NSTB  ((uint64_t)1 << 25) /* the upper of its two bits: Non-secure, or Realm */
#define MDCR_NSTBE ((uint64_t)1 << 26)

/* Bits of a register that was read, changed and written: what is not known stays as it was. */
static void merge(struct value *to, struct value value, uint8_t class_code, uint64_t fields)
{
    const uint64_t kept = value.origin == class_code ? value.mask & ~value.known : 0;

    to->known = ((to->known & kept) | value.known) & fields;
    to->bits = ((to->bits & kept) | (value.bits & value.known)) & fields;
}

static bool is_kept(struct value value, uint8_t class_code, uint64_t fields)
{
    return value.origin == class_code && !(value.known & fields) &&
           (value.mask & fields) == fields;
}

void tw_seq_note_owner(struct checker *c, uint8_t class_code, struct value value)
{
    const uint64_t state = SCR_NS | SCR_NSE, owner = MDCR_NSTB | MDCR_NSTBE;
    const struct value before = c->state_bits;

    if (class_code == REG_MDCR_EL3 && !is_kept(value, class_code, owner)) {
        merge(&c->owner_bits, value, class_code, owner);
        c->off_line = c->moved_line = 0; /* another's, or who knows */
    }
    if (class_code != REG_SCR_EL3)
        return;
    if (is_kept(value, class_code, state)) {
        c->moved_line = 0; /* as it was saved */
        return;
    }
    merge(&c->state_bits, value, class_code, state);
    /* The same value again changes nothing; else it goes away, or comes back. */
    if (c->state_bits.known & SCR_NS && before.known & SCR_NS &&
        !((c->state_bits.bits ^ before.bits) & SCR_NS))
        return;
    c->moved_line = c->moved_line ? 0 : c->line;
}

static const char *name_of(bool is_realm_or_root, bool is_nonsecure)
{
    if (is_realm_or_root)
        return is_nonsecure ? "Realm" : "Root";
    return is_nonsecure ? "Non-secure" : "Secure";
}

void tw_seq_check_owner(struct checker *c)
{
    const struct value *owner = &c->owner_bits, *state = &c->state_bits;
    const bool owns_ns = owner->bits & MDCR_NSTB, owns_nse = owner->bits & MDCR_NSTBE;
    const bool is_ns = state->bits & SCR_NS, is_nse = state->bits & SCR_NSE;
    const bool knows_ns = owner->known & MDCR_NSTB && state->known & SCR_NS;
    const bool knows_nse = owner->known & MDCR_NSTBE && state->known & SCR_NSE;

    if ((knows_ns && owns_ns != is_ns) || (knows_nse && owns_nse != is_nse))
        tw_seq_find(c, 0, RULE_TS12, "",
                    "TRBLIMITR_EL1.E is set while SCR_EL3 selects the %s state, but MDCR_EL3 "
                    "gives the buffer to the %s state",
                    name_of(knows_nse && is_nse, is_ns),
                    name_of(knows_nse && owns_nse, owns_ns));
    else if (!knows_ns && c->moved_line && c->off_line && c->off_line < c->moved_line)
        tw_seq_find(c, c->moved_line, RULE_TS12, "",
                    "TRBLIMITR_EL1.E is set, but SCR_EL3 selects another Security state than "
                    "when it was cleared at line %u, and the buffer has no other owner",
                    c->off_line);
    c->off_line = 0;
}
