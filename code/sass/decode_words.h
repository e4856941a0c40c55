/* decode_words.h - an instruction's text while it is written.  Private to decode_name.c and decode_text.c. */
#ifndef WSDBG_SASS_DECODE_WORDS_H
#define WSDBG_SASS_DECODE_WORDS_H

#include "sass/decode.h"

struct wsdbg_instruction_words {
    char *bytes; /* WSDBG_INSTRUCTION_TEXT_BYTES; what does not fit is cut */
    size_t used;
    bool has_operand;
};

void wsdbg_append(struct wsdbg_instruction_words *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text number `choice` of those between bars. */
void wsdbg_append_choice(struct wsdbg_instruction_words *out, const char *texts, uint32_t choice);
/* The operation and its modifiers. */
void wsdbg_append_name(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in);

#endif
