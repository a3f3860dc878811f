/* SPDX-License-Identifier: BSD-2-Clause */
/* Target memory: any calls that add and remove regions; what is read, and what is refused, is what a plain list says.
   Input: calls of eight bytes: which, address (2), length, spaces, context, from, until. */
#include <stdlib.h>
#include <string.h>

#include <trackway/image.h>

enum {
    CALL = 8,
    CALLS_MOST = 100,
    REGIONS_MOST = 3000,
    MANY = 64,
    WINDOW = 48,
    PATTERN = 4096,
    EACH = 7,     /* how much more the callback's next byte is ... */
    UN_EACH = 183 /* ... and what makes one of so many */
};

struct list {
    struct tw_image *image;
    struct tw_region regions[REGIONS_MOST];
    const uint8_t *bytes[REGIONS_MOST];
    size_t count;
    bool has_callback;
};

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static const uint8_t *pattern(size_t at)
{
    static uint8_t bytes[2 * PATTERN];

    if (!bytes[1])
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(i * 0x9e3779b1u >> 13);
    return bytes + at % PATTERN;
}

/* ---- what a list says ---- */

static unsigned bits(uint32_t value)
{
    unsigned count = 0;

    for (; value; value &= value - 1)
        count++;
    return count;
}

static bool is_rival(const struct tw_region *a, const struct tw_region *b)
{
    const uint32_t both = a->spaces & b->spaces;

    return a->address <= b->address + b->length - 1 &&
           b->address <= a->address + a->length - 1 && a->context == b->context && both &&
           (a->spaces == b->spaces || (both != a->spaces && both != b->spaces)) &&
           a->from < b->until && b->from < a->until;
}

static bool is_seen(const struct tw_region *region, const struct tw_view *view,
                    uint64_t address)
{
    return region->spaces & view->space &&
           (!region->context || region->context == view->context) &&
           region->from <= view->time && view->time < region->until &&
           region->address <= address && address - region->address < region->length;
}

/* Some of so many bytes may be seen. */
static bool is_near(const struct tw_region *region, const struct tw_view *view,
                    uint64_t address, size_t size)
{
    return region->spaces & view->space &&
           (address - region->address < region->length || region->address - address <= size);
}

/* One's own context before all, then the fewest spaces. */
static bool is_nearer(const struct tw_region *a, const struct tw_region *b)
{
    return (a->context != 0) != (b->context != 0) ? a->context != 0
                                                  : bits(a->spaces) < bits(b->spaces);
}

static uint8_t byte_of_callback(const struct tw_view *view, uint64_t address)
{
    return (uint8_t)(address * EACH + view->space + view->context);
}

static size_t read_callback(void *context, uint8_t *out, const struct tw_view *view,
                            uint64_t address, size_t size)
{
    static uint8_t row[512]; /* what follows on any byte */
    size_t done = 0;

    (void)context;
    for (size_t i = 0; !row[1] && i < sizeof row; i++)
        row[sizeof row - 1 - i] = (uint8_t)((sizeof row - 1 - i) * EACH);
    while (done < size && ((address + done) >> 8 & 7) != 7) {
        const size_t left = 256 - (size_t)((address + done) & 255);
        const size_t count = left < size - done ? left : size - done;
        const unsigned byte = byte_of_callback(view, address + done);

        memcpy(out + done, row + (uint8_t)(byte * UN_EACH), count);
        done += count;
    }
    return done;
}

/* `from`: no region of the list before that one is seen. */
static bool expected(uint8_t *byte, const struct list *list, const struct tw_view *view,
                     uint64_t address, size_t from)
{
    const struct tw_region *best = NULL;

    for (size_t i = from; i < list->count; i++) {
        const struct tw_region *region = &list->regions[i];

        if (is_seen(region, view, address) && (!best || is_nearer(region, best))) {
            best = region;
            *byte = list->bytes[i][address - region->address];
        }
    }
    if (!best)
        *byte = byte_of_callback(view, address);
    return best || (list->has_callback && (address >> 8 & 7) != 7);
}

/* ---- calls ---- */

