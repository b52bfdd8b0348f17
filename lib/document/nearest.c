#include "lib/document/nearest.h"

#include <string.h>

#define WORD_LIMIT 63

size_t nearest_edits(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), rows[3][WORD_LIMIT + 1];
    if (la > WORD_LIMIT || lb > WORD_LIMIT)
        return WORD_LIMIT;
    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[la % 3][lb];
}

/* A word is near to those that begin with it. */
static size_t distance_or_prefix(const char *word, const char *known)
{
    size_t length = strlen(word);
    return length >= 3 && strncmp(word, known, length) == 0 ? 1 : nearest_edits(word, known);
}

const char *nearest_word(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 2 + 1;
    for (; *words; words++) {
        size_t d = distance_or_prefix(word, *words);
        if (d < best_distance) {
            best_distance = d;
            best = *words;
        }
    }
    return best;
}
