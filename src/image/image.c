/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions of target memory: adding, overlap rules, look-up. */
#include "image/image.h"

#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "image/store.h"

enum tw_status tw_image_new(struct tw_image **image, const struct tw_allocator *allocator,
                            struct tw_fault *fault)
{
    struct tw_image *made = tw_take(allocator, sizeof *made);

    *image = made;
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an image");
    if (allocator) {
        made->allocator_copy = *allocator;
        made->allocator = &made->allocator_copy;
    }
    made->generation = 1;
    if (pthread_mutex_init(&made->asking, NULL) != 0) {
        tw_give(allocator, made);
        *image = NULL;
        return tw_fail(fault, TW_E_MEMORY, "no memory for an image");
    }
    return TW_OK;
}

static void changed(struct tw_image *image)
{
    image->generation++;
    tw_image_forget_hits(image);
}

static void drop_layers(struct tw_image *image)
{
    for (size_t i = 0; i < image->layer_count; i++)
        tw_spans_free(&image->layers[i], image->allocator);
    image->layer_count = 0;
}

static void drop_region(struct tw_image *image, struct region *region)
{
    char *name;

    /* The name was copied by us; the public struct shows it as const. */
    memcpy(&name, &region->about.name, sizeof name);
    tw_give(image->allocator, name);
    if (region->backing) {
        region->backing->uses--;
        tw_image_settle(image, region->backing);
    }
}

void tw_image_free(struct tw_image *image)
{
    struct tw_allocator allocator;
    bool is_ours;

    if (!image)
        return;
    for (size_t i = 0; i < image->count; i++)
        drop_region(image, &image->regions[i]);
    drop_layers(image);
    tw_pages_free(image);
    tw_give(image->allocator, image->kept.hits);
    (void)pthread_mutex_destroy(&image->asking);
    tw_give(image->allocator, image->layers);
    tw_give(image->allocator, image->regions);
    allocator = image->allocator_copy; /* the image itself holds it */
    is_ours = !image->allocator;
    tw_give(is_ours ? NULL : &allocator, image);
}

const char *tw_image_fault(const struct tw_image *image)
{
    return image->fault.text;
}

bool tw_image_has_spaces(const struct tw_image *image)
{
    for (size_t i = 0; i < image->layer_count; i++)
        if (image->layers[i].context || image->layers[i].spaces != TW_SPACE_ANY)
            return true;
    return image->has_times || image->cache.read;
}

uint64_t tw_image_generation(const struct tw_image *image)
{
    return image->generation;
}

size_t tw_image_region_count(const struct tw_image *image)
{
    return image->count;
}

const struct tw_region *tw_image_region(const struct tw_image *image, size_t number)
{
    return number < image->count ? &image->regions[number].about : NULL;
}

static unsigned count_bits(uint32_t value)
{
    unsigned count = 0;

    for (; value; value &= value - 1)
        count++;
    return count;
}

static bool meets(const struct layer *layer, uint64_t first, uint64_t last)
{
    struct span_place place = tw_spans_find(layer, last);
    const struct span *span = tw_span_before(layer, &place);

    return span && span->last >= first;
}

/* A region of fewer spaces hides one of more: only those that cannot be ranked exclude each
   other. */
static bool rivals(uint32_t a, uint32_t b)
{
    return (a & b) && (a == b || ((a & b) != a && (a & b) != b));
}

static bool same_time(const struct tw_region *a, const struct tw_region *b)
{
    return a->from < b->until && b->from < a->until;
}

