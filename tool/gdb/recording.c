/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads, registers, memory and moves of a recording. */
#include "gdb/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/writable.h"
#include "shared/output.h"

enum { ASK_EACH = 1024 }; /* steps between two looks at the client */

/* ---- places ---- */

/* Without memory every answer would be a wrong one. */
static bool is_done(enum tw_status status)
{
    if (status == TW_E_MEMORY)
        out_of_memory();
    return status == TW_OK;
}

struct tw_replay_place *recording_place(struct recording *recording, uint32_t thread)
{
    const size_t count = tw_replay_thread_count(recording->replay);

    if (thread >= count)
        return NULL;
    if (count > recording->place_room) {
        struct tw_replay_place *places = realloc(recording->places, 2 * count * sizeof *places);
        bool *has = places ? realloc(recording->has_place, 2 * count * sizeof *has) : NULL;

        if (places)
            recording->places = places;
        if (!has)
            out_of_memory();
        recording->has_place = has;
        for (size_t i = recording->place_room; i < 2 * count; i++)
            has[i] = false;
        recording->place_room = 2 * count;
    }
    if (!recording->has_place[thread])
        recording->has_place[thread] =
            is_done(tw_replay_last(recording->replay, &recording->places[thread], thread));
    return recording->has_place[thread] ? &recording->places[thread] : NULL;
}

bool recording_look(struct recording *recording, struct tw_replay_view *view, uint32_t thread)
{
    const struct tw_replay_place *place = recording_place(recording, thread);

    view->size = sizeof *view;
    return place && is_done(tw_replay_look(recording->replay, view, place));
}

/* GDB asks again and again at one place. */
size_t recording_stack(struct recording *recording, uint32_t thread, enum tw_replay_stack wish)
{
    const struct tw_replay_place *place = recording_place(recording, thread);
    const bool is_known = place && recording->has_frames &&
                          recording->framed.thread == thread &&
                          tw_replay_compare(&recording->framed, place) == 0 &&
                          (recording->is_whole || wish == TW_REPLAY_STACK_NEAR);

    if (!is_known) {
        recording->has_frames =
            place && is_done(tw_replay_stack(recording->replay, recording->frames,
                                             RECORDING_FRAMES, &recording->frame_count,
                                             &recording->is_whole, place, wish));
        if (recording->has_frames)
            recording->framed = *place;
    }
    if (!recording->has_frames)
        return 0;
    return recording->frame_count < RECORDING_FRAMES ? recording->frame_count
                                                     : RECORDING_FRAMES;
}

/* ---- threads ---- */

static uint32_t count_threads(void *context)
{
    const struct recording *recording = context;

    return (uint32_t)tw_replay_thread_count(recording->replay);
}

static uint32_t first_thread(void *context)
{
    const struct recording *recording = context;

    return recording->first_thread;
}

static void name_thread(void *context, struct gdb_text *out, uint32_t thread)
{
    const struct recording *recording = context;
    struct tw_replay_thread about = { .size = sizeof about };

    if (tw_replay_thread(recording->replay, &about, thread))
        gdb_text_put(out, about.name);
}

static void put_level(struct gdb_text *out, const struct tw_replay_view *view, bool is_m)
{
    static const char *const privileges[] = { "U-mode", "S-mode", "?", "M-mode" };
    const struct tw_who *who = &view->part.who;
    const bool is_riscv = view->isa == TW_ISA_RV32 || view->isa == TW_ISA_RV64;

    if (!(who->known & TW_WHO_LEVEL))
        gdb_text_put(out, is_riscv ? "privilege not known" : "Exception level not known");
    else if (is_riscv)
        gdb_text_put(out, privileges[who->level & 3]);
    else if (is_m)
        gdb_text_put(out, who->level ? "Handler mode" : "Thread mode");
    else
        gdb_text_format(out, "EL%u %s", who->level, tw_security_name(who->security));
}

static void say_thread(void *context, struct gdb_text *out, uint32_t thread)
{
    struct recording *recording = context;
    struct tw_replay_thread about = { .size = sizeof about };
    struct tw_replay_view view;

    if (!recording_look(recording, &view, thread) ||
        !tw_replay_thread(recording->replay, &about, thread))
        return;
    put_level(out, &view, about.is_m);
    gdb_text_format(out, ", %s", tw_isa_name(view.isa));
    if (view.part.who.known & TW_WHO_CONTEXT)
        gdb_text_format(out, ", context 0x%" PRIx32, view.part.who.context_id);
    if (about.tid != TW_NONE && view.part.who.cpu != TW_NONE)
        gdb_text_format(out, ", CPU %" PRIu32, view.part.who.cpu);
}

