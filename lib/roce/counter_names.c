/* Matches names of counters with the patterns of the catalogue. */
#include "lib/roce/counters.h"

#include "lib/document/nearest.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- a name against a pattern */

static bool behind_prio(const char *from, const char *at)
{
    return at - from >= 4 && memcmp(at - 4, "prio", 4) == 0;
}

/* The end of the number of a '#'; `at` itself if there is no number. */
static const char *skip_number(const char *at, bool priority)
{
    const char *end = at;
    while (isdigit((unsigned char)*end))
        end++;
    return priority && (end != at + 1 || *at > '7') ? at : end;
}

static bool matches(const char *whole, const char *pattern, const char *name);

/* The pattern's '*' may match any beginning of the name. */
static bool matches_after_any(const char *whole, const char *star, const char *name)
{
    char next = star[1];
    if (!next)
        return true;
    for (; *name; name++) {
        if (next != '#' && next != '*' && !(name = strchr(name, next)))
            return false;
        if (matches(whole, star + 1, name))
            return true;
    }
    return false;
}

static bool matches(const char *whole, const char *pattern, const char *name)
{
    for (; *pattern && *pattern != '*'; pattern++) {
        if (*pattern == '#') {
            const char *end = skip_number(name, behind_prio(whole, pattern));
            if (end == name)
                return false;
            name = end;
        } else if (*pattern != *name++) {
            return false;
        }
    }
    return *pattern ? matches_after_any(whole, pattern, name) : !*name;
}

bool counters_pattern_matches(const char *pattern, const char *name)
{
    return matches(pattern, pattern, name);
}

char *counters_instance(char *buffer, size_t size, const char *pattern, unsigned first, unsigned second)
{
    size_t used = 0, numbers = 0;
    for (const char *c = pattern; *c && used + 1 < size; c++) {
        if (*c != '#') {
            buffer[used++] = *c;
            continue;
        }
        unsigned number = numbers++ ? second : first;
        if (number < 10) { /* most are: snprintf took a tenth of a plan's time */
            buffer[used++] = (char)('0' + number);
            continue;
        }
        int length = snprintf(buffer + used, size - used, "%u", number);
        used = used + (size_t)length < size ? used + (size_t)length : size - 1;
    }
    buffer[used] = '\0';
    return buffer;
}

const struct counter *counters_find(const char *name)
{
    size_t count;
    const struct counter *rows = counters_all(&count);
    for (size_t i = 0; i < count; i++) {
        const char *pattern = rows[i].pattern;
        /* Most rows end here. */
        if (*pattern != *name && *pattern != '*' && *pattern != '#')
            continue;
        if (matches(pattern, pattern, name))
            return &rows[i];
    }
    return NULL;
}

/* ---- a glob against a pattern */

#define MAX_TOKENS 128

/* One character of a set, or any number of them. */
struct token {
    uint64_t set[2]; /* of ASCII */
    bool repeats;
};

static void put(struct token *token, unsigned char first, unsigned char last)
{
    for (unsigned c = first; c <= last && c < 128; c++)
        token->set[c / 64] |= UINT64_C(1) << c % 64;
}

/* "[a-c_]" at `at`: its characters; returns its end, or `at` if it is not closed. */
static const char *put_class(struct token *token, const char *at)
{
    const char *end = at[1] ? strchr(at + 2, ']') : NULL;
    if (!end)
        return at;
    for (const char *c = at + 1; c < end; c++) {
        bool range = c[1] == '-' && c + 2 < end;
        put(token, (unsigned char)*c, (unsigned char)c[range ? 2 : 0]);
        c += range ? 2 : 0;
    }
    return end;
}

/* Parses both notations: globs contain no '#', patterns no '?' and '['. Returns the number of tokens; MAX_TOKENS + 1: too many. */
static size_t tokenize(const char *text, struct token *tokens)
{
    size_t count = 0;
    for (const char *c = text; *c; c++) {
        if (count + 2 > MAX_TOKENS)
            return MAX_TOKENS + 1;
        struct token *token = &tokens[count++];
        *token = (struct token){.repeats = *c == '*'};
        if (*c == '*' || *c == '?') {
            put(token, 1, 127);
        } else if (*c == '#') {
            bool priority = behind_prio(text, c);
            put(token, '0', priority ? '7' : '9');
            if (!priority) {
                tokens[count] = *token;
                tokens[count++].repeats = true;
            }
        } else if (*c == '[' && put_class(token, c) != c) {
            c = strchr(c + 2, ']');
        } else {
            put(token, (unsigned char)*c, (unsigned char)*c);
        }
    }
    return count;
}

