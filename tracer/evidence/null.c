/* null.c - evidence that never sees anything.  Reads nothing, writes empty snapshots. */
#include <stdlib.h>

#include "evidence/evidence.h"

static struct wsdbg_error *null_poll(struct wsdbg_evidence *source, uint64_t now_ns, struct wsdbg_snapshot *out)
{
    *out = (struct wsdbg_snapshot){.time_ns = now_ns, .source = source->ops->name};
    return NULL;
}

static struct wsdbg_error *null_inspect(struct wsdbg_evidence *source, uint64_t now_ns, uint64_t deadline_ns,
                                        struct wsdbg_snapshot *out)
{
    (void)deadline_ns;
    return null_poll(source, now_ns, out);
}

static void null_close(struct wsdbg_evidence *source)
{
    free(source);
}

static const struct wsdbg_evidence_ops null_ops = {
    .name = "none", .poll = null_poll, .inspect = null_inspect, .close = null_close};

struct wsdbg_error *wsdbg_evidence_open_null(struct wsdbg_evidence **out)
{
    struct wsdbg_evidence *source = malloc(sizeof *source);
    if (!source)
        return &wsdbg_error_no_memory;
    source->ops = &null_ops;
    *out = source;
    return NULL;
}