/* Where a layer of this context and these spaces belongs. */
static size_t layer_place(const struct tw_image *image, uint32_t context, uint32_t spaces)
{
    const unsigned bits = count_bits(spaces);
    size_t low = 0, high = image->layer_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct layer *layer = &image->layers[middle];

        if (layer->context < context ||
            (layer->context == context && count_bits(layer->spaces) < bits))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A region already there that the new one may not lie upon; NULL: none. */
static const struct region *find_rival(const struct tw_image *image,
                                       const struct tw_region *region, uint64_t last)
{
    for (size_t i = layer_place(image, region->context, 0); i < image->layer_count; i++) {
        const struct layer *layer = &image->layers[i];
        const struct span *span;
        struct span_place place;

        if (layer->context != region->context)
            break;
        if (!rivals(layer->spaces, region->spaces))
            continue;
        place = tw_spans_find(layer, last);
        while ((span = tw_span_before(layer, &place)) != NULL && span->last >= region->address)
            if (same_time(&image->regions[span->region].about, region))
                return &image->regions[span->region];
    }
    return NULL;
}

/* The layer that takes the region, made if there is none. */
static struct layer *layer_for(struct tw_image *image, const struct tw_region *region,
                               uint64_t last)
{
    const size_t place = layer_place(image, region->context, region->spaces);
    struct layer *layer;

    for (size_t i = place; i < image->layer_count; i++) {
        layer = &image->layers[i];
        if (layer->context != region->context)
            break;
        if (layer->spaces == region->spaces && !meets(layer, region->address, last))
            return layer;
    }
    if (!TW_GROW(image->allocator, &image->layers, &image->layer_room, image->layer_count + 1))
        return NULL;
    layer = &image->layers[place];
    memmove(layer + 1, layer, (image->layer_count - place) * sizeof *layer);
    *layer = (struct layer){ .spaces = region->spaces, .context = region->context };
    image->layer_count++;
    return layer;
}

enum tw_status tw_image_region_from(struct tw_image *image, struct tw_region *out,
                                    const struct tw_region *region, const char *name)
{
    *out = (struct tw_region){ 0 };
    TW_TRY(TW_SIZED_TAKE(out, region, "tw_region", &image->fault));
    if (!out->name || !*out->name)
        out->name = name;
    if (!out->spaces)
        out->spaces = TW_SPACE_ANY;
    if (!out->until)
        out->until = UINT64_MAX;
    return TW_OK;
}

static bool is_same(const struct region *a, const struct tw_region *b, const uint8_t *bytes)
{
    return a->bytes == bytes && a->about.address == b->address &&
           a->about.length == b->length && a->about.spaces == b->spaces &&
           a->about.context == b->context && a->about.from == b->from &&
           a->about.until == b->until;
}

static enum tw_status check_region(struct tw_image *image, const struct tw_region *region)
{
    const uint64_t last = region->address + region->length - 1;

    if (region->length == 0 || last < region->address)
        return tw_fail(&image->fault, TW_E_ARGUMENT,
                       "%s: region at 0x%" PRIx64 " is empty or passes the end of memory",
                       region->name, region->address);
    if (region->from >= region->until)
        return tw_fail(&image->fault, TW_E_ARGUMENT,
                       "%s: region at 0x%" PRIx64 " ends in time before it begins",
                       region->name, region->address);
    if (region->length > SIZE_MAX || image->count >= UINT32_MAX)
        return tw_fail(&image->fault, TW_E_ARGUMENT, "%s: region at 0x%" PRIx64 " is too large",
                       region->name, region->address);
    return TW_OK;
}

enum tw_status tw_image_take(struct tw_image *image, const struct tw_region *region,
                             const uint8_t *bytes, struct backing *backing)
{
    const uint64_t last = region->address + region->length - 1;
    const struct region *rival;
    struct layer *layer;
    char *name;

    TW_TRY(check_region(image, region));
    rival = find_rival(image, region, last);
    if (rival && is_same(rival, region, bytes))
        return TW_OK;
    if (rival)
        return tw_fail(&image->fault, TW_E_CONFIG,
                       "%s at 0x%" PRIx64 "-0x%" PRIx64 " overlaps %s at 0x%" PRIx64
                       "-0x%" PRIx64,
                       region->name, region->address, last, rival->about.name,
                       rival->about.address, rival->about.address + rival->about.length - 1);
    name = tw_copy_text(image->allocator, region->name);
    if (!name || !TW_GROW(image->allocator, &image->regions, &image->room, image->count + 1) ||
        !(layer = layer_for(image, region, last)) || /* an empty layer does no harm */
        !tw_spans_insert(layer, (struct span){ region->address, last, (uint32_t)image->count },
                         image->allocator)) {
        tw_give(image->allocator, name);
        return tw_fail(&image->fault, TW_E_MEMORY, "no memory for %s", region->name);
    }
    image->regions[image->count] = (struct region){ *region, bytes, backing };
    image->regions[image->count++].about.name = name;
    image->has_times |= region->from != 0 || region->until != UINT64_MAX;
    if (backing)
        backing->uses++;
    changed(image);
    tw_image_keep_hits(image);
    return TW_OK;
}

enum tw_status tw_image_add(struct tw_image *image, const struct tw_region *region,
                            const uint8_t *bytes)
{
    struct tw_region about;

    TW_TRY(tw_image_region_from(image, &about, region, "memory"));
    if (!bytes)
        return tw_fail(&image->fault, TW_E_ARGUMENT, "%s has no bytes", about.name);
    return tw_image_take(image, &about, bytes, NULL);
}

/* Takes the spans of some regions away; those after them move up. */
static void forget_spans(struct tw_image *image, size_t first, size_t last)
{
    for (size_t i = 0; i < image->layer_count; i++)
        tw_spans_forget(&image->layers[i], (uint32_t)first, (uint32_t)last, image->allocator);
}

void tw_image_cut(struct tw_image *image, size_t count)
{
    if (image->count > count)
        forget_spans(image, count, image->count - 1);
    while (image->count > count)
        drop_region(image, &image->regions[--image->count]);
    changed(image);
}

void tw_image_remove(struct tw_image *image, uint64_t address, uint32_t context)
{
    size_t kept = 0;

    for (size_t i = 0; i < image->count; i++) {
        struct region *region = &image->regions[i];

        if (region->about.address != address || (context && region->about.context != context)) {
            image->regions[kept++] = *region;
            continue;
        }
        /* One by one: removal is rare, and so takes no memory that could be missing. */
        forget_spans(image, kept, kept);
        drop_region(image, region);
    }
    if (kept == image->count)
        return;
    image->count = kept;
    changed(image);
}

/* Looks for the address in one layer.  True: window->bytes are there now.  In any case the window,
   from low to high around the address, shrinks to where this layer's answer stays the same. */
static bool probe(const struct tw_image *image, struct hit *window, const struct layer *layer,
                  uint64_t address)
{
    const struct span_place place = tw_spans_find(layer, address);
    struct span_place at = place;
    const struct span *before = tw_span_before(layer, &at), *after;
    uint64_t low = 0, high = UINT64_MAX;
    bool is_there = false;

    if (before && before->last >= address) {
        const struct region *region = &image->regions[before->region];
        const uint64_t time = window->view.time;

        low = before->first;
        high = before->last;
        is_there = region->about.from <= time && time < region->about.until;
    } else {
        if (before)
            low = before->last + 1;
        after = tw_span_after(layer, place);
        if (after)
            high = after->first - 1;
    }
    if (low > window->low)
        window->low = low;
    if (high < window->high)
        window->high = high;
    if (is_there)
        window->bytes = image->regions[before->region].bytes + (window->low - before->first);
    return is_there;
}

/* The layers of one context, the most specific first. */
static bool probe_context(const struct tw_image *image, struct hit *window, uint32_t context,
                          uint64_t address)
{
    for (size_t i = layer_place(image, context, 0); i < image->layer_count; i++) {
        const struct layer *layer = &image->layers[i];

        if (layer->context != context)
            break;
        if ((layer->spaces & window->view.space) && probe(image, window, layer, address))
            return true;
    }
    return false;
}

static struct hit *kept_hit(const struct tw_image *image, uint64_t address)
{
    return &image->kept.hits[address / HITS_PAGE % HITS_KEPT];
}

/* Looks for what the last hit does not tell. */
static TW_NOINLINE size_t find_window(struct tw_image *image, const uint8_t **bytes,
                                      const struct tw_view *view, uint64_t address)
{
    struct hit window = { .view = *view, .low = 0, .high = UINT64_MAX };

    if (!window.view.space)
        window.view.space = TW_SPACE_ANY;
    if (!image->has_times)
        window.view.time = 0;
    window.is_valid = true;
    if (!probe_context(image, &window, view->context, address) &&
        (!view->context || !probe_context(image, &window, 0, address))) {
        image->miss = window;
        /* The callback is told the view as it came. */
        return tw_pages_find(image, bytes, view, address, window.high);
    }
    image->hit = window;
    if (image->kept.hits) {
        *kept_hit(image, address) = window;
        image->kept.has_some = true;
    }
    *bytes = window.bytes + (address - window.low);
    return (size_t)(window.high - address) + 1;
}

size_t tw_image_find(struct tw_image *image, const uint8_t **bytes, const struct tw_view *view,
                     uint64_t address)
{
    const struct hit *hit = &image->hit;

    if (tw_hit_tells(image, hit, view, address)) {
        *bytes = hit->bytes + (address - hit->low);
        return (size_t)(hit->high - address) + 1;
    }
    if (tw_hit_tells(image, &image->miss, view, address))
        return tw_pages_find(image, bytes, view, address, image->miss.high);
    if (image->kept.hits && tw_hit_tells(image, kept_hit(image, address), view, address)) {
        image->hit = *kept_hit(image, address);
        *bytes = image->hit.bytes + (address - image->hit.low);
        return (size_t)(image->hit.high - address) + 1;
    }
    return find_window(image, bytes, view, address);
}

struct tw_view tw_element_view(const struct tw_element *context)
{
    static const uint8_t spaces[4][4] = {
        [TW_SECURE] = { TW_SPACE_EL1S, TW_SPACE_EL1S, TW_SPACE_EL2S, TW_SPACE_EL3 },
        [TW_NONSECURE] = { TW_SPACE_EL1N, TW_SPACE_EL1N, TW_SPACE_EL2, TW_SPACE_EL3 },
        [TW_ROOT] = { TW_SPACE_ROOT, TW_SPACE_ROOT, TW_SPACE_ROOT, TW_SPACE_ROOT },
        [TW_REALM] = { TW_SPACE_EL1R, TW_SPACE_EL1R, TW_SPACE_EL2R, TW_SPACE_ROOT },
    };
    static const uint8_t any[4] = { TW_SPACE_ANY_S, TW_SPACE_ANY_N, TW_SPACE_ROOT,
                                    TW_SPACE_ANY_R };
    struct tw_view view = { .space = TW_SPACE_ANY };

    if (!context || context->type != TW_ELEMENT_PE_CONTEXT ||
        (context->flags & TW_CONTEXT_HAS_PRIV))
        return view;
    view.space = context->flags & TW_CONTEXT_HAS_EL
                     ? spaces[context->security & 3][context->el & 3]
                     : any[context->security & 3];
    return view;
}

size_t tw_image_read(struct tw_image *image, uint8_t *out, const struct tw_view *view,
                     uint64_t address, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const uint8_t *bytes;
        size_t there = tw_image_find(image, &bytes, view, address + done);

        if (!there)
            break;
        if (there > size - done)
            there = size - done;
        memcpy(out + done, bytes, there);
        done += there;
        if (address + done == 0)
            break; /* the end of memory */
    }
    return done;
}
