/* SPDX-License-Identifier: BSD-2-Clause */
/* The page that shows reports: one HTML file out of web/, with the data of captures inside. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "shared/output.h"

struct page {
    struct output *out;
    unsigned char carry[3]; /* of base64 */
    size_t carried;
    uint64_t data; /* bytes so far */
};

/* What a page may load: nothing; or data from where it came from. */
enum page_policy { PAGE_ALONE, PAGE_SERVED };

/* What stands before the data, and after it. */
void page_head(struct page *page, enum page_policy policy);
void page_tail(struct page *page);
/* The data of one capture between these two: page_bytes is a tw_write_fn. */
void page_data_begin(struct page *page);
bool page_bytes(void *context, const void *bytes, size_t size);
void page_data_end(struct page *page);

/* The page as it is built in: made by cmake/embed.cmake. */
extern const unsigned char web_page[];
extern const size_t web_page_size;

#endif