/* ---- registers and memory ---- */

static const char *describe(void *context)
{
    const struct recording *recording = context;

    return recording->description.text ? recording->description.text : "";
}

static bool values_of(struct recording *recording, struct gdb_values *values, uint32_t thread)
{
    const struct tw_replay_place *place = recording_place(recording, thread);
    struct tw_replay_view view;
    size_t count = 0;
    bool is_whole;

    if (!recording_look(recording, &view, thread))
        return false;
    if (!is_done(tw_replay_stack(recording->replay, recording->frames, RECORDING_FRAMES, &count,
                                 &is_whole, place, TW_REPLAY_STACK_NEAR)))
        count = 0;
    *values = (struct gdb_values){ .pc = view.pc,
                                   .isa = view.isa,
                                   .has_level = (view.part.who.known & TW_WHO_LEVEL) != 0,
                                   .exception_level = view.part.who.level };
    if (count)
        values->level = recording->frames[0].level;
    if (count > 1) {
        values->returns_to = recording->frames[1].pc;
        values->returns_to_t32 = recording->frames[1].isa == TW_ISA_T32;
    }
    return true;
}

/* The bytes of a register, the lowest first. */
static void put_value(struct gdb_text *out, const struct gdb_register *one,
                      const struct gdb_values *values)
{
    const uint64_t value = values ? one->value(values) : 0;

    for (unsigned byte = 0; byte < one->size; byte++) {
        if (values)
            gdb_text_format(out, "%02x", (unsigned)(value >> 8 * byte & 0xff));
        else
            gdb_text_put(out, "xx");
    }
}

static bool put_registers(void *context, struct gdb_text *out, uint32_t thread, uint32_t number)
{
    struct recording *recording = context;
    const struct gdb_register *one;
    struct gdb_register room;
    struct gdb_values values;
    char name[16];
    bool is_any = false;
    const bool is_known = values_of(recording, &values, thread);

    for (size_t i = 0; (one = gdb_machine_register(recording->machine, i, &room, name)) != NULL;
         i++) {
        if (number != GDB_ALL_REGISTERS && one->number != number)
            continue;
        is_any = true;
        put_value(out, one, one->value && is_known ? &values : NULL);
    }
    return is_any;
}

static void put_known(void *context, struct gdb_text *out, uint32_t thread)
{
    struct recording *recording = context;
    const struct gdb_register *one;
    struct gdb_register room;
    struct gdb_values values;
    char name[16];

    if (!values_of(recording, &values, thread))
        return;
    for (size_t i = 0; (one = gdb_machine_register(recording->machine, i, &room, name)) != NULL;
         i++) {
        if (!one->value)
            continue;
        gdb_text_format(out, "%" PRIx32 ":", one->number);
        put_value(out, one, &values);
        gdb_text_put(out, ";");
    }
}

/* How many bytes from an address on are not written to by the program; 0: the first is. */
static size_t unwritten(const struct recording *recording, uint64_t address, size_t size)
{
    for (size_t i = 0; i < recording->written_count; i++) {
        const struct gdb_stretch *stretch = &recording->written[i];

        if (address - stretch->first < stretch->end - stretch->first)
            return 0;
        if (stretch->first > address && stretch->first - address < size)
            size = (size_t)(stretch->first - address);
    }
    return size;
}

/* The traced call stack as memory: see machine.h.  Returns how many bytes there are. */
static size_t read_frames(struct recording *recording, uint8_t *out, uint32_t thread,
                          uint64_t offset, size_t size)
{
    const int64_t level = (int64_t)(offset / GDB_FRAME_BYTES) - GDB_FRAMES_MOST;
    const size_t count = recording_stack(recording, thread, TW_REPLAY_STACK_NEAR);
    uint8_t record[GDB_FRAME_BYTES] = { 0 };
    size_t at = 0;

    offset %= GDB_FRAME_BYTES;
    if (size > GDB_FRAME_BYTES - offset)
        size = (size_t)(GDB_FRAME_BYTES - offset);
    while (at < count && recording->frames[at].level != level)
        at++;
    if (at < count) {
        const struct tw_replay_frame *caller =
            at + 1 < count && recording->frames[at + 1].pc ? &recording->frames[at + 1] : NULL;

        record[16] = GDB_FRAME_IS_THERE;
        if (caller)
            record[16] |= GDB_FRAME_HAS_CALLER;
        else if (!recording->is_whole)
            record[16] |= GDB_FRAME_LATER;
        if (caller && caller->isa == TW_ISA_T32)
            record[16] |= GDB_FRAME_CALLER_T32;
        for (unsigned i = 0; i < 8; i++) {
            record[i] = (uint8_t)(recording->frames[at].entry >> 8 * i);
            record[8 + i] = (uint8_t)(caller ? caller->pc >> 8 * i : 0);
        }
    }
    memcpy(out, record + offset, size);
    return size;
}

