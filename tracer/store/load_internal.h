/* load_internal.h - private to the room: what the files of the loader share. */
#ifndef WSDBG_STORE_LOAD_INTERNAL_H
#define WSDBG_STORE_LOAD_INTERNAL_H

#include "store/database.h"
#include "store/load.h"

/* Database id to index, for one table.  Filled in ascending order of ids. */
struct wsdbg_id_map {
    int64_t *ids;
    size_t count;
};

struct wsdbg_loader {
    struct wsdbg_store *store;
    struct wsdbg_loaded *loaded;
    int64_t snapshot_id;
    bool newest; /* the picture is the newest one, not the shown one */
    /* One for each table of the snapshot; filled where rows of other tables refer to them. */
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) struct wsdbg_id_map rows;
#include "model/tables.def"
};

/* Adds the next id of a table; false when out of memory. */
bool wsdbg_id_map_push(struct wsdbg_id_map *map, int64_t id);
/* Index of the id; WSDBG_NONE for 0 (NULL) and ids that are not there. */
uint32_t wsdbg_id_map_find(const struct wsdbg_id_map *map, int64_t id);
/* Keeps a copy of the next text column; NULL for NULL. */
const char *wsdbg_loader_string(struct wsdbg_loader *loader, struct wsdbg_select *select);

/* Adds a zeroed row to an array of the snapshot and, where there is a map, the next column to it as the row's id. False
 * when out of memory; the select then fails. */
bool wsdbg_load_row(struct wsdbg_select *select, struct wsdbg_id_map *map, void *array, size_t *count, size_t bytes);
/* Rows of a table that refer to a grid, CTA or warp lie together: counts one into [first, first + count). */
void wsdbg_load_count(uint32_t *first, uint32_t *count, size_t index);

/* Before the warps; after them. */
struct wsdbg_error *wsdbg_load_sites(struct wsdbg_loader *loader);
struct wsdbg_error *wsdbg_load_machine(struct wsdbg_loader *loader);
struct wsdbg_error *wsdbg_load_allocations(struct wsdbg_loader *loader);
struct wsdbg_error *wsdbg_load_communicators(struct wsdbg_loader *loader);
struct wsdbg_error *wsdbg_load_host(struct wsdbg_loader *loader);
struct wsdbg_error *wsdbg_load_launch_sites(struct wsdbg_loader *loader);
struct wsdbg_error *wsdbg_load_session_tables(struct wsdbg_loader *loader);
struct wsdbg_error *wsdbg_load_picture(struct wsdbg_loader *loader, bool histories);
/* The events that wsdbg_loaded.events says, into snapshot.history. */
struct wsdbg_error *wsdbg_load_histories(struct wsdbg_loader *loader);
/* Takes the next columns: kind, barrier, stage, parity, iteration, value, time. */
void wsdbg_select_event(struct wsdbg_select *select, struct wsdbg_history_event *out);
/* Index in snapshot.history of an event's id; WSDBG_NONE for 0 (NULL) and where histories were left out. */
uint32_t wsdbg_loader_event(const struct wsdbg_loader *loader, int64_t id);
struct wsdbg_error *wsdbg_load_diagnosis(struct wsdbg_loader *loader);

#endif
