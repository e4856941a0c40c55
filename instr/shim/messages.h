/* messages.h - what the library says: lines on stderr, notes in the segment, why it switched itself off. */
#ifndef WSDBG_SHIM_MESSAGES_H
#define WSDBG_SHIM_MESSAGES_H

/* Remembers which file stderr is, and the folder in which a reason is left (NULL = none).  At the start, once. */
void messages_start(const char *folder);
/* One line on stderr. */
void shim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A note in the segment; the same text is kept once. */
void shim_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* One line on stderr, off_reason in the segment when there is one, and no recording from here on. */
void shim_off(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A new file for the reason why this process is not watched; -1 = there is none. */
int shim_open_reason(int access);

#endif
