/* SPDX-License-Identifier: BSD-2-Clause */
/* Making lines takes several times as long as decoding what they tell of.  Elements are gathered in
   portions, any thread makes the lines of one, and the caller's thread writes them in order.  Where it
   would wait it makes lines, too.  Packets are copied with their bytes. */
#include "formats/threads.h"

#include <pthread.h>
#include <stdlib.h>

enum { PORTION = 4096, PORTIONS_PER_THREAD = 3, PACKETS_ROOM = 1 << 20 };

enum portion_phase { PORTION_FREE, PORTION_FULL, PORTION_AT_WORK, PORTION_DONE };

struct portion {
    enum portion_phase phase;
    size_t count;
    struct tw_element elements[PORTION];
    uint8_t ids[PORTION];           /* of each element ... */
    uint32_t srcs[PORTION];         /* ... as its batch had them */
    struct tw_packet_view *packets; /* or packets, PORTION of them; NULL: none came yet */
    size_t packet_count;
    uint8_t *memory; /* that they point into, PACKETS_ROOM */
    size_t memory_used;
    struct output out; /* in memory */
    struct lines lines;
};

struct line_threads {
    struct output *out;
    pthread_mutex_t lock;     /* of all below, and of the phase of portions */
    pthread_cond_t work;      /* a portion is full */
    pthread_cond_t done;      /* one is done */
    struct portion *portions; /* a ring */
    size_t portion_count;
    size_t filled, begun, written; /* portions, from the first on */
    bool is_ending;
    pthread_t *threads;
    size_t thread_count;
};

static struct portion *portion_at(const struct line_threads *threads, size_t number)
{
    return &threads->portions[number % threads->portion_count];
}

/* With the lock, which it leaves for the time: the next portion's lines. */
static void make_lines(struct line_threads *threads)
{
    struct portion *portion = portion_at(threads, threads->begun++);
    struct tw_batch of = { .size = sizeof of };

    portion->phase = PORTION_AT_WORK;
    (void)pthread_mutex_unlock(&threads->lock);
    for (size_t i = 0; i < portion->count; i++) {
        of.id = portion->ids[i];
        of.src = portion->srcs[i];
        portion->lines.style->element(&portion->lines, &portion->elements[i], &of);
    }
    for (size_t i = 0; i < portion->packet_count; i++)
        portion->lines.style->packet(&portion->lines, &portion->packets[i]);
    (void)pthread_mutex_lock(&threads->lock);
    portion->phase = PORTION_DONE;
    (void)pthread_cond_signal(&threads->done);
}

static void *work(void *context)
{
    struct line_threads *threads = context;

    (void)pthread_mutex_lock(&threads->lock);
    while (!threads->is_ending) {
        if (threads->begun < threads->filled)
            make_lines(threads);
        else
            (void)pthread_cond_wait(&threads->work, &threads->lock);
    }
    (void)pthread_mutex_unlock(&threads->lock);
    return NULL;
}

/* With the lock, which it leaves for the time: the oldest portion is written. */
static void write_portion(struct line_threads *threads)
{
    struct portion *portion = portion_at(threads, threads->written++);

    (void)pthread_mutex_unlock(&threads->lock);
    output_bytes(threads->out, portion->out.buffer, portion->out.used);
    portion->out.used = portion->count = portion->packet_count = portion->memory_used = 0;
    (void)pthread_mutex_lock(&threads->lock);
    portion->phase = PORTION_FREE;
}

/* With the lock: writes until no more than so many portions are under way. */
static void write_until(struct line_threads *threads, size_t left)
{
    while (threads->filled - threads->written > left) {
        if (portion_at(threads, threads->written)->phase == PORTION_DONE)
            write_portion(threads);
        else if (threads->begun < threads->filled)
            make_lines(threads);
        else
            (void)pthread_cond_wait(&threads->done, &threads->lock);
    }
}

static void hand_over(struct line_threads *threads)
{
    (void)pthread_mutex_lock(&threads->lock);
    portion_at(threads, threads->filled++)->phase = PORTION_FULL;
    (void)pthread_cond_signal(&threads->work);
    while (threads->written < threads->filled &&
           portion_at(threads, threads->written)->phase == PORTION_DONE)
        write_portion(threads);
    write_until(threads, threads->portion_count - 1);
    (void)pthread_mutex_unlock(&threads->lock);
}

