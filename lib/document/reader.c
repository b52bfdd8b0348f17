#include "lib/document/reader.h"
#include "lib/files.h"
#include "lib/formats/flow.h"
#include "lib/physics/fabric.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHOWN 60 /* characters of a word in a sentence */

/* ---- the text */

/* A byte order mark of UTF-8, as some editors write it, is passed over. A zero byte would end words unseen.
 */
static int reader_begin(struct reader *r, struct error *e)
{
    static const char mark[] = "\xef\xbb\xbf";
    const char *zero = memchr(r->text, '\0', r->length);
    if (zero) {
        for (const char *at = r->text; (at = memchr(at, '\n', (size_t)(zero - at))); at++)
            r->line++;
        reader_error(r, r->line, e, "a byte is zero, which is not text");
        reader_close(r);
        return -1;
    }
    if (r->length >= strlen(mark) && memcmp(r->text, mark, strlen(mark)) == 0)
        r->at = strlen(mark);
    return 0;
}

int reader_open(struct reader *r, const char *path, struct error *e)
{
    *r = (struct reader){.path = path, .line = 1};
    r->text = files_read(path, READER_MOST_BYTES, &r->length, e);
    return r->text ? reader_begin(r, e) : -1;
}

int reader_take(struct reader *r, const char *name, char *text, size_t length, struct error *e)
{
    *r = (struct reader){.path = name, .text = text, .length = length, .line = 1};
    return reader_begin(r, e);
}

int reader_open_text(struct reader *r, const char *name, const char *text, size_t length, struct error *e)
{
    *r = (struct reader){.path = name, .line = 1, .length = length};
    r->text = malloc(length + 1);
    if (!r->text)
        return error_set(e, "%s: out of memory", name);
    if (length)
        memcpy(r->text, text, length);
    r->text[length] = '\0';
    return reader_begin(r, e);
}

void reader_close(struct reader *r)
{
    free(r->text);
    r->text = NULL;
    r->length = 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool reader_word_in_line(struct reader *r, struct word *word)
{
    while (r->at < r->length && is_blank(r->text[r->at]))
        r->at++;
    size_t begin = r->at;
    while (r->at < r->length && r->text[r->at] != '\n' && !is_blank(r->text[r->at]))
        r->at++;
    *word = (struct word){r->text + begin, r->at - begin, r->line};
    return word->length > 0;
}

bool reader_next_line(struct reader *r)
{
    const char *end = r->at < r->length ? memchr(r->text + r->at, '\n', r->length - r->at) : NULL;
    if (!end) {
        r->at = r->length;
        return false;
    }
    r->at = (size_t)(end - r->text) + 1;
    r->line++;
    return true;
}

/* The next word, in this line or in a later one; false at the end. */
static bool reader_word(struct reader *r, struct word *word)
{
    while (!reader_word_in_line(r, word))
        if (!reader_next_line(r))
            return false;
    return true;
}

bool reader_has_more(const struct reader *r)
{
    struct reader ahead = *r;
    struct word word;
    return reader_word(&ahead, &word);
}

int reader_expect(struct reader *r, const char *what, struct word *word, struct error *e)
{
    if (reader_word(r, word))
        return 0;
    return reader_error(r, r->line, e, "the file ends here: expected %s", what);
}

bool word_is(const struct word *word, const char *text)
{
    return strlen(text) == word->length && memcmp(word->at, text, word->length) == 0;
}

int reader_error(const struct reader *r, unsigned line, struct error *e, const char *format, ...)
{
    char words[800];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    return error_set(e, "%.160s:%u: %s", r->path, line, words);
}

/* ---- numbers */

#define LARGEST (INT64_MAX / 16)

struct decimal {
    int64_t digits;
    int exponent;
    bool cut, any;
};

/* Digits beyond the 18th only count where they are not 0. */
static void take_digit(struct decimal *d, char c, bool fraction)
{
    d->any = true;
    if (d->digits < LARGEST / 100) {
        d->digits = d->digits * 10 + (c - '0');
        d->exponent -= fraction ? 1 : 0;
    } else {
        d->cut = d->cut || c != '0';
        d->exponent += fraction ? 0 : 1;
    }
}

static int take_exponent(const char *at, const char *end, struct decimal *d)
{
    bool minus = at < end && *at == '-';
    int value = 0;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return -1;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9' || value > 1000)
            return -1;
        value = value * 10 + (*at - '0');
    }
    d->exponent += minus ? -value : value;
    return 0;
}

int decimal_parse(const char *text, size_t length, int exponent, int64_t *value, bool *whole)
{
    struct decimal d = {.exponent = exponent};
    const char *at = text, *end = text + length;
    bool fraction = false;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.' && !fraction)
            fraction = true;
        else if (*at >= '0' && *at <= '9')
            take_digit(&d, *at, fraction);
        else
            return -1;
    }
    if (!d.any || (at < end && take_exponent(at + 1, end, &d) != 0))
        return -1;
    for (; d.exponent > 0 && d.digits; d.exponent--) {
        if (d.digits > LARGEST / 10)
            return -1;
        d.digits *= 10;
    }
    for (; d.exponent < 0 && d.digits; d.exponent++) {
        d.cut = d.cut || d.digits % 10;
        d.digits /= 10;
    }
    *value = d.digits;
    *whole = !d.cut;
    return 0;
}

int word_shown(const struct word *word)
{
    return (int)(word->length < MOST_SHOWN ? word->length : MOST_SHOWN);
}