static size_t read_memory(void *context, uint8_t *out, uint32_t thread, uint64_t address,
                          size_t size)
{
    struct recording *recording = context;
    const struct tw_view any = tw_element_view(NULL);
    struct tw_replay_view view;
    size_t there;

    const uint64_t frames =
        gdb_machine_frames(recording->machine) - (uint64_t)GDB_FRAMES_MOST * GDB_FRAME_BYTES;

    if (address - frames < (uint64_t)2 * GDB_FRAMES_MOST * GDB_FRAME_BYTES)
        return read_frames(recording, out, thread, address - frames, size);
    if (!recording_look(recording, &view, thread) || !view.part.image)
        return 0;
    size = unwritten(recording, address, size);
    if (!size)
        return 0;
    if (recording->session->perf && view.part.who.thread) {
        const struct tw_perf_map *map =
            tw_perf_map(recording->session->perf, view.part.who.thread->space, address,
                        view.part.who.view.time);

        if (map && !map->is_executable)
            return 0;
    }
    there = tw_image_read(view.part.image, out, &view.part.who.view, address, size);
    return there ? there : tw_image_read(view.part.image, out, &any, address, size);
}

/* ---- moves ---- */

static bool is_breakpoint(const struct gdb_move *move, uint64_t pc)
{
    for (size_t i = 0; i < move->breakpoint_count; i++)
        if (move->breakpoints[i] == pc)
            return true;
    return false;
}

static void tell_loss(struct gdb_stop *stop, const struct tw_replay_loss *loss)
{
    stop->is_loss = loss->kind != TW_REPLAY_NO_LOSS;
    if (stop->is_loss)
        (void)tw_replay_loss_text(stop->why, sizeof stop->why, loss);
}

/* Steps, at least one. */
static enum tw_status step(struct recording *recording, struct gdb_stop *stop,
                           struct tw_replay_place *place, const struct gdb_move *move)
{
    struct tw_replay_view view = { .size = sizeof view };
    struct tw_replay_loss loss;
    unsigned done = 0;

    for (;;) {
        const enum tw_status status =
            tw_replay_step(recording->replay, place, move->is_back, &loss);

        if (status != TW_OK)
            return status;
        tell_loss(stop, &loss);
        if (!move->has_range || stop->is_loss)
            return TW_OK;
        if (tw_replay_look(recording->replay, &view, place) != TW_OK ||
            view.pc - move->first >= move->end - move->first)
            return TW_OK;
        stop->is_breakpoint = is_breakpoint(move, view.pc);
        if (stop->is_breakpoint)
            return TW_OK;
        if (++done % ASK_EACH == 0 && recording->is_interrupted &&
            recording->is_interrupted(recording->interrupt_context))
            return TW_E_CANCELLED;
    }
}

static enum tw_status go_on(struct recording *recording, struct gdb_stop *stop,
                            struct tw_replay_place *place, const struct gdb_move *move)
{
    struct tw_replay_loss loss;
    const enum tw_status status =
        tw_replay_find(recording->replay, place, move->is_back, move->breakpoints,
                       move->breakpoint_count, &loss);

    if (status == TW_OK) {
        struct tw_replay_view view = { .size = sizeof view };

        tell_loss(stop, &loss);
        stop->is_breakpoint = !stop->is_loss &&
                              tw_replay_look(recording->replay, &view, place) == TW_OK &&
                              is_breakpoint(move, view.pc);
    }
    return status;
}

/* Whether the client steps over a breakpoint.  To do so GDB takes the breakpoint away, if it is there, and moves the
   thread alone.  Where it keeps all breakpoints inserted the first tells, else the second: without "trackway gdb" no
   thread is locked, and all move at other steps. */
static bool steps_over(struct recording *recording, const struct tw_replay_place *place,
                       const struct gdb_move *way)
{
    struct tw_replay_view view = { .size = sizeof view };

    if (!way->is_step || way->has_range ||
        tw_replay_look(recording->replay, &view, place) != TW_OK)
        return false;
    for (size_t i = 0; i < way->removed_count; i++)
        if (way->removed[i] == view.pc)
            return true;
    return way->is_alone && !recording->is_always_inserted;
}

