/* SPDX-License-Identifier: BSD-2-Clause */
/* From what a trial counted to a number, and the search for the settings that make it best. */
#include <string.h>

#include <trackway/ntrace.h>

#include "base/fault.h"
#include "identify/identify.h"

enum {
    FIRST_LOOK = 2 << 10, /* bytes in which most settings show that they are none */
    LITTLE = 16 << 10,    /* ... for the many trials */
    MUCH = 256 << 10,     /* ... for the last one */
    NTRACE_COST = 32,     /* readings that tw_ntrace_guess makes ... */
    NTRACE_START = 1024,  /* ... and what the beginning of one costs */
    FEW_ADDRESSES = 16,
    WIDTHS_SEEN = 4 << 10, /* bytes in which widths of fields show, ... */
    WIDTHS_WORK = 24 << 20 /* ... and what looking for them may cost */
};

#define SURE         0.98
#define ALL_BUT_SURE 0.97
/* As likely as a chain of headers makes it alone: not certain. */
#define CHAINED 0.94

/* 1 for none, falling quickly. */
static double cleanliness(double bad_share)
{
    const double factor = 1 - 8 * bad_share;

    return factor > 0 ? factor * factor : 0;
}

/* What part of the bytes was read in synchronization; heads that could not be are no fault. */
static double coverage(const struct tw_trial *trial)
{
    const double in = (double)(trial->bytes - trial->head);
    const double good = in - (double)trial->unsynced - (double)trial->bad_bytes;

    return in > 0 && good > 0 ? good / in : 0;
}

/* Programs lie in few places: addresses that are all over memory are chance. */
static double plausibility(const struct tw_trial *trial)
{
    double factor = 1;

    if (trial->addresses > FEW_ADDRESSES) {
        const double share = (double)trial->pages / (double)trial->addresses;

        if (trial->pages > TW_TRIAL_PAGES / 2 || share > 0.5)
            factor = 0.3;
        else
            factor = 1 - 0.3 * share;
        factor *= 1 - 0.5 * (double)trial->odd / (double)trial->addresses;
    }
    if (trial->times > FEW_ADDRESSES && trial->backward * 3 > trial->times)
        factor *= 0.5;
    return factor;
}

/* The kinds of packets that there must be most of. */
static double substance(const struct tw_trial *trial)
{
    const double flow =
        (double)(trial->kinds[TW_PACKET_FLOW] + trial->kinds[TW_PACKET_EXCEPTION]);
    const double data = (double)(trial->kinds[TW_PACKET_DATA] + trial->kinds[TW_PACKET_TIME] +
                                 trial->kinds[TW_PACKET_CONTEXT]);
    const double share = (trial->suspect->is_data ? data : flow) / (double)trial->packets;

    return share > 0.25 ? 1 : share * 4;
}

void tw_trial_judge(struct tw_trial *trial)
{
    const struct tw_suspect *suspect = trial->suspect;
    double bad_share;

    trial->fit = trial->bits = 0;
    if (!trial->packets || (suspect->has_sync && !trial->syncs))
        return;
    bad_share = (double)trial->bad / (double)trial->packets;
    trial->fit =
        coverage(trial) * cleanliness(bad_share) * plausibility(trial) * substance(trial);
    if (suspect->has_sync)
        trial->fit *= 1 - suspect->greeting +
                      suspect->greeting * (double)trial->greeted / (double)trial->syncs;
    if (!suspect->has_sync) /* the chain of packets is all that there is */
        trial->fit *= coverage(trial);
    trial->bits = suspect->packet_bits * (double)(trial->packets - trial->bad) +
                  suspect->sync_bits * (double)trial->syncs;
}

/* Headers that lead through all of it say what it is, whatever becomes of the packets. */
static void trust_chain(struct tw_trial *trial)
{
    if (trial->fit >= CHAINED * trial->chain)
        return;
    trial->fit = CHAINED * trial->chain;
    trial->bits = trial->suspect->packet_bits * (double)trial->links;
}

double tw_trial_confidence(const struct tw_trial *trial)
{
    double doubt = 1;

    for (double bits = trial->bits; bits >= 4 && doubt > 1e-6; bits -= 4)
        doubt /= 1.5;
    doubt = trial->fit * (1 - doubt) * trial->suspect->most;
    /* What it is is known, but not how it is read. */
    return trial->is_open && doubt > CHAINED ? CHAINED : doubt;
}

static double inside_share(const struct tw_trial *trial)
{
    return trial->addresses ? (double)trial->inside / (double)trial->addresses : 0;
}

