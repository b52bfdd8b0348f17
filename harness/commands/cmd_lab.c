#include "harness/labs/hosts/discover/discover.h"
#include "lib/program/program.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/formats/find.h"
#include "lib/formats/lab.h"
#include "lib/files.h"
#include "lib/document/form.h"
#include "lib/log.h"
#include "lib/output/print.h"
#include "lib/text.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lab_options {
    const char *out, *name, *identity, *known_hosts, *programs;
    int64_t port;
    int sudo;
};

#define AT(member) .offset = offsetof(struct lab_options, member)
static const struct field fields[] = {
    {.name = "out",
     .letter = 'o',
     .kind = FIELD_STRING,
     AT(out),
     .argument = "FILE",
     .help = "With discover: write the lab into this file, which must not be there (otherwise to standard "
             "output)."},
    {.name = "name",
     .kind = FIELD_STRING,
     AT(name),
     .argument = "NAME",
     .form = &form_name,
     .help = "With discover: the lab's name (default discovered)."},
    {.name = "identity",
     .kind = FIELD_STRING,
     AT(identity),
     .argument = "FILE",
     .help = "With discover: the private key for ssh, as \"identity\" of the lab's hosts."},
    {.name = "known_hosts",
     .kind = FIELD_STRING,
     AT(known_hosts),
     .argument = "FILE",
     .help = "With discover: the file with the hosts' keys, as \"known_hosts\" of the lab's hosts."},
    {.name = "programs",
     .kind = FIELD_STRING,
     AT(programs),
     .argument = "FOLDER",
     .help = "With discover: the folder of the programs on the hosts (default /usr/local/bin). Where "
             "host-facts is "
             "not there, a copy is run, and removed."},
    {.name = "port",
     .kind = FIELD_INTEGER,
     AT(port),
     .argument = "PORT",
     .min = 1,
     .max = 65535,
     .help = "With discover: the TCP port of ssh."},
    {.name = "sudo",
     .kind = FIELD_BOOL,
     AT(sudo),
     .help = "With discover: run what runs there with sudo -n."},
    {0},
};
#undef AT
static const struct table options = {.name = "lab", .size = sizeof(struct lab_options), .fields = fields};

/* The name behind "hosts." of a host with several NICs, which is no node itself; NULL: the path is not of
 * one.
 */
static char *machine_in(const struct lab *lab, const char *path, const char **rest)
{
    static const char hosts[] = "hosts.";
    if (strncmp(path, hosts, strlen(hosts)) != 0)
        return NULL;
    const char *at = path + strlen(hosts);
    size_t length = strcspn(at, ".");
    char *name = xstrndup(at, length);
    if (lab_machine_index(lab, name) >= 0) {
        *rest = at[length] ? at + length + 1 : NULL;
        return name;
    }
    free(name);
    return NULL;
}

/* "hosts.h0.nics.rail3.model", as the file has it, is hosts.h0.rail3.nic.model of the nodes. A slot of the
 * NIC's own is the node's. NULL: the path is not one of these. */
static char *path_of_node(const char *machine, const char *rest)
{
    static const char nics[] = "nics.", slot[] = "pcie";
    if (!rest || strncmp(rest, nics, strlen(nics)) != 0)
        return NULL;
    const char *nic = rest + strlen(nics);
    int length = (int)strcspn(nic, ".");
    const char *key = nic[length] ? nic + length + 1 : NULL;
    bool slotted = key && strncmp(key, slot, strlen(slot)) == 0 && strchr(".", key[strlen(slot)]);
    return xasprintf("hosts.%s.%.*s%s%s%s", machine, length, nic, slotted ? "" : ".nic", key ? "." : "",
                     key ? key : "");
}

static int refuse_machine(const struct lab *lab, const char *path, const char *machine, struct error *e)
{
    struct text nics = {0};
    lab_add_nics(lab, (size_t)lab_machine_index(lab, machine), machine, &nics);
    error_set(e, "%.120s: host %.60s has several NICs, each with values of its own: expected one of %s", path,
              machine, text_string(&nics));
    text_free(&nics);
    return -1;
}

static bool is_of_node(const struct lab *lab, const char *machine, const char *rest)
{
    char *node = xasprintf("%s.%.*s", machine, rest ? (int)strcspn(rest, ".") : 0, rest ? rest : "");
    bool is = lab_node_index(lab, node) >= 0;
    free(node);
    return is;
}

static int print_value(const struct lab *lab, const char *path, struct text *out, struct error *e)
{
    const char *rest = NULL;
    char *machine = machine_in(lab, path, &rest), *of_node = machine ? path_of_node(machine, rest) : NULL;
    int result = machine && !is_of_node(lab, machine, of_node ? strchr(rest, '.') + 1 : rest)
                     ? refuse_machine(lab, path, machine, e)
                     : table_get(&lab_kind(lab)->table, lab, of_node ? of_node : path, out, e);
    free(of_node);
    free(machine);
    return result;
}

/* A host's values have a line each, because no value that a lab may have contains a line break
 * (lib/document/form.h). */