/* GDB 13 forgets that it steps over a breakpoint when the thread stops, but not when history ends: it would wait for
   that step ever after.  The thread just stops then, for no reason (a trap would be the breakpoint again). */
static void tell_end(struct recording *recording, struct gdb_stop *stop,
                     const struct tw_replay_place *place, const struct gdb_move *way)
{
    if (steps_over(recording, place, way)) {
        stop->is_loss = true;
        (void)snprintf(stop->why, sizeof stop->why,
                       "No more reverse-execution history: the trace %s here",
                       way->is_back ? "begins" : "ends");
    } else {
        stop->is_begin = way->is_back;
        stop->is_end = !way->is_back;
    }
}

static bool move(void *context, struct gdb_stop *stop, const struct gdb_move *way)
{
    struct recording *recording = context;
    struct tw_replay_place *place = recording_place(recording, way->thread);
    enum tw_status status;

    if (!place)
        return false;
    status =
        way->is_step ? step(recording, stop, place, way) : go_on(recording, stop, place, way);
    if (status == TW_END) {
        tell_end(recording, stop, place, way);
    } else if (status == TW_E_CANCELLED) {
        stop->is_interrupted = true;
    } else if (status != TW_OK) {
        (void)snprintf(stop->why, sizeof stop->why, "%s", tw_replay_fault(recording->replay));
        return false;
    }
    return true;
}

/* ---- opening ---- */

static bool is_cancelled(void *context)
{
    const struct recording *recording = context;

    return recording->is_interrupted && recording->is_interrupted(recording->interrupt_context);
}

static struct tw_capture *open_again(void *context)
{
    struct recording *recording = context;
    struct session *session = &recording->again[recording->again_count];

    recording->again_options = *recording->session->options;
    recording->again_options.quiet = true; /* it was all said */
    if (recording->again_count == RECORDING_HANDLES || recording->session->spooled)
        return NULL;
    if (session_open(session, &recording->again_options) != DONE) {
        session_close(session);
        return NULL;
    }
    recording->again_count++;
    return session->capture;
}

/* Of the program that was given, or those that the capture tells of. */
static bool find_written(struct recording *recording, const char *program)
{
    struct gdb_programs programs;
    bool is_good = gdb_programs_find(&programs, recording->session, recording->wish, program);

    if (!is_good)
        say("out of memory");
    for (size_t i = 0; is_good && i < programs.count; i++)
        is_good = gdb_writable(recording, &programs.items[i]);
    gdb_programs_free(&programs);
    return is_good;
}

int recording_open(struct recording *recording, struct session *session,
                   struct session_wish *wish, const char *program)
{
    const struct tw_replay_config config = { .size = sizeof config,
                                             .run = &wish->config,
                                             .is_cancelled = is_cancelled,
                                             .open_again = open_again,
                                             .context = recording };
    struct tw_replay_thread about = { .size = sizeof about };
    struct tw_fault fault;

    recording->session = session;
    recording->wish = wish;
    if (!find_written(recording, program))
        return NOT_DONE;
    if (tw_replay_new(&recording->replay, session->capture, &config, &fault) != TW_OK) {
        say("%s: %s", tw_capture_path(session->capture), fault.text);
        return NOT_DONE;
    }
    if (!tw_replay_thread(recording->replay, &about, 0)) {
        say("%s: no instruction can be decoded of it", tw_capture_path(session->capture));
        return NOT_DONE;
    }
    recording->machine = gdb_machine_of(about.isa, about.is_m);
    gdb_machine_describe(recording->machine, &recording->description);
    if (recording->description.is_out)
        out_of_memory();
    recording->target = (struct gdb_target){ .context = recording,
                                             .thread_count = count_threads,
                                             .first_thread = first_thread,
                                             .thread_name = name_thread,
                                             .thread_about = say_thread,
                                             .description = describe,
                                             .registers = put_registers,
                                             .known = put_known,
                                             .memory = read_memory,
                                             .move = move,
                                             .monitor = recording_monitor };
    return DONE;
}

void recording_close(struct recording *recording)
{
    tw_replay_free(recording->replay);
    for (size_t i = 0; i < recording->again_count; i++)
        session_close(&recording->again[i]);
    free(recording->places);
    free(recording->has_place);
    free(recording->written);
    gdb_text_free(&recording->description);
}
