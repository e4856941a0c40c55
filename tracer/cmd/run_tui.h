/* run_tui.h - `wsdbg run --tui`: the viewer on the terminal, the program on a terminal of its own.
 *
 * It listens to the watch (pictures, words) and is served while the child is waited for.  Words that would have gone
 * to stderr are shown in the log and written to stderr when the terminal is given back.
 */
#ifndef WSDBG_CMD_RUN_TUI_H
#define WSDBG_CMD_RUN_TUI_H

#include "watch/session.h"
#include "program/supervise.h"

struct wsdbg_tui;

/* Makes the program's terminal; an error where there is no terminal to draw on.  Nothing is drawn yet. */
struct wsdbg_error *wsdbg_tui_create(uint64_t look_every_ns, struct wsdbg_tui **out);
/* True when the reader is due a look at kernels without probes: every look_every_ns (0 = never), and on Ctrl-\. */
bool wsdbg_tui_wants_look(struct wsdbg_tui *tui, uint64_t now_ns);
/* Sets what the child needs to know. */
void wsdbg_tui_prepare_child(struct wsdbg_tui *tui, struct wsdbg_child_options *options);
struct wsdbg_listener *wsdbg_tui_listener(struct wsdbg_tui *tui);
/* Takes the terminal.  Child and session must outlive it. */
struct wsdbg_error *wsdbg_tui_open(struct wsdbg_tui *tui, struct wsdbg_child *child,
                                   const struct wsdbg_session *session);
/* True when the reader asked for the end of the program. */
bool wsdbg_tui_ends_program(const struct wsdbg_tui *tui);
/* The program has ended or is not watched any more: puts the rest of its output into the log. */
void wsdbg_tui_finish_log(struct wsdbg_tui *tui);
/* Shows the end until the reader leaves or a signal says so. */
void wsdbg_tui_hold(struct wsdbg_tui *tui, const struct wsdbg_session_end *end);
/* Gives the terminal back and says on stderr what was said meanwhile.  NULL is fine. */
void wsdbg_tui_destroy(struct wsdbg_tui *tui);

#endif