/* A better answer, by more than chance makes. */
static bool is_better(const struct tw_trial *a, const struct tw_trial *b)
{
    /* With an image: addresses that are in it say more than anything else. */
    if (a->suspect == b->suspect && (a->inside || b->inside)) {
        const double one = a->fit * (0.2 + inside_share(a)),
                     other = b->fit * (0.2 + inside_share(b));

        if (one > other + 0.005 || one < other - 0.005)
            return one > other;
    }
    if (a->fit > b->fit + 0.002)
        return true;
    if (a->fit < b->fit - 0.002)
        return false;
    /* Alike: addresses where reading begins are near those before. */
    return a->begins > 2 && b->begins > 2 &&
           a->leaps / (double)a->begins + 2 < b->leaps / (double)b->begins;
}

/* Tries what `trial` is set to, and keeps it where it is better. */
static void try_one(const struct tw_search *search, struct tw_trial *best,
                    struct tw_trial *trial)
{
    if (!search->budget->left || tw_trial_run(trial, search) != TW_OK)
        return;
    tw_trial_judge(trial);
    if (is_better(trial, best))
        *best = *trial;
}

/* A few bytes show that these settings are worse than the best ones.  Where a reader waits for
   synchronization they show nothing. */
static bool is_worse_at_once(const struct tw_search *search, struct tw_trial *trial,
                             double *best_look)
{
    struct tw_search look = *search;

    look.most = FIRST_LOOK;
    if (trial->suspect->has_sync || search->most <= FIRST_LOOK ||
        search->sampled->size <= FIRST_LOOK)
        return false;
    if (!search->budget->left || tw_trial_run(trial, &look) != TW_OK)
        return true;
    tw_trial_judge(trial);
    if (trial->fit > *best_look)
        *best_look = trial->fit;
    return trial->fit < *best_look - 0.2;
}

/* All combinations of the suspect's dials. */
static void try_dials(const struct tw_search *search, struct tw_trial *best,
                      struct tw_trial *trial)
{
    const struct tw_suspect *suspect = trial->suspect;
    const unsigned xlen = search->image ? tw_image_xlen(search->image) : 0;
    double best_look = 0;
    unsigned total = 1;

    for (unsigned i = 0; i < suspect->dial_count; i++)
        total *= suspect->dials[i].count;
    for (unsigned n = 0; n < total; n++) {
        unsigned rest = n;

        if (best->fit > 0.9999 && (!search->image || inside_share(best) > 0.999))
            break;

        for (unsigned i = 0; i < suspect->dial_count; i++) {
            tw_settings_set(&trial->settings, &suspect->dials[i],
                            rest % suspect->dials[i].count);
            rest /= suspect->dials[i].count;
        }
        /* A RISC-V program tells how wide its addresses are. */
        if (xlen && tw_settings_find(&trial->settings, "iaddress_width_p"))
            tw_settings_put(&trial->settings, "iaddress_width_p", xlen);
        if (!is_worse_at_once(search, trial, &best_look))
            try_one(search, best, trial);
    }
}

static void try_more(const struct tw_search *search, struct tw_trial *best)
{
    const struct tw_suspect *suspect = best->suspect;
    struct tw_trial trial;

    for (unsigned i = 0; i < suspect->more_count; i++)
        for (unsigned choice = 0; choice < suspect->more[i].count; choice++) {
            if (tw_settings_is(&best->settings, &suspect->more[i], choice))
                continue;
            trial = *best;
            tw_settings_set(&trial.settings, &suspect->more[i], choice);
            try_one(search, best, &trial);
        }
}

/* Fields that only make sense together: two at a time, as long as that helps. */
static void try_pairs(const struct tw_search *search, struct tw_trial *best)
{
    const struct tw_suspect *suspect = best->suspect;
    double before;

    do {
        before = best->fit;
        for (unsigned i = 0; i < suspect->more_count && best->fit < ALL_BUT_SURE; i++)
            for (unsigned one = 0; one < suspect->more[i].count; one++) {
                struct tw_trial own = *best;

                tw_settings_set(&own.settings, &suspect->more[i], one);
                for (unsigned k = i + 1; k < suspect->more_count; k++)
                    for (unsigned other = 0; other < suspect->more[k].count; other++) {
                        struct tw_trial trial = own;

                        tw_settings_set(&trial.settings, &suspect->more[k], other);
                        try_one(search, best, &trial);
                    }
            }
    } while (best->fit > before + 0.01 && best->fit < ALL_BUT_SURE);
}

/* The same between protocols, some of which allow nearly everything. */
static bool is_likelier(const struct tw_trial *a, const struct tw_trial *b)
{
    const double one = tw_trial_confidence(a), other = tw_trial_confidence(b);

    if (one > other + 0.01 || one < other - 0.01)
        return one > other;
    return is_better(a, b);
}

