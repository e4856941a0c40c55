/* memory_states.h - what memory_test knows of a polled word: whose memory it is, and what host, GPUs and other
 * processes do.  Each function adds one fact to a picture; what it is stands at its definition.
 */
#ifndef TEST_DIAGNOSE_MEMORY_STATES_H
#define TEST_DIAGNOSE_MEMORY_STATES_H

#include "picture.h"

enum { PROCESS = 10, OTHER_PROCESS = 20 };
#define AT UINT64_C(0x7f1200000000)
#define LAUNCHED UINT64_C(1000000000)
#define NOW UINT64_C(5000000000)

struct wsdbg_allocation *add_memory(struct picture *p, uint32_t kind, const char *call);
void nothing_known(struct picture *p);
void device(struct picture *p);
void pool(struct picture *p);
void mapped(struct picture *p);
void mapped_for_host(struct picture *p);
void host(struct picture *p);
void managed(struct picture *p);
void registered(struct picture *p);
void imported(struct picture *p);
void mapped_import(struct picture *p);
void of_unknown_handle(struct picture *p);
void of_a_later_kind(struct picture *p);
void exported(struct picture *p);
void other_ended(struct picture *p);
void other_alive(struct picture *p);
void other_without_context(struct picture *p);
void other_had_no_memory(struct picture *p);
void one_of_two_ended(struct picture *p);
void other_ended_host_free(struct picture *p);
void other_ended_peer_works(struct picture *p);
void other_ended_no_cards(struct picture *p);
void exported_mapping(struct picture *p);
void exported_elsewhere(struct picture *p);
void for_cards(struct picture *p);
void of_another_process(struct picture *p);
void beside(struct picture *p);
void on_another_gpu(struct picture *p);
void somewhere(struct picture *p);
void freed_before(struct picture *p);
void freed_after_launch(struct picture *p);
void host_there_since_launch(struct picture *p);
void host_free(struct picture *p);
void another_thread(struct picture *p);
void graph(struct picture *p);
void given_before_attach(struct picture *p);
void given_after_attach(struct picture *p);
void not_known_what_was_given(struct picture *p);
void attached_early(struct picture *p);
void copies_since_attach(struct picture *p);
void graph_looked_at_again(struct picture *p);
void another_thread_since_attach(struct picture *p);
void second_gpu(struct picture *p, uint64_t given_ns, uint64_t done_ns);
void peer_done(struct picture *p);
void peer_idle(struct picture *p);
void peer_works(struct picture *p);
void peer_not_followed(struct picture *p);
void peer_unfinished(struct picture *p);
void peer_gone(struct picture *p);
void stranger_works(struct picture *p);
void other_process_works(struct picture *p);
void read_for_this_gpu(struct picture *p);
void rows_left_out(struct picture *p);

#endif