static void add(struct list *list, const struct tw_region *region, const uint8_t *bytes)
{
    struct tw_region about = *region;
    bool is_there = false, is_refused;
    enum tw_status status;

    about.spaces = about.spaces ? about.spaces : TW_SPACE_ANY;
    about.until = about.until ? about.until : UINT64_MAX;
    is_refused = !about.length || about.from >= about.until ||
                 about.address + about.length - 1 < about.address;
    for (size_t i = 0; !is_refused && !is_there && i < list->count; i++) {
        const struct tw_region *other = &list->regions[i];

        if (!is_rival(other, &about))
            continue;
        is_there = list->bytes[i] == bytes && other->address == about.address &&
                   other->length == about.length && other->spaces == about.spaces &&
                   other->from == about.from && other->until == about.until;
        is_refused = !is_there;
    }
    status = tw_image_add(list->image, region, bytes);
    /* Which of several rivals is met first, the same region or another, no one promises. */
    if (!is_there)
        require((status == TW_OK) == !is_refused);
    if (status == TW_OK && !is_there) {
        list->regions[list->count] = about;
        list->bytes[list->count++] = bytes;
    } else if (status != TW_OK)
        require(tw_image_fault(list->image)[0] != 0);
    require(tw_image_region_count(list->image) == list->count);
}

static void drop(struct list *list, uint64_t address, uint32_t context)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->regions[i].address == address &&
            (!context || list->regions[i].context == context))
            continue;
        list->regions[kept] = list->regions[i];
        list->bytes[kept++] = list->bytes[i];
    }
    list->count = kept;
    tw_image_remove(list->image, address, context);
    require(tw_image_region_count(list->image) == kept);
}

static void look(const struct list *list, const struct tw_view *view, uint64_t address,
                 size_t size)
{
    uint8_t got[WINDOW], want = 0;
    const size_t count = tw_image_read(list->image, got, view, address, size);

    size_t from = 0;

    while (from < list->count && !is_near(&list->regions[from], view, address, size))
        from++;
    for (size_t i = 0; i < count; i++)
        require(expected(&want, list, view, address + i, from) && want == got[i]);
    require(count == size || address + count == 0 ||
            !expected(&want, list, view, address + count, from));
}

static void call(struct list *list, const uint8_t *at)
{
    /* Some near the end of memory. */
    const uint64_t address = (at[1] | (uint64_t)at[2] << 8) - (at[0] & 0x80 ? 0x8000 : 0);
    const struct tw_view view = { 1u << (at[4] & 7), at[5] & 3, at[6] };
    struct tw_region region = { .size = sizeof region,
                                .address = address,
                                .length = (uint64_t)at[3] << (at[0] >> 4 & 3),
                                .spaces = at[4],
                                .context = at[5] & 3,
                                .from = at[6],
                                .until = at[7] };

    switch (at[0] & 7) {
    case 0:
    case 1:
        add(list, &region, pattern(at[0] + at[3]));
        break;
    case 2: /* many, some upon each other */
        for (unsigned i = 0; i < MANY; i++) {
            region.address = address + (uint64_t)(i * 37 % MANY) * (1 + (at[0] >> 3));
            add(list, &region, pattern(i));
        }
        break;
    case 3:
        drop(list, address, at[5] & 3);
        break;
    case 4:
        for (unsigned i = 0; i < MANY; i++)
            drop(list, address + (uint64_t)i * (1 + (at[0] >> 3)), at[5] & 3);
        break;
    case 5:
        list->has_callback = true;
        require(tw_image_set_callback(list->image, read_callback, NULL) == TW_OK);
        break;
    case 6: /* many pages */
        for (unsigned i = 0; i < MANY; i++)
            look(list, &view, address + i * 4096u, 8);
        break;
    default:
        look(list, &view, address, WINDOW);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct list list;

    list.count = 0;
    list.has_callback = false;
    require(tw_image_new(&list.image, NULL, NULL) == TW_OK);
    for (size_t i = 0; i < CALLS_MOST && (i + 1) * CALL <= size; i++) {
        const uint8_t *at = data + i * CALL;
        const struct tw_view view = { 1u << (at[5] & 7), at[4] & 3, at[7] };

        if (list.count + MANY > REGIONS_MOST)
            break;
        call(&list, at);
        look(&list, &view, at[1] | (uint64_t)at[2] << 8, WINDOW);
    }
    tw_image_free(list.image);
    return 0;
}