void line_threads_element(struct line_threads *threads, const struct tw_element *element,
                          const struct tw_batch *of)
{
    struct portion *portion = portion_at(threads, threads->filled);

    portion->elements[portion->count] = *element;
    portion->ids[portion->count] = of->id;
    portion->srcs[portion->count++] = of->src;
    if (portion->count == PORTION)
        hand_over(threads);
}

/* The portion to be filled, with room for packets. */
static struct portion *packet_portion(struct line_threads *threads)
{
    struct portion *portion = portion_at(threads, threads->filled);

    if (!portion->packets) {
        portion->packets = calloc(PORTION, sizeof *portion->packets);
        portion->memory = malloc(PACKETS_ROOM);
        if (!portion->packets || !portion->memory)
            out_of_memory();
    }
    return portion;
}

void line_threads_packet(struct line_threads *threads, const struct tw_packet_view *packet)
{
    for (bool is_again = false;; is_again = true) {
        struct portion *portion = packet_portion(threads);
        struct tw_packet_view *to = &portion->packets[portion->packet_count];
        const size_t room = PACKETS_ROOM - portion->memory_used;
        size_t size;

        to->size = sizeof *to;
        size = tw_packet_copy(to, portion->memory + portion->memory_used, room, packet);
        if (size <= room) {
            portion->memory_used += size;
            if (++portion->packet_count == PORTION)
                hand_over(threads);
            return;
        }
        if (!is_again && portion->packet_count) {
            hand_over(threads);
            continue;
        }
        /* Larger than any portion: all before it is written, and then its line. */
        (void)pthread_mutex_lock(&threads->lock);
        write_until(threads, 0);
        (void)pthread_mutex_unlock(&threads->lock);
        portion->lines.style->packet(&portion->lines, packet);
        output_bytes(threads->out, portion->out.buffer, portion->out.used);
        portion->out.used = 0;
        return;
    }
}

static bool set_up(struct line_threads *threads, const struct lines *lines, unsigned count)
{
    threads->portion_count = (size_t)count * PORTIONS_PER_THREAD;
    threads->portions = calloc(threads->portion_count, sizeof *threads->portions);
    threads->threads = calloc(count, sizeof *threads->threads);
    if (!threads->portions || !threads->threads)
        return false;
    for (size_t i = 0; i < threads->portion_count; i++) {
        struct portion *portion = &threads->portions[i];

        output_in_memory(&portion->out, lines->out);
        portion->lines = *lines;
        portion->lines.out = &portion->out;
        if (lines->kept) /* it is one thread's */
            portion->lines.kept = kept_lines_new();
    }
    while (threads->thread_count < count - 1 &&
           pthread_create(&threads->threads[threads->thread_count], NULL, work, threads) == 0)
        threads->thread_count++;
    return threads->thread_count != 0;
}

struct line_threads *line_threads_new(const struct lines *lines, unsigned count)
{
    struct line_threads *threads = count > 1 ? calloc(1, sizeof *threads) : NULL;

    if (!threads)
        return NULL;
    threads->out = lines->out;
    (void)pthread_mutex_init(&threads->lock, NULL);
    (void)pthread_cond_init(&threads->work, NULL);
    (void)pthread_cond_init(&threads->done, NULL);
    if (set_up(threads, lines, count))
        return threads;
    line_threads_free(threads);
    return NULL;
}

void line_threads_free(struct line_threads *threads)
{
    if (!threads)
        return;
    if (threads->thread_count && !output_is_over(threads->out)) {
        if (portion_at(threads, threads->filled)->count ||
            portion_at(threads, threads->filled)->packet_count)
            hand_over(threads);
        (void)pthread_mutex_lock(&threads->lock);
        write_until(threads, 0);
        (void)pthread_mutex_unlock(&threads->lock);
    }
    (void)pthread_mutex_lock(&threads->lock);
    threads->is_ending = true;
    (void)pthread_cond_broadcast(&threads->work);
    (void)pthread_mutex_unlock(&threads->lock);
    for (size_t i = 0; i < threads->thread_count; i++)
        (void)pthread_join(threads->threads[i], NULL);
    for (size_t i = 0; threads->portions && i < threads->portion_count; i++) {
        free(threads->portions[i].out.buffer);
        kept_lines_free(threads->portions[i].lines.kept);
        free(threads->portions[i].packets);
        free(threads->portions[i].memory);
    }
    (void)pthread_cond_destroy(&threads->work);
    (void)pthread_cond_destroy(&threads->done);
    (void)pthread_mutex_destroy(&threads->lock);
    free(threads->threads);
    free(threads->portions);
    free(threads);
}