int word_integer(const struct reader *r, const struct word *word, const char *what, int64_t min, int64_t max,
                 int64_t *value, struct error *e)
{
    bool whole = false;
    if (memchr(word->at, 'e', word->length) || memchr(word->at, 'E', word->length) ||
        decimal_parse(word->at, word->length, 0, value, &whole) != 0 || !whole || *value < min ||
        *value > max)
        return reader_error(r, word->line, e,
                            "%s is \"%.*s\": expected a whole number from %" PRId64 " to %" PRId64, what,
                            word_shown(word), word->at, min, max);
    return 0;
}

int read_integer(struct reader *r, const char *what, int64_t min, int64_t max, int64_t *value,
                 struct error *e)
{
    struct word word;
    if (reader_expect(r, what, &word, e) != 0)
        return -1;
    return word_integer(r, &word, what, min, max, value, e);
}

/* How many characters of a word are its number. */
static size_t number_length(const struct word *word)
{
    size_t n = 0;
    while (n < word->length && ((word->at[n] >= '0' && word->at[n] <= '9') || word->at[n] == '.'))
        n++;
    return n;
}

struct suffix {
    const char *text;
    int exponent;
    int64_t factor;
};

static const struct suffix *suffix_of(const struct suffix *known, const struct word *word, size_t number)
{
    const struct word rest = {word->at + number, word->length - number, word->line};
    for (; known->text; known++)
        if (word_is(&rest, known->text))
            return known;
    return NULL;
}

/* ns-3, network/utils/data-rate.cc: k and K are both 1000; B is 8 bits; without a unit bits per second. */
#define KIB INT64_C(1024)
static const struct suffix rates[] = {{"", 0, 1},
                                      {"bps", 0, 1},
                                      {"b/s", 0, 1},
                                      {"Bps", 0, 8},
                                      {"B/s", 0, 8},
                                      {"kbps", 3, 1},
                                      {"kb/s", 3, 1},
                                      {"Kbps", 3, 1},
                                      {"Kb/s", 3, 1},
                                      {"kBps", 3, 8},
                                      {"kB/s", 3, 8},
                                      {"KBps", 3, 8},
                                      {"KB/s", 3, 8},
                                      {"Kib/s", 0, KIB},
                                      {"KiB/s", 0, 8 * KIB},
                                      {"Mbps", 6, 1},
                                      {"Mb/s", 6, 1},
                                      {"MBps", 6, 8},
                                      {"MB/s", 6, 8},
                                      {"Mib/s", 0, KIB *KIB},
                                      {"MiB/s", 0, 8 * KIB *KIB},
                                      {"Gbps", 9, 1},
                                      {"Gb/s", 9, 1},
                                      {"GBps", 9, 8},
                                      {"GB/s", 9, 8},
                                      {"Gib/s", 0, KIB *KIB *KIB},
                                      {"GiB/s", 0, 8 * KIB *KIB *KIB},
                                      {0}};

/* *bps is -1 where it is not whole, or too large for the type. -1: it is no rate. */
static int parse_rate(const struct word *word, int64_t *bps)
{
    size_t number = number_length(word);
    const struct suffix *suffix = suffix_of(rates, word, number);
    int64_t value = 0;
    bool whole = false;
    if (!suffix || decimal_parse(word->at, number, suffix->exponent, &value, &whole) != 0)
        return -1;
    *bps = whole && value <= INT64_MAX / suffix->factor ? value * suffix->factor : -1;
    return 0;
}

int word_bps(const struct word *word, int64_t *bps)
{
    return parse_rate(word, bps) == 0 && *bps >= 0 ? 0 : -1;
}

int word_rate(const struct reader *r, const struct word *word, int64_t *bps, struct error *e)
{
    if (parse_rate(word, bps) != 0)
        return reader_error(
            r, word->line, e,
            "the rate is \"%.*s\": expected one such as 100Gbps (bps, b/s, Bps or B/s, with k, "
            "M or G; without a unit bits per second)",
            word_shown(word), word->at);
    if (*bps > FLOW_MAX_RATE_BPS || *bps < PHYSICS_LINK_LEAST_BPS)
        return reader_error(r, word->line, e,
                            "the rate is \"%.*s\": expected whole bits per second, 2 Mb/s to 8.796 Tb/s",
                            word_shown(word), word->at);
    return 0;
}

/* ns-3, core/model/time.cc: without a unit seconds. */
static const struct suffix times[] = {{"ps", 0, 1}, {"ns", 3, 1}, {"us", 6, 1}, {"ms", 9, 1},
                                      {"s", 12, 1}, {"", 12, 1},  {0}};

int word_time(const struct reader *r, const struct word *word, int64_t *ps, struct error *e)
{
    size_t number = number_length(word);
    const struct suffix *suffix = suffix_of(times, word, number);
    bool whole = false;
    if (!suffix || decimal_parse(word->at, number, suffix->exponent, ps, &whole) != 0)
        return reader_error(
            r, word->line, e,
            "the delay is \"%.*s\": expected one such as 1000ns or 0.001ms (ps, ns, us, ms, s)",
            word_shown(word), word->at);
    if (!whole || *ps > PHYSICS_LINK_MOST_DELAY_PS)
        return reader_error(
            r, word->line, e, "the delay is \"%.*s\": expected whole picoseconds, at most %lld s",
            word_shown(word), word->at, (long long)(PHYSICS_LINK_MOST_DELAY_PS / 1000000000000));
    return 0;
}
