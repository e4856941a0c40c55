/* terminal_relay.h - a terminal for the program, where wsdbg keeps the real one for itself. */
#ifndef WSDBG_PROGRAM_TERMINAL_RELAY_H
#define WSDBG_PROGRAM_TERMINAL_RELAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct wsdbg_relay;

/* Makes a pseudo terminal with the modes and the size of `terminal`.  `output` gets what the program writes. */
struct wsdbg_error *wsdbg_relay_create(int terminal, void (*output)(void *owner, const char *bytes, size_t count),
                                       void *owner, struct wsdbg_relay **out);
/* The program's end; the relay closes it in wsdbg_relay_release, once the program has its own. */
int wsdbg_relay_slave(const struct wsdbg_relay *relay);
void wsdbg_relay_release(struct wsdbg_relay *relay);
/* To be polled for these events; -1 when nobody has the program's end open any more. */
int wsdbg_relay_descriptor(const struct wsdbg_relay *relay);
short wsdbg_relay_events(const struct wsdbg_relay *relay);
/* Passes on what can be passed on without waiting: output (256 KiB a call at most), input, a new size. */
void wsdbg_relay_serve(struct wsdbg_relay *relay);
/* Reads all that is left of the output of a program that has ended. */
void wsdbg_relay_drain(struct wsdbg_relay *relay);
/* Input for the program.  What does not fit (64 KiB that it has not read) is lost. */
void wsdbg_relay_write(struct wsdbg_relay *relay, const char *bytes, size_t count);
/* NULL is fine. */
void wsdbg_relay_destroy(struct wsdbg_relay *relay);

#endif