static bool meet(const struct token *a, const struct token *b)
{
    return (a->set[0] & b->set[0]) || (a->set[1] & b->set[1]);
}

/* reached[i][j]: some text brings a to its token i and b to its token j. */
bool counters_pattern_overlaps(const char *pattern, const char *glob)
{
    struct token a[MAX_TOKENS + 1], b[MAX_TOKENS + 1];
    bool reached[MAX_TOKENS + 1][MAX_TOKENS + 1] = {{true}};
    size_t n = tokenize(pattern, a), m = tokenize(glob, b);
    if (n > MAX_TOKENS || m > MAX_TOKENS)
        return false;
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (!reached[i][j])
                continue;
            if (i < n && a[i].repeats)
                reached[i + 1][j] = true;
            if (j < m && b[j].repeats)
                reached[i][j + 1] = true;
            if (i < n && j < m && meet(&a[i], &b[j]))
                reached[a[i].repeats ? i : i + 1][b[j].repeats ? j : j + 1] = true;
        }
    }
    return reached[n][m];
}

/* ---- names that people write */

#define NAME_BYTES 128

/* A name in which each number is replaced by '#'. The numbers are later taken from the name itself. */
static void without_numbers(const char *name, char *plain, size_t size)
{
    size_t used = 0;
    for (const char *c = name; *c && used + 1 < size; c++) {
        plain[used++] = isdigit((unsigned char)*c) ? '#' : *c;
        while (isdigit((unsigned char)*c) && isdigit((unsigned char)c[1]))
            c++;
    }
    plain[used] = '\0';
}

/* A pattern in which each '#' is replaced by the name's number, or by 0 if the name has no suitable number. */
static void with_numbers(const char *pattern, const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (const char *c = pattern; *c && used + 12 < size; c++) {
        if (*c != '#') {
            out[used++] = *c;
            continue;
        }
        name += strcspn(name, "0123456789");
        size_t digits = strspn(name, "0123456789");
        bool fits = digits && digits < 10 && skip_number(name, behind_prio(pattern, c)) != name;
        used += (size_t)snprintf(out + used, size - used, "%.*s", fits ? (int)digits : 1, fits ? name : "0");
        name += digits;
    }
    out[used] = '\0';
}

/* The listed pattern that is nearest to a name, or NULL. */
static const char *nearest(const char *plain)
{
    const char *words[512];
    size_t count, used = 0;
    const struct counter *rows = counters_all(&count);
    for (size_t i = 0; i < count && used + 1 < sizeof words / sizeof words[0]; i++)
        if (rows[i].origin != COUNTER_FROM_DRIVER || !strchr(rows[i].pattern, '*'))
            words[used++] = rows[i].pattern;
    words[used] = NULL;
    return nearest_word(plain, words);
}

/* Do two words differ in at most two adjacent characters? */
static bool is_slip(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), first = 0, last = 0;
    while (a[first] && a[first] == b[first])
        first++;
    while (last < la - first && last < lb - first && a[la - last - 1] == b[lb - last - 1])
        last++;
    return la - first - last <= 2 && lb - first - last <= 2;
}

/* The name without the source that nic-sampler puts before a name that would occur twice ("rdma_duplicate_request"). */
static const char *without_source(const char *name)
{
    static const char *const sources[] = {
#define READER(name, interface, columns, freshness) #name "_",
#include "lib/roce/counters.def"
    };
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (strncmp(name, sources[i], strlen(sources[i])) == 0)
            return name + strlen(sources[i]);
    return NULL;
}

const struct counter *counters_known(const char *name, char *near, size_t size)
{
    char plain[NAME_BYTES];
    const struct counter *row = counters_find(name);
    const char *behind = without_source(name);
    *near = '\0';
    if (!row && behind)
        row = counters_find(behind);
    if (row && row->origin != COUNTER_FROM_DRIVER)
        return row;
    without_numbers(name, plain, sizeof plain);
    const char *pattern = nearest(plain);
    if (row && (strcmp(row->pattern, plain) == 0 || !pattern || !is_slip(plain, pattern)))
        return row;
    if (pattern)
        with_numbers(pattern, name, near, size);
    return NULL;
}