static int print_values(const char *word, const char *const *paths, size_t count, struct text *out,
                        struct error *e)
{
    struct lab lab;
    char *path = find_file(FIND_LAB, word, e);
    int result = path ? lab_load(path, &lab, e) : -1;
    free(path);
    if (result != 0)
        return -1;
    for (size_t i = 0; result == 0 && i < count; i++)
        result = print_value(&lab, paths[i], out, e);
    lab_free(&lab);
    return result;
}

/* The document as it is parsed: each host, switch and link of ranges, topology and defaults. */
static int print_whole(const char *word, struct error *e)
{
    char *path = find_file(FIND_LAB, word, e);
    json_t *written = path ? json_file_load(path, DOCUMENT_LAB, e) : NULL, *whole = NULL;
    struct lab lab;
    int result = path && written ? 0 : -1;
    if (result == 0 && (!(whole = lab_expand(written, e)) || lab_parse(whole, path, &lab, e) != 0))
        result = error_prefix(e, "%s", path);
    else if (result == 0)
        lab_free(&lab);
    if (result == 0 && json_print(stdout, whole, 15) != 0)
        result = error_set_errno(e, errno, "printing lab %s", path);
    json_decref(whole);
    json_decref(written);
    free(path);
    return result;
}

/* ---- found, not typed */

static int write_found(const struct found *found, const char *path, struct error *e)
{
    json_t *document = found_document(found, e);
    char *text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    int result = document ? 0 : -1;
    struct text line = {0};
    text_add(&line, "%s\n", text ? text : "");
    if (document && (!text || line.failed))
        result = error_set(e, "out of memory");
    else if (document && path)
        result = files_write_atomic(path, text_string(&line), line.length, e);
    else if (document && json_print(stdout, document, 15) != 0)
        result = error_set_errno(e, errno, "printing the lab");
    text_free(&line);
    free(text);
    json_decref(document);
    return result;
}

/* Hosts that did not answer are left out, and told. */
static int discover(const struct call *call, struct error *e)
{
    const struct lab_options *said = call->options;
    const struct discover_request request = {.name = said->name ? said->name : "discovered",
                                             .destinations = call->arguments + 1,
                                             .count = call->count - 1,
                                             .identity = said->identity,
                                             .known_hosts = said->known_hosts,
                                             .programs = said->programs,
                                             .port = said->port == FIELD_UNSET ? 0 : said->port,
                                             .sudo = said->sudo == 1};
    struct found found;
    size_t failures = 0;
    if (said->out && files_exist(said->out)) {
        error_set(e, "--out %s: it is there already: it is not overwritten", said->out);
        return EXIT_USAGE;
    }
    int result = discover_hosts(&request, &found, &failures, e);
    if (result == 0)
        result = write_found(&found, said->out, e);
    found_free(&found);
    if (result != 0)
        return EXIT_LAB;
    if (said->out) {
        char *path = shell_quoted(said->out);
        print_out("%s: check it with harness check, and edit it; then harness doctor --lab %s\n", said->out,
                  path);
        free(path);
    }
    return failures ? EXIT_LAB : EXIT_DONE;
}

static bool takes_options(const struct lab_options *said)
{
    return said->out || said->name || said->identity || said->known_hosts || said->programs ||
           said->sudo == 1 || said->port != FIELD_UNSET;
}

static int run_action(const struct call *call, struct text *out, struct error *e)
{
    const char *action = call->arguments[0];
    bool shows = strcmp(action, "show") == 0;
    if (!shows && strcmp(action, "get") != 0)
        return error_set(e, "lab: \"%.60s\" is unknown: expected get, show or discover", action);
    if (takes_options(call->options))
        return error_set(e, "lab %s: options are those of lab discover", action);
    if (shows != (call->count == 2))
        return error_set(e, "lab: expected %s", shows ? "show LAB" : "get LAB PATH...");
    return shows ? print_whole(call->arguments[1], e)
                 : print_values(call->arguments[1], call->arguments + 2, call->count - 2, out, e);
}

static int run_lab(const struct call *call)
{
    struct text out = {0};
    struct error e = {""};
    if (strcmp(call->arguments[0], "discover") == 0) {
        int status = discover(call, &e);
        return *e.text && status != EXIT_DONE ? program_fail(status, &e) : status;
    }
    int result = run_action(call, &out, &e);
    if (result == 0 && out.failed)
        result = error_set(&e, "out of memory");
    if (result == 0)
        fputs(text_string(&out), stdout);
    text_free(&out);
    return result == 0 ? EXIT_DONE : program_fail(EXIT_USAGE, &e);
}

const struct command command_lab = {
    .name = "lab",
    .arguments = "get|show|discover LAB|HOST [PATH|HOST...]",
    .about =
        "Check a lab and print some of its values, one per line, for scripts (get LAB PATH...), or all of "
        "it as JSON, with "
        "ranges of names, topology and defaults written out (show LAB). Or write a lab of what hosts that "
        "ssh reaches "
        "have (discover HOST...): their NICs with RoCE, the GPUs nearest to them, and links by LLDP or ping; "
        "what is "
        "left out has its reason in it.",
    .options = &options,
    .least = 2,
    .most = SIZE_MAX,
    .run = run_lab,
};
