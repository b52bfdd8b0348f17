// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "virtual-connectx/model/words.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool vcx_words_split(struct vcx_words *words, const char *line)
{
    size_t length = 0;
    words->count = 0;
    for (bool within = false; line[length]; length++) {
        if (length == VCX_LINE_BYTES - 1)
            return false;
        bool space = is_space(line[length]);
        words->text[length] = space ? 0 : line[length];
        if (!space && !within) {
            if (words->count == VCX_WORDS)
                return false;
            words->word[words->count++] = words->text + length;
        }
        within = !space;
    }
    words->text[length] = 0;
    return true;
}

bool vcx_word_is(const char *word, const char *name)
{
    while (*word && *word == *name) {
        word++;
        name++;
    }
    return *word == *name;
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

bool vcx_word_number(const char *word, uint64_t least, uint64_t most, uint64_t *value)
{
    unsigned base = word[0] == '0' && (word[1] | 0x20) == 'x' ? 16 : 10;
    uint64_t number = 0;
    word += base == 16 ? 2 : 0;
    if (!*word)
        return false;
    for (; *word; word++) {
        unsigned digit = digit_of(*word);
        if (digit >= base || number > (UINT64_MAX - digit) / base)
            return false;
        number = number * base + digit;
    }
    *value = number;
    return number >= least && number <= most;
}

bool vcx_say(struct vcx_sentence *sentence, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(sentence->text, sizeof sentence->text, format, list);
    va_end(list);
    return false;
}