/* What finds no synchronization, or no chain, does not under other settings either. */
static bool may_be(struct tw_trial *trial, const struct tw_sampled *sampled)
{
    const struct tw_suspect *suspect = trial->suspect;

    if (suspect->has_sync)
        return trial->syncs > 0;
    if (suspect->is_chained) {
        trial->chain =
            tw_chain_share(sampled, &trial->settings, suspect->is_data, &trial->links);
        if (trial->links < 16)
            trial->chain /= 2;
        return trial->chain > 0.3;
    }
    return trial->unsynced + trial->head <= trial->bytes / 2 + 64;
}

static void spend(const struct tw_search *search, uint64_t cost)
{
    search->budget->left -= cost < search->budget->left ? cost : search->budget->left;
}

/* N-Trace tells itself which dialect it is and how wide its SRC: other widths read it as well. */
static void ask_ntrace(const struct tw_search *search, struct tw_trial *own)
{
    const struct tw_sampled *sampled = search->sampled;
    const size_t size = sampled->cut_count ? sampled->cuts[0] : sampled->size;
    struct tw_ntrace_guess guess = { .size = sizeof guess };
    struct tw_trial trial = *own;

    if (!search->budget->left || own->fit < 0.1 ||
        strcmp(own->suspect->protocol, "ntrace") != 0 ||
        tw_ntrace_guess(&guess, sampled->bytes, size < search->most ? size : search->most,
                        search->allocator) != TW_OK)
        return;
    spend(search, ((uint64_t)size + NTRACE_START) * NTRACE_COST);
    if (!guess.score || guess.pib_bits)
        return;
    tw_settings_put(&trial.settings, "src_bits", guess.src_bits);
    tw_settings_put_word(&trial.settings, "dialect",
                         guess.dialect == TW_NTRACE_SIFIVE ? "sifive" : "1.0");
    if (tw_trial_run(&trial, search) != TW_OK)
        return;
    tw_trial_judge(&trial);
    if (trial.fit > own->fit - 0.02)
        *own = trial;
}

static void try_suspect(const struct tw_search *search, struct tw_trial *best,
                        const struct tw_suspect *suspect)
{
    struct tw_trial own = { .suspect = suspect }, trial;

    own.protocol = tw_protocol_by_name(suspect->protocol);
    if (!own.protocol || !search->budget->left)
        return;
    own.settings.is_text = suspect->is_text;
    own.settings.count = suspect->base_count;
    memcpy(own.settings.items, suspect->base, suspect->base_count * sizeof *suspect->base);
    if (search->image && tw_image_xlen(search->image) &&
        tw_settings_find(&own.settings, "iaddress_width_p"))
        tw_settings_put(&own.settings, "iaddress_width_p", tw_image_xlen(search->image));
    trial = own;
    if (tw_trial_run(&trial, search) != TW_OK)
        return;
    tw_trial_judge(&trial);
    if (!may_be(&trial, search->sampled))
        return;
    own = trial;
    try_dials(search, &own, &trial);
    try_more(search, &own);
    ask_ntrace(search, &own);
    trust_chain(&own);
    if (!best->suspect || is_likelier(&own, best))
        *best = own;
}

/* What looking for widths may cost. */
static struct tw_budget widths_budget(const struct tw_search *search)
{
    const bool is_less = search->work && search->work < WIDTHS_WORK;

    return (struct tw_budget){ is_less ? search->work : WIDTHS_WORK };
}

/* Headers lead through it, but packets make no sense yet: what it is is known, so that widths are worth more
   work than could be given to each that it might have been. */
static void search_widths(const struct tw_search *whole, struct tw_trial *best)
{
    struct tw_budget budget = widths_budget(whole);
    struct tw_search search = *whole;
    struct tw_trial own = *best, trial;

    if (!best->suspect->is_chained || best->chain < 0.9 || best->fit > CHAINED + 0.001)
        return;
    search.budget = &budget;
    search.most = WIDTHS_SEEN;
    if (tw_trial_run(&own, &search) != TW_OK)
        return;
    tw_trial_judge(&own);
    try_more(&search, &own);
    try_pairs(&search, &own);
    trial = own;
    try_dials(&search, &own, &trial);
    try_more(&search, &own);
    try_pairs(&search, &own);
    search.most = LITTLE;
    if (tw_trial_run(&own, &search) != TW_OK)
        return;
    tw_trial_judge(&own);
    trust_chain(&own);
    if (is_better(&own, best) || own.fit >= best->fit)
        *best = own;
}

const struct tw_dial *tw_suspect_dial(const struct tw_suspect *suspect, size_t number)
{
    if (number < suspect->dial_count)
        return &suspect->dials[number];
    number -= suspect->dial_count;
    return number < suspect->more_count ? &suspect->more[number] : NULL;
}

