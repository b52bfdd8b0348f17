#include "harness/slurm/apart.h"

#include "lib/files.h"
#include "lib/names/letters.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LETTERS 8
#define TRIES   100

/* WORKSHOP/run-NN-abcdefgh. Not a "fresh" one (lib/folder/fresh.h): on file systems whose locks are of one
 * node alone, another node would take it for one that was left. */
static char *make_folder(const struct sweep *s, size_t run, struct error *e)
{
    for (int i = 0; i < TRIES; i++) {
        char letters[LETTERS + 1];
        struct text path = {0};
        letters_random(letters, LETTERS);
        text_add(&path, "%s/run-%zu-%s", s->workshop, run + 1, letters);
        if (mkdir(text_string(&path), 0777) == 0)
            return text_take(&path);
        text_free(&path);
        if (errno != EEXIST)
            break;
    }
    error_set_errno(e, errno, "creating a folder for run %zu in %s", run + 1, s->workshop);
    return NULL;
}

/* Where the file system can, not even an empty folder is replaced: somebody may be about to write in it. */
static int move_to(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS ? rename(from, to) : -1;
}

static bool has_result(const char *folder)
{
    char *path = files_join(folder, "result.json");
    bool has = path && files_exist(path);
    free(path);
    return has;
}

/* What another process has put there is kept if it is whole. */
static int publish(const struct sweep *s, size_t run, const char *made, const char *place,
                   struct outcome *outcome, struct error *e)
{
    struct outcome there = {.ending = ENDING_NOT_STARTED};
    struct error why;
    for (int i = 0; i < TRIES; i++) {
        if (move_to(made, place) == 0)
            return files_sync_name(place, e);
        if (errno != EEXIST && errno != ENOTEMPTY)
            return error_set_errno(e, errno, "moving %s to %s", made, place);
        int whole = sweep_read_run(s, run, place, &there, &why);
        if (whole < 0) {
            *e = why;
            return -1;
        }
        if (whole > 0 || outcome->ending != ENDING_WHOLE) {
            *outcome = whole > 0 ? there : *outcome;
            return files_remove_tree(made, e);
        }
        if (files_remove_tree(place, e) != 0)
            return -1;
    }
    return error_set(e, "moving %s to %s: others put something there again and again", made, place);
}

static struct outcome make_and_publish(struct sweep *s, size_t run, const char *place, struct error *e)
{
    struct outcome outcome = {.ending = ENDING_LAB_FAILED, .verdict = VERDICT_INCOMPLETE};
    char *made = make_folder(s, run, e);
    if (!made)
        return outcome;
    outcome = sweep_run_in(s, run, made, NULL, e);
    bool keep = outcome.ending == ENDING_WHOLE || outcome.ending == ENDING_LAB_FAILED;
    if (!keep || !has_result(made))
        files_remove_tree(made, NULL);
    else if (publish(s, run, made, place, &outcome, e) != 0)
        outcome.ending = ENDING_LAB_FAILED;
    free(made);
    return outcome;
}

struct outcome run_apart(struct sweep *s, size_t run, struct error *e)
{
    struct outcome outcome = {.ending = ENDING_LAB_FAILED, .verdict = VERDICT_INCOMPLETE};
    char *place = sweep_folder_of(s, run);
    int whole = place ? sweep_read_run(s, run, place, &outcome, e) : error_set(e, "out of memory");
    if (whole == 0)
        outcome = make_and_publish(s, run, place, e);
    else if (whole < 0)
        outcome.ending = ENDING_LAB_FAILED;
    if (place)
        sweep_print_run(s, run, place, NULL, outcome);
    free(place);
    return outcome;
}
