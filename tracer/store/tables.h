/* tables.h - private to the room: the parts of one snapshot's transaction.
 *
 * Session tables (contexts, modules, names, functions, launches, activities) are updated in place by their
 * natural key; a picture's tables (grids … events, threads, notes) are written anew each time.
 */
#ifndef WSDBG_STORE_TABLES_H
#define WSDBG_STORE_TABLES_H

#include "store/database.h"

/* Database ids by snapshot index. */
struct wsdbg_table_ids {
    int64_t *contexts, *modules, *names, *functions, *launches;
};
void wsdbg_table_ids_deinit(struct wsdbg_table_ids *ids);

/* Binds the id of row `index`, NULL where the index is WSDBG_NONE or out of range. */
void wsdbg_insert_reference(struct wsdbg_insert *insert, const int64_t *ids, size_t count, uint32_t index);
/* The same for tables whose ids are consecutive. */
void wsdbg_insert_offset(struct wsdbg_insert *insert, int64_t base, size_t count, uint32_t index);

struct wsdbg_error *wsdbg_write_session_tables(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                               struct wsdbg_table_ids *ids);
/* A process of which no more than its number is known, and when it was first seen. */
#define WSDBG_INSERT_PROCESS_NUMBER                                             \
    "INSERT OR IGNORE INTO process (process_id, first_seen_ns, pid, hostname) " \
    "VALUES (?1, ?2, ?1, (SELECT hostname FROM session))"
/* Before the session tables, whose rows name processes. */
struct wsdbg_error *wsdbg_write_processes(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot);
/* Of a picture, after its grids. */
struct wsdbg_error *wsdbg_write_members(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot);
/* Parts of a picture: after its grids and before its warps; after its warps. */
struct wsdbg_error *wsdbg_write_sites(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                      const struct wsdbg_table_ids *ids);
struct wsdbg_error *wsdbg_write_machine(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                        const struct wsdbg_table_ids *ids);
struct wsdbg_error *wsdbg_write_allocations(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                            const struct wsdbg_table_ids *ids);
struct wsdbg_error *wsdbg_write_communicators(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                              const struct wsdbg_table_ids *ids);
struct wsdbg_error *wsdbg_write_host(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot);
/* Of a picture, after its grids and communicators. */
struct wsdbg_error *wsdbg_write_launch_sites(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                             const struct wsdbg_table_ids *ids);
struct wsdbg_error *wsdbg_write_picture(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                        const struct wsdbg_table_ids *ids);

/* Whose fault it is, for the members of the picture that store->snapshot_id names. */
struct wsdbg_error *wsdbg_write_blame(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                      const struct wsdbg_diagnosis *diagnosis);

/* Words of enum wsdbg_name_kind and wsdbg_activity_kind in the database. */
const char *wsdbg_name_kind_word(unsigned kind);
const char *wsdbg_activity_kind_word(unsigned kind);

#endif
