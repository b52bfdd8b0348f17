/* The programs that run on a host: checking their versions, and copying them to the host. */
#include "harness/labs/hosts/programs/programs.h"
#include "harness/traffic/traffic_tool.h"
#include "remote/places.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

#define PUT_NS (300 * 1000000000LL) /* a few MiB, also over a slow connection */

void remote_programs_names(struct words *names)
{
    words_add_all(names, (const char *const[]){"nic-sampler", "host-facts", "nic-config", NULL});
    for (size_t i = 0; traffic_tools[i]; i++)
        if (traffic_tools[i]->ours)
            words_add(names, "%s", traffic_tools[i]->name);
}

/* Prints a line for each word: exit status and last line of "WORD --version". The exit status of a missing program is 127. */
static const char ask_versions[] = "export LC_ALL=C; for p do said=$(\"$p\" --version 2>&1); code=$?; "
                                   "printf '%d %s\\n' $code \"$(printf '%s' \"$said\" | tail -n 1)\"; done";

/* Read the host's answer about one program. 0: this version; 1: another version; -1: it is missing or does not start.
 * `e` is set unless 0. */
static int read_answer(const struct remote_host *h, const char *name, const char *answer, struct text *absent,
                       struct error *e)
{
    char wanted[80];
    int code = -1, used = 0;
    if (sscanf(answer, "%d %n", &code, &used) != 1)
        return error_set(e, "the version of %s on host %s could not be read", h->lab->name, name);
    snprintf(wanted, sizeof wanted, "%s %s", name, HARNESS_VERSION);
    if (code == 127 && !strstr(answer, "shared librar"))
        text_add(absent, "%s%s", absent->length ? ", " : "", name);
    else if (code != 0)
        return error_set(
            e,
            "host %s: %s/%s does not start on the host: %.300s; it needs jansson, libmnl, zlib, libibverbs, "
            "librdmacm, and a C library no older than that of the machine that built it",
            h->lab->name, h->lab->programs, name, answer + used);
    else if (strcmp(answer + used, wanted) != 0) {
        error_set(e, "host %s has %.60s, but this is harness %s", h->lab->name, answer + used,
                  HARNESS_VERSION);
        return 1;
    }
    return 0;
}

static int read_answers(const struct remote_host *h, const struct words *names, char *answers,
                        struct error *e)
{
    struct text absent = {0};
    char *rest = answers;
    int worst = 0;
    for (size_t i = 0; i < names->count && worst >= 0; i++) {
        char *line = strsep(&rest, "\n");
        int answered = read_answer(h, names->items[i], line ? line : "", &absent, e);
        worst = answered < 0 ? -1 : answered > worst ? answered : worst;
    }
    if (worst >= 0 && absent.length)
        worst = error_set(e, "host %s has no %s in %s", h->lab->name, text_string(&absent), h->lab->programs);
    text_free(&absent);
    return worst;
}

/* Ask for all versions at once. */
static char *ask(struct remote_host *h, const struct words *names, struct error *e)
{
    struct words argv = {0};
    struct text out = {0};
    char path[512], *answers = NULL;
    words_add_all(&argv, (const char *const[]){"sh", "-c", ask_versions, "sh", NULL});
    for (size_t i = 0; i < names->count; i++)
        words_add(&argv, "%s", remote_program(h, names->items[i], path, sizeof path));
    if (words_whole(names, e) == 0 && words_whole(&argv, e) == 0 &&
        ssh_must(h->ssh, (const char *const *)argv.items, NULL, &out, REMOTE_COMMAND_NS, e) == 0) {
        answers = text_take(&out);
        if (!answers)
            error_set(e, "the versions of the programs on host %s could not be read", h->lab->name);
    }
    words_free(&argv);
    text_free(&out);
    return answers;
}

int remote_programs_check(struct remote_host *h, struct error *e)
{
    struct words names = {0};
    remote_programs_names(&names);
    char *answers = ask(h, &names, e);
    int result = answers ? read_answers(h, &names, answers, e) : -1;
    free(answers);
    words_free(&names);
    return result;
}

static int put(struct remote_host *h, const char *name, struct error *e)
{
    char there[512], *here = places_project(name, e);
    int result =
        here ? ssh_put(h->ssh, here, remote_program(h, name, there, sizeof there), 0755, PUT_NS, e) : -1;
    free(here);
    return result;
}

int remote_programs_put(struct remote_host *h, struct error *e)
{
    const char *const make_folder[] = {"mkdir", "-p", "--", h->lab->programs, NULL};
    struct words names = {0};
    remote_programs_names(&names);
    int result =
        words_whole(&names, e) == 0 ? ssh_must(h->ssh, make_folder, NULL, NULL, REMOTE_COMMAND_NS, e) : -1;
    for (size_t i = 0; result == 0 && i < names.count; i++)
        result = put(h, names.items[i], e);
    words_free(&names);
    return result == 0 ? remote_programs_check(h, e) : -1;
}
