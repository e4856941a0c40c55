/* segment_snapshot.h - test side: the snapshot that the evidence room makes of written segments. */
#ifndef WSDBG_TESTS_SEGMENT_SNAPSHOT_H
#define WSDBG_TESTS_SEGMENT_SNAPSHOT_H

#include "evidence/segment_writer.h"
#include "model/snapshot.h"

/* One look at one process, alive, with histories as the mirrors hold them; fails the test on an error. */
struct wsdbg_snapshot segment_snapshot(struct segment_writer *writer);
/* The same without histories, as a poll sees it. */
struct wsdbg_snapshot segment_snapshot_light(struct segment_writer *writer);

#endif