/* Whether a trial fits as well as the best one, and gives other packets. */
static bool is_open_too(const struct tw_search *search, const struct tw_trial *best,
                        struct tw_trial *trial)
{
    if (!search->budget->left || tw_trial_run(trial, search) != TW_OK)
        return false;
    tw_trial_judge(trial);
    return trial->digest != best->digest && trial->fit >= best->fit - 0.002 &&
           !is_better(best, trial);
}

/* One field that is other than `own` has it, or with `more` another one, too. */
static void open_dials(const struct tw_search *search, const struct tw_trial *own,
                       struct tw_trial *best, const struct tw_trial *more)
{
    const struct tw_dial *dial;

    for (size_t i = 0; i < TW_TRIAL_DIALS && (dial = tw_suspect_dial(best->suspect, i)); i++)
        for (unsigned choice = 0; choice < dial->count; choice++) {
            struct tw_trial trial = *more;

            if (tw_settings_is(&more->settings, dial, choice))
                continue;
            tw_settings_set(&trial.settings, dial, choice);
            if (!is_open_too(search, own, &trial))
                continue;
            best->open[i] |= (uint8_t)(1u << choice);
            best->is_open = true;
        }
}

/* Values of each field that fit as well as the one that was taken. */
static void find_open(const struct tw_search *whole, struct tw_trial *best)
{
    struct tw_budget budget = widths_budget(whole);
    struct tw_search search = *whole;
    struct tw_trial own = *best;

    search.budget = &budget;
    search.most = LITTLE;
    if (!best->suspect->is_chained || search.image || tw_trial_run(&own, &search) != TW_OK)
        return;
    tw_trial_judge(&own);
    open_dials(&search, &own, best, &own);
    /* A bit that is one field's may be the next one's. */
    for (unsigned i = 0; i < best->suspect->more_count && !best->is_open; i++)
        for (unsigned choice = 0; choice < best->suspect->more[i].count; choice++) {
            struct tw_trial more = own;

            tw_settings_set(&more.settings, &best->suspect->more[i], choice);
            open_dials(&search, &own, best, &more);
        }
}

/* ETMv4 and ETE have almost the same packets. */
static void ask_twin(const struct tw_search *search, struct tw_trial *best)
{
    const bool is_etmv4 = strcmp(best->suspect->protocol, "etmv4") == 0;
    const char *twin = is_etmv4                                      ? "ete"
                       : strcmp(best->suspect->protocol, "ete") == 0 ? "etmv4"
                                                                     : NULL;
    struct tw_trial other = { 0 };

    for (size_t i = 0; twin && i < tw_suspect_count; i++)
        if (strcmp(tw_suspects[i].protocol, twin) == 0)
            try_suspect(search, &other, &tw_suspects[i]);
    best->is_alike = other.suspect && other.bad <= best->bad && other.fit > best->fit - 0.01;
}

/* One suspect may use up half of what is left at most: the others come to their turn. */
static void try_in_turn(const struct tw_search *search, struct tw_trial *best,
                        const struct tw_suspect *suspect)
{
    struct tw_budget share = { search->budget->left / 2 };
    const uint64_t given = share.left;
    struct tw_search own = *search;

    own.budget = &share;
    try_suspect(&own, best, suspect);
    spend(search, given - share.left);
}

enum tw_status tw_judge(struct tw_trial *best, const struct tw_search *whole)
{
    struct tw_search search = *whole;
    const struct tw_sampled *sampled = search.sampled;

    *best = (struct tw_trial){ 0 };
    search.most = LITTLE;
    /* The later ones allow more: none of them is likelier than one that is all but sure. */
    for (size_t i = 0; i < tw_suspect_count; i++)
        if (!best->suspect || tw_trial_confidence(best) < SURE)
            try_in_turn(&search, best, &tw_suspects[i]);
    /* Where synchronization is rarer, a longer look. */
    while (best->fit < 0.5 && search.most < sampled->size && search.most < MUCH) {
        search.most *= 4;
        for (size_t i = 0; i < tw_suspect_count; i++)
            if (tw_suspects[i].has_sync)
                try_in_turn(&search, best, &tw_suspects[i]);
    }
    if (best->suspect)
        search_widths(&search, best);
    search.most = MUCH;
    if (best->suspect && LITTLE < sampled->size) {
        TW_TRY(tw_trial_run(best, &search));
        tw_trial_judge(best);
        trust_chain(best);
    }
    if (best->suspect) {
        find_open(&search, best);
        ask_twin(&search, best);
    }
    return sampled->no_memory ? TW_E_MEMORY : TW_OK;
}
