/* trace_writer.c - see trace_writer.h. */
#include "store/trace_writer.h"

#include <inttypes.h>

#include "store/quote.h"

static void put_time(FILE *out, const char *name, uint64_t ns)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

static void begin(struct wsdbg_trace_file *t, const char *phase, struct wsdbg_track track, const char *name)
{
    fprintf(t->out, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"name\":", t->begun ? "," : "", phase,
            track.pid, track.tid);
    wsdbg_put_json_string(t->out, name);
    t->begun = true;
}

/* Arguments are an object; an event ends with it, so that any number may follow. */
static void begin_arguments(struct wsdbg_trace_file *t)
{
    fputs(",\"args\":{", t->out);
    t->begun = false;
}

static void put_key(struct wsdbg_trace_file *t, const char *name)
{
    if (t->begun)
        putc(',', t->out);
    wsdbg_put_json_string(t->out, name);
    putc(':', t->out);
    t->begun = true;
}

void wsdbg_trace_number(struct wsdbg_trace_file *t, const char *name, uint64_t value)
{
    put_key(t, name);
    fprintf(t->out, "%" PRIu64, value);
}

void wsdbg_trace_text(struct wsdbg_trace_file *t, const char *name, const char *value)
{
    put_key(t, name);
    wsdbg_put_json_string(t->out, value);
}

void wsdbg_trace_end(struct wsdbg_trace_file *t)
{
    fputs("}}", t->out);
    t->begun = true;
}

static void put_sort_index(struct wsdbg_trace_file *t, const char *what, struct wsdbg_track track, uint64_t sort)
{
    begin(t, "M", track, what);
    begin_arguments(t);
    wsdbg_trace_number(t, "sort_index", sort);
    wsdbg_trace_end(t);
}

void wsdbg_trace_name(struct wsdbg_trace_file *t, const char *what, struct wsdbg_track track, const char *name,
                      uint64_t sort)
{
    begin(t, "M", track, what);
    begin_arguments(t);
    wsdbg_trace_text(t, "name", name);
    wsdbg_trace_end(t);
    put_sort_index(t, track.tid ? "thread_sort_index" : "process_sort_index", track, sort);
}

void wsdbg_trace_slice(struct wsdbg_trace_file *t, struct wsdbg_track track, const char *name, uint64_t time_ns,
                       uint64_t duration_ns)
{
    begin(t, "X", track, name);
    put_time(t->out, "ts", time_ns);
    put_time(t->out, "dur", duration_ns);
    begin_arguments(t);
}

void wsdbg_trace_moment(struct wsdbg_trace_file *t, struct wsdbg_track track, const char *name, uint64_t time_ns,
                        const char *scope)
{
    begin(t, "i", track, name);
    put_time(t->out, "ts", time_ns);
    fprintf(t->out, ",\"s\":\"%s\"", scope);
    begin_arguments(t);
}

void wsdbg_trace_counter(struct wsdbg_trace_file *t, struct wsdbg_track track, const char *name, uint64_t time_ns)
{
    begin(t, "C", track, name);
    put_time(t->out, "ts", time_ns);
    begin_arguments(t);
}

void wsdbg_trace_arrow(struct wsdbg_trace_file *t, uint64_t id, struct wsdbg_track from, struct wsdbg_track to,
                       uint64_t time_ns)
{
    begin(t, "s", from, "waits for");
    put_time(t->out, "ts", time_ns);
    fprintf(t->out, ",\"cat\":\"cycle\",\"id\":%" PRIu64, id);
    begin_arguments(t);
    wsdbg_trace_end(t);
    begin(t, "f", to, "waits for");
    put_time(t->out, "ts", time_ns);
    fprintf(t->out, ",\"cat\":\"cycle\",\"id\":%" PRIu64 ",\"bp\":\"e\"", id);
    begin_arguments(t);
    wsdbg_trace_end(t);
}
