/* source_rig.h - a session of a test's own: its segments, a recording of them, the sources that read them. */
#ifndef WSDBG_TESTS_EVIDENCE_SOURCE_RIG_H
#define WSDBG_TESTS_EVIDENCE_SOURCE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "evidence/evidence.h"
#include "evidence/segment_writer.h"

#define MS UINT64_C(1000000)

/* Names of the case's own; CASE makes them and removes what has them. */
extern char session[64], recording[128];
int fresh_names(void **state);
int remove_files(void **state);
#define CASE(function) cmocka_unit_test_setup_teardown(function, fresh_names, remove_files)

/* The segment of a process with one launch, whose one warp has begun. */
struct segment_writer *one_warp(uint32_t process_id, struct segment_warp *warp);
struct wsdbg_evidence *open_ring(void);
struct wsdbg_snapshot poll_at(struct wsdbg_evidence *source, uint64_t now_ns);

#endif
