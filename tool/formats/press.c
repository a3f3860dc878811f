/* SPDX-License-Identifier: BSD-2-Clause */
/* Making lines takes several times as long as decoding what they tell of.  Elements are gathered in
   sheets, any thread makes the lines of one, and the caller's thread writes them in order.  Where it
   would wait it makes lines, too. */
#include "formats/press.h"

#include <pthread.h>
#include <stdlib.h>

enum { SHEET = 4096, SHEETS_PER_THREAD = 3 };

enum sheet_phase { SHEET_FREE, SHEET_FULL, SHEET_AT_WORK, SHEET_DONE };

struct sheet {
    enum sheet_phase phase;
    size_t count;
    struct tw_element elements[SHEET];
    uint8_t ids[SHEET];
    struct output out; /* in memory */
    struct lines lines;
};

struct press {
    struct output *out;
    pthread_mutex_t lock; /* of all below, and of the phase of sheets */
    pthread_cond_t work;  /* a sheet is full */
    pthread_cond_t done;  /* one is done */
    struct sheet *sheets; /* a ring */
    size_t sheet_count;
    size_t filled, begun, written; /* sheets, from the first on */
    bool is_ending;
    pthread_t *threads;
    size_t thread_count;
};

static struct sheet *sheet_at(const struct press *press, size_t number)
{
    return &press->sheets[number % press->sheet_count];
}

/* With the lock, which it leaves for the time: the next sheet's lines. */
static void make_lines(struct press *press)
{
    struct sheet *sheet = sheet_at(press, press->begun++);

    sheet->phase = SHEET_AT_WORK;
    (void)pthread_mutex_unlock(&press->lock);
    for (size_t i = 0; i < sheet->count; i++)
        lines_element(&sheet->lines, &sheet->elements[i], sheet->ids[i]);
    (void)pthread_mutex_lock(&press->lock);
    sheet->phase = SHEET_DONE;
    (void)pthread_cond_signal(&press->done);
}

static void *work(void *context)
{
    struct press *press = context;

    (void)pthread_mutex_lock(&press->lock);
    while (!press->is_ending) {
        if (press->begun < press->filled)
            make_lines(press);
        else
            (void)pthread_cond_wait(&press->work, &press->lock);
    }
    (void)pthread_mutex_unlock(&press->lock);
    return NULL;
}

/* With the lock, which it leaves for the time: the oldest sheet is written. */
static void write_sheet(struct press *press)
{
    struct sheet *sheet = sheet_at(press, press->written++);

    (void)pthread_mutex_unlock(&press->lock);
    output_bytes(press->out, sheet->out.buffer, sheet->out.used);
    sheet->out.used = sheet->count = 0;
    (void)pthread_mutex_lock(&press->lock);
    sheet->phase = SHEET_FREE;
}

/* With the lock: writes until no more than so many sheets are under way. */
static void write_until(struct press *press, size_t left)
{
    while (press->filled - press->written > left) {
        if (sheet_at(press, press->written)->phase == SHEET_DONE)
            write_sheet(press);
        else if (press->begun < press->filled)
            make_lines(press);
        else
            (void)pthread_cond_wait(&press->done, &press->lock);
    }
}

static void hand_over(struct press *press)
{
    (void)pthread_mutex_lock(&press->lock);
    sheet_at(press, press->filled++)->phase = SHEET_FULL;
    (void)pthread_cond_signal(&press->work);
    while (press->written < press->filled &&
           sheet_at(press, press->written)->phase == SHEET_DONE)
        write_sheet(press);
    write_until(press, press->sheet_count - 1);
    (void)pthread_mutex_unlock(&press->lock);
}

void press_element(struct press *press, const struct tw_element *element, uint8_t id)
{
    struct sheet *sheet = sheet_at(press, press->filled);

    sheet->elements[sheet->count] = *element;
    sheet->ids[sheet->count++] = id;
    if (sheet->count == SHEET)
        hand_over(press);
}

static bool set_up(struct press *press, const struct lines *lines, unsigned threads)
{
    press->sheet_count = (size_t)threads * SHEETS_PER_THREAD;
    press->sheets = calloc(press->sheet_count, sizeof *press->sheets);
    press->threads = calloc(threads, sizeof *press->threads);
    if (!press->sheets || !press->threads)
        return false;
    for (size_t i = 0; i < press->sheet_count; i++) {
        struct sheet *sheet = &press->sheets[i];

        output_in_memory(&sheet->out, lines->out);
        sheet->lines = *lines;
        sheet->lines.out = &sheet->out;
        sheet->lines.csv.scratch = NULL;
        sheet->lines.csv.scratch_room = 0;
    }
    while (press->thread_count < threads - 1 &&
           pthread_create(&press->threads[press->thread_count], NULL, work, press) == 0)
        press->thread_count++;
    return press->thread_count != 0;
}

struct press *press_new(const struct lines *lines, unsigned threads)
{
    struct press *press = threads > 1 ? calloc(1, sizeof *press) : NULL;

    if (!press)
        return NULL;
    press->out = lines->out;
    (void)pthread_mutex_init(&press->lock, NULL);
    (void)pthread_cond_init(&press->work, NULL);
    (void)pthread_cond_init(&press->done, NULL);
    if (set_up(press, lines, threads))
        return press;
    press_free(press);
    return NULL;
}

void press_free(struct press *press)
{
    if (!press)
        return;
    if (press->thread_count && !output_is_over(press->out)) {
        if (sheet_at(press, press->filled)->count)
            hand_over(press);
        (void)pthread_mutex_lock(&press->lock);
        write_until(press, 0);
        (void)pthread_mutex_unlock(&press->lock);
    }
    (void)pthread_mutex_lock(&press->lock);
    press->is_ending = true;
    (void)pthread_cond_broadcast(&press->work);
    (void)pthread_mutex_unlock(&press->lock);
    for (size_t i = 0; i < press->thread_count; i++)
        (void)pthread_join(press->threads[i], NULL);
    for (size_t i = 0; press->sheets && i < press->sheet_count; i++) {
        free(press->sheets[i].out.buffer);
        free(press->sheets[i].lines.csv.scratch);
    }
    (void)pthread_cond_destroy(&press->work);
    (void)pthread_cond_destroy(&press->done);
    (void)pthread_mutex_destroy(&press->lock);
    free(press->threads);
    free(press->sheets);
    free(press);
}
