/* SPDX-License-Identifier: BSD-2-Clause */
/* See page.h. */
#include "report/page.h"

#include <string.h>

/* Each stands once in the page: where the policy goes, and the data. */
static const char policy_mark[] = "<!--POLICY-->", data_mark[] = "<!--DATA-->";

/* Where a mark begins; the end of the page: nowhere. */
static size_t find_mark(const char *mark)
{
    const size_t size = strlen(mark);

    for (size_t i = 0; i + size <= web_page_size; i++)
        if (memcmp(web_page + i, mark, size) == 0)
            return i;
    return web_page_size;
}

static void put_rest(struct page *page, size_t first, size_t end)
{
    if (first < end)
        output_bytes(page->out, web_page + first, end - first);
}

void page_head(struct page *page, enum page_policy policy)
{
    const size_t place = find_mark(policy_mark);

    put_rest(page, 0, place);
    output_format(page->out,
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:;%s "
                  "base-uri 'none'; form-action 'none'\">",
                  policy == PAGE_SERVED ? " connect-src 'self';" : "");
    put_rest(page, place + sizeof policy_mark - 1, find_mark(data_mark));
}

void page_tail(struct page *page)
{
    put_rest(page, find_mark(data_mark) + sizeof data_mark - 1, web_page_size);
}

void page_data_begin(struct page *page)
{
    output_text(page->out, "<script type=\"application/x-trackway-data\">");
    page->carried = 0;
}

static void put_triple(struct page *page, const unsigned char *bytes, size_t count)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned word = (unsigned)bytes[0] << 16 | (unsigned)bytes[1] << 8 | bytes[2];
    char *out = output_room(page->out, 4);

    if (!out)
        return;
    out[0] = digits[word >> 18];
    out[1] = digits[word >> 12 & 63];
    out[2] = count > 1 ? digits[word >> 6 & 63] : '=';
    out[3] = count > 2 ? digits[word & 63] : '=';
    output_took(page->out, 4);
}

bool page_bytes(void *context, const void *bytes, size_t size)
{
    struct page *page = context;
    const unsigned char *from = bytes;

    page->data += size;
    for (; size; size--) {
        page->carry[page->carried++] = *from++;
        if (page->carried == 3) {
            put_triple(page, page->carry, 3);
            page->carried = 0;
        }
    }
    return !output_is_over(page->out);
}

void page_data_end(struct page *page)
{
    if (page->carried) {
        memset(page->carry + page->carried, 0, sizeof page->carry - page->carried);
        put_triple(page, page->carry, page->carried);
    }
    output_text(page->out, "</script>\n");
}
