/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Requests and settings as lines of words, and the sentences that answer them. */
#ifndef VCX_WORDS_H
#define VCX_WORDS_H

#include "virtual-connectx/model/base.h"

#define VCX_WORDS      16
#define VCX_LINE_BYTES 160

struct vcx_words {
    char text[VCX_LINE_BYTES];
    const char *word[VCX_WORDS]; /* into text */
    int count;
};

/* What was wrong with a line, for the one who wrote it. */
struct vcx_sentence {
    char text[VCX_LINE_BYTES];
};

/* At spaces, tabs and line ends. false: too long or too many words. */
bool vcx_words_split(struct vcx_words *words, const char *line);
bool vcx_word_is(const char *word, const char *name);
/* Decimal, or hexadecimal after 0x. false: no number, or out of range. */
bool vcx_word_number(const char *word, uint64_t least, uint64_t most, uint64_t *value);
/* Always false, to be returned. */
bool vcx_say(struct vcx_sentence *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
