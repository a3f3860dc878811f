/* SPDX-License-Identifier: BSD-2-Clause */
/* How regions are kept: shared by the files of this folder only. */
#ifndef IMAGE_STORE_H
#define IMAGE_STORE_H

#include <pthread.h>
#include <string.h>

#include <trackway/image.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "image/file.h"

/* A file that regions lie in; mapped once, however many do. */
struct backing {
    struct backing *next;
    char *path;
    struct tw_file file;
    size_t uses;
};

struct region {
    struct tw_region about; /* spaces, until and name always set; the name is ours */
    const uint8_t *bytes;
    struct backing *backing; /* NULL: the caller's bytes */
};

/* A region's place, as the search needs it. */
struct span {
    uint64_t first, last;
    uint32_t region;
};

/* Regions of the same spaces and context whose addresses do not meet, sorted.  Regions that meet
   because their times differ lie in several layers. */
struct layer {
    uint32_t spaces, context;
    struct piece *pieces; /* none is empty */
    size_t count, room;
};

/* Some spans of a layer. */
struct piece {
    struct span *spans;
    size_t count, room;
};

/* Between two spans: before number `at` of a piece. */
struct span_place {
    size_t piece, at;
};

/* An answer that was given, for all addresses from low to high. */
struct hit {
    bool is_valid;
    struct tw_view view;
    uint64_t low, high;
    const uint8_t *bytes; /* at low */
};

/* Places that were found before, by their address: code that lies in many regions goes to and fro between them. */
enum {
    HITS_KEPT = 256,
    HITS_PAGE = 4096,
    HITS_REGIONS = 32 /* of an image, before room is taken */
};

struct kept_hits {
    struct hit *hits; /* HITS_KEPT, or NULL */
    bool has_some;
};

struct page;

/* Answers of the callback: a fixed number of pages, the oldest gives way. */
struct page_cache {
    tw_memory_fn *read;
    void *context;
    struct page *pages; /* NULL until first needed */
    uint16_t *index;    /* hash of the key to page number + 1 */
    size_t count, oldest;
};

struct tw_image {
    const struct tw_allocator *allocator;
    struct tw_allocator allocator_copy;
    struct tw_fault fault;
    uint64_t generation;
    struct region *regions; /* in the order added */
    size_t count, room;
    struct layer *layers; /* by context, then the fewest spaces first */
    size_t layer_count, layer_room;
    struct backing *backings;
    bool has_times;  /* some region is not always visible */
    bool copies;     /* files are read, not mapped */
    uint8_t xlen;    /* of the first RISC-V program; 0: none yet */
    struct hit hit;  /* the last place that was in a region ... */
    struct hit miss; /* ... and the last that was in none */
    struct kept_hits kept;
    struct page_cache cache;
    struct tw_image *parent; /* of an alias: whose regions these are */
    pthread_mutex_t asking;  /* held while the callback is, unless it is an alias */
};

/* Adds a region whose bytes lie in `backing` (NULL: the caller's).  The backing counts one use
   more only if the region was taken. */
enum tw_status tw_image_take(struct tw_image *image, const struct tw_region *region,
                             const uint8_t *bytes, struct backing *backing);
/* spans.c: the place behind all spans that begin at or before the address. */
struct span_place tw_spans_find(const struct layer *layer, uint64_t address);
/* The span before a place, which moves there; NULL: there is none. */
const struct span *tw_span_before(const struct layer *layer, struct span_place *place);
/* The span behind a place; NULL: there is none. */
const struct span *tw_span_after(const struct layer *layer, struct span_place place);
/* False: no memory. */
bool tw_spans_insert(struct layer *layer, struct span span,
                     const struct tw_allocator *allocator);
/* Takes the spans of these regions away; those after them move up. */
void tw_spans_forget(struct layer *layer, uint32_t first, uint32_t last,
                     const struct tw_allocator *allocator);
void tw_spans_free(struct layer *layer, const struct tw_allocator *allocator);

/* Takes back every region from number `count` on. */
void tw_image_cut(struct tw_image *image, size_t count);

/* Maps a file, or finds it mapped.  tw_image_settle drops it again when nothing uses it. */
enum tw_status tw_image_back(struct tw_image *image, struct backing **backing,
                             const char *path);
void tw_image_settle(struct tw_image *image, struct backing *backing);

/* A caller's region as this version knows it: checks `size`, names it `name` if it has none. */
enum tw_status tw_image_region_from(struct tw_image *image, struct tw_region *out,
                                    const struct tw_region *region, const char *name);

/* What was found, or not, may be otherwise now. */
static inline void tw_image_forget_hits(struct tw_image *image)
{
    image->hit.is_valid = image->miss.is_valid = false;
    if (image->kept.has_some)
        memset(image->kept.hits, 0, HITS_KEPT * sizeof *image->kept.hits);
    image->kept.has_some = false;
}

/* There are more regions: room where it pays, and not while places are looked for.  Without memory nothing is kept. */
static inline void tw_image_keep_hits(struct tw_image *image)
{
    if (!image->kept.hits && image->count >= HITS_REGIONS)
        image->kept.hits = tw_take(image->allocator, HITS_KEPT * sizeof *image->kept.hits);
}

/* Whether what was found for a place near by tells of this one, too. */
TW_INLINE bool tw_hit_tells(const struct tw_image *image, const struct hit *hit,
                            const struct tw_view *view, uint64_t address)
{
    return hit->is_valid && hit->low <= address && address <= hit->high &&
           hit->view.space == (view->space ? view->space : TW_SPACE_ANY) &&
           hit->view.context == view->context &&
           hit->view.time == (image->has_times ? view->time : 0);
}

/* Callback bytes at `address`, as far as they lie together and at most to `high`; 0: none. */
size_t tw_pages_find(struct tw_image *image, const uint8_t **bytes, const struct tw_view *view,
                     uint64_t address, uint64_t high);
void tw_pages_free(struct tw_image *image);

#endif
