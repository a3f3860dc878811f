/* SPDX-License-Identifier: BSD-2-Clause */
/* Target memory from a callback, with a cache of pages in front of it. */
#include <string.h>

#include "base/fault.h"
#include "base/map.h"
#include "base/memory.h"
#include "image/store.h"

enum { PAGE_SIZE = 4096, PAGES = 512, SLOTS = 2048 };

struct page {
    uint64_t address; /* of the page, a multiple of its size */
    struct tw_view view;
    uint16_t low, high; /* bytes[low] up to bytes[high - 1] were read */
    uint8_t bytes[PAGE_SIZE];
};

static size_t slot_of(const struct tw_view *view, uint64_t address)
{
    const uint64_t from = (uint64_t)view->context << 32 | view->space;

    return tw_hash64(tw_hash64(address) ^ tw_hash64(from) ^ view->time) % SLOTS;
}

static bool is_page(const struct page *page, const struct tw_view *view, uint64_t address)
{
    return page->address == address && page->view.space == view->space &&
           page->view.context == view->context && page->view.time == view->time;
}

/* The slot of the page, or the empty one where it would be. */
static size_t find_slot(const struct page_cache *cache, const struct tw_view *view,
                        uint64_t address)
{
    size_t slot = slot_of(view, address);

    while (cache->index[slot] && !is_page(&cache->pages[cache->index[slot] - 1], view, address))
        slot = (slot + 1) % SLOTS;
    return slot;
}

/* Empties a slot and moves up those that had to step over it. */
static void clear_slot(struct page_cache *cache, size_t slot)
{
    size_t next = slot;

    for (;;) {
        size_t home;

        next = (next + 1) % SLOTS;
        if (!cache->index[next])
            break;
        home = slot_of(&cache->pages[cache->index[next] - 1].view,
                       cache->pages[cache->index[next] - 1].address);
        if ((next + SLOTS - home) % SLOTS >= (next + SLOTS - slot) % SLOTS) {
            cache->index[slot] = cache->index[next];
            slot = next;
        }
    }
    cache->index[slot] = 0;
}

/* An empty page for the key; the oldest page gives way when all are taken. */
static struct page *new_page(struct page_cache *cache, const struct tw_view *view,
                             uint64_t address)
{
    size_t number = cache->count;
    struct page *page;

    if (number < PAGES) {
        cache->count++;
    } else {
        number = cache->oldest;
        cache->oldest = (cache->oldest + 1) % PAGES;
        page = &cache->pages[number];
        clear_slot(cache, find_slot(cache, &page->view, page->address));
    }
    page = &cache->pages[number];
    page->address = address;
    page->view = *view;
    page->low = page->high = 0;
    cache->index[find_slot(cache, view, address)] = (uint16_t)(number + 1);
    return page;
}

/* One thread at a time, whatever the callback is made of. */
static size_t ask(struct tw_image *image, uint8_t *out, const struct tw_view *view,
                  uint64_t address, size_t size)
{
    pthread_mutex_t *asking = image->parent ? &image->parent->asking : &image->asking;
    size_t got;

    (void)pthread_mutex_lock(asking);
    got = image->cache.read(image->cache.context, out, view, address, size);
    (void)pthread_mutex_unlock(asking);
    return got < size ? got : size;
}

/* bytes[from] up to bytes[from + got - 1] were read.  What was read before and does not join them is
   forgotten, but stays where it is: it may be in use. */
static void note(struct page *page, size_t from, size_t got)
{
    const size_t until = from + got;

    if (page->low != page->high && from <= page->high && until >= page->low) {
        page->low = (uint16_t)(from < page->low ? from : page->low);
        page->high = (uint16_t)(until > page->high ? until : page->high);
        return;
    }
    page->low = (uint16_t)from;
    page->high = (uint16_t)until;
}

/* Reads so that the page holds bytes[offset].  It is asked for from there on first: whoever is asked may
   tell people what address is missing.  What lies before is asked for when some of it is wanted, and
   all at once if that is to be had; so a page takes two questions at most.  False: not accessible. */
static bool fill(struct tw_image *image, struct page *page, const struct tw_view *view,
                 size_t offset)
{
    const bool is_before = page->low != page->high && offset < page->low;
    const size_t end = is_before ? page->low : PAGE_SIZE;
    size_t got;

    if (is_before) {
        got = ask(image, page->bytes, view, page->address, end);
        if (got > offset) {
            note(page, 0, got);
            return true;
        }
    }
    got = ask(image, page->bytes + offset, view, page->address + offset, end - offset);
    if (got)
        note(page, offset, got);
    return got != 0;
}

static bool make_cache(struct tw_image *image)
{
    struct page_cache *cache = &image->cache;

    if (!cache->pages)
        cache->pages = tw_take_raw(image->allocator, PAGES * sizeof *cache->pages);
    if (!cache->index)
        cache->index = tw_take(image->allocator, SLOTS * sizeof *cache->index);
    return cache->pages && cache->index;
}

size_t tw_pages_find(struct tw_image *image, const uint8_t **bytes, const struct tw_view *view,
                     uint64_t address, uint64_t high)
{
    struct page_cache *cache = &image->cache;
    const size_t offset = address % PAGE_SIZE;
    struct page *page;
    size_t slot, size;

    if (!cache->read || !make_cache(image))
        return 0;
    slot = find_slot(cache, view, address - offset);
    if (cache->index[slot])
        page = &cache->pages[cache->index[slot] - 1];
    else
        page = new_page(cache, view, address - offset);
    if ((offset < page->low || offset >= page->high) && !fill(image, page, view, offset))
        return 0;
    *bytes = page->bytes + offset;
    size = page->high - offset;
    return size - 1 < high - address ? size : (size_t)(high - address) + 1;
}

void tw_pages_free(struct tw_image *image)
{
    tw_give(image->allocator, image->cache.pages);
    tw_give(image->allocator, image->cache.index);
    image->cache = (struct page_cache){ 0 };
}

enum tw_status tw_image_set_callback(struct tw_image *image, tw_memory_fn *read, void *context)
{
    tw_pages_free(image);
    image->cache.read = read;
    image->cache.context = context;
    image->generation++;
    tw_image_forget_hits(image);
    return TW_OK;
}
