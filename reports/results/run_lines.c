#include "reports/results/run_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRIORITIES 8

/* A file of the run; NULL without a failure if it does not exist. */
static int open_beside(const struct run *run, const char *name, FILE **file, struct error *e)
{
    struct folder folder;
    int result = run_open_folder(run, &folder, e), fd = result == 0 ? folder_open_file(&folder, name, e) : -1;
    if (result == 0 && fd < 0)
        result = errno == ENOENT ? 0 : -1;
    *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !*file) {
        close(fd);
        result = error_set(e, "out of memory for %s/%s", run->folder, name);
    }
    folder_close(&folder);
    return result;
}

int run_each_line(const struct run *run, const char *name, run_take_line *take, void *to, struct error *e)
{
    size_t number = 0;
    FILE *file;
    int result = open_beside(run, name, &file, e);
    char *text = file ? malloc(LINES_MAX_LENGTH + 1) : NULL;
    if (file && !text)
        result = error_set(e, "out of memory for %s/%s", run->folder, name);
    for (size_t length; text && result == 0 && lines_next(file, text, &length);) {
        number++;
        if (length > LINES_MAX_LENGTH)
            result = error_set(e, "a line has more than %d bytes", LINES_MAX_LENGTH);
        else if (length)
            result = take(to, text, length, e);
        if (result != 0)
            error_prefix(e, "%s/%s:%zu", run->folder, name, number);
    }
    if (file && ferror(file) && result == 0)
        result = error_set_errno(e, errno, "reading %s/%s", run->folder, name);
    if (file)
        fclose(file);
    free(text);
    return result;
}

/* ---- samples.jsonl */

bool run_is_sample(const char *text, size_t length)
{
    return length > 2 && text[0] == '[' && text[1] == '"';
}

/* Without the host, the rest is a sample as the sampler printed it. */
int run_sample_line(char *text, size_t length, const char **host, struct line *line, struct error *e)
{
    char *quote = memchr(text + 2, '"', length - 2);
    if (!quote || quote[1] != ',')
        return error_set(e, "a sample does not name a host");
    *quote = '\0';
    *host = text + 2;
    quote[1] = '[';
    return lines_parse(quote + 1, length - (size_t)(quote + 1 - text), line, e);
}

/* ---- pauses.jsonl */

/* The text is terminated, so a character that is not the expected one ends the search. */
static bool take_character(char **at, char wanted)
{
    *at += strspn(*at, " \t\r");
    if (**at != wanted)
        return false;
    ++*at;
    return true;
}

static bool take_whole(char **at, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    *at += strspn(*at, " \t\r");
    if ((**at < '0' || **at > '9') && **at != '-')
        return false;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    bool fits = errno == 0 && end > *at && *value >= least && *value <= most;
    *at = end;
    return fits;
}

static bool take_true(char **at)
{
    *at += strspn(*at, " \t\r");
    if (strncmp(*at, "true", 4) != 0)
        return false;
    *at += 4;
    return true;
}

static bool parse_pause(char *at, struct pause_line *line)
{
    int64_t priority;
    if (!take_character(&at, '[') || !take_character(&at, '"'))
        return false;
    line->where = at;
    at += strcspn(at, "\"\\");
    char *quote = at;
    if (quote == line->where || !take_character(&at, '"') || !take_character(&at, ',') ||
        !take_whole(&at, 0, PRIORITIES - 1, &priority) || !take_character(&at, ',') ||
        !take_whole(&at, -LINES_MOST, LINES_MOST, &line->start_ns) || !take_character(&at, ',') ||
        !take_whole(&at, 0, LINES_MOST - (line->start_ns > 0 ? line->start_ns : 0), &line->duration_ns))
        return false;
    line->lasts = take_character(&at, ',');
    if ((line->lasts && !take_true(&at)) || !take_character(&at, ']') || at[strspn(at, " \t\r")])
        return false;
    *quote = '\0';
    line->priority = (int)priority;
    return true;
}

int run_pause_line(char *text, size_t length, struct pause_line *line, struct error *e)
{
    *line = (struct pause_line){0};
    if (!memchr(text, '\0', length) && parse_pause(text, line))
        return 0;
    return error_set(e,
                     "a pause is damaged: \"%.*s\": expected [\"HOST\", PRIORITY, START_NS, DURATION_NS], "
                     "and perhaps true",
                     (int)(length < 60 ? length : 60), text);
}
