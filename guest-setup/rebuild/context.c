#include "guest-setup/rebuild/context.h"

#include "lib/formats/find.h"
#include "lib/document/json_file.h"
#include "lib/log.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int load_lab(struct context *c, struct error *e)
{
    const char *why;
    char *path = find_lab(c->options.lab, NULL, "soft-pair", &why, e);
    if (!path)
        return -1;
    json_t *written = json_file_load(path, DOCUMENT_LAB, e), *json = written ? lab_expand(written, e) : NULL;
    int result = json ? lab_parse(json, path, &c->lab, e) : -1;
    if (written && result != 0)
        error_prefix(e, "%s", path);
    c->has_lab = result == 0;
    if (result == 0 && !c->options.lab)
        context_report(c, NULL, "the lab is %s", path);
    if (result == 0 && !lab_kind(&c->lab)->guests)
        result = error_set(e,
                           "lab %s has the driver \"%s\": virt-provision builds guests only for labs with "
                           "the driver \"libvirt\"",
                           path, lab_kind(&c->lab)->name);
    json_decref(written);
    json_decref(json);
    free(path);
    return result;
}

/* Is the node the first one of a guest? */
static bool is_guest(const struct lab *lab, size_t node)
{
    return lab_host_at(lab, node)->domain && lab_machine_first(lab, node) == node;
}

/* The guest with this name or domain, or with this NIC: its first node. */
static const struct lab_host *guest_named(const struct lab *lab, const char *name)
{
    const struct lab_host *host = lab_real_host(lab, name);
    if (host && host->domain)
        return lab_host_at(lab, lab_machine_first(lab, (size_t)(host - lab_host_at(lab, 0))));
    for (size_t i = 0; (host = lab_host_at(lab, i)); i++)
        if (is_guest(lab, i) && (strcmp(host->domain, name) == 0 || strcmp(lab_guest_name(host), name) == 0))
            break;
    return host;
}

static int unknown_host(const struct lab *lab, const char *name, struct error *e)
{
    const struct lab_host *host;
    struct text known = {0};
    for (size_t i = 0; (host = lab_host_at(lab, i)); i++)
        if (is_guest(lab, i))
            text_add(&known, "%s%s", known.length ? ", " : "", lab_guest_name(host));
    error_set(e, "lab %s has no guest \"%.60s\": its guests are %s", lab->name, name, text_string(&known));
    text_free(&known);
    return -1;
}

int context_load(struct context *c, const char *const *names, size_t count, struct error *e)
{
    if (load_lab(c, e) != 0)
        return -1;
    const struct lab_host *host;
    c->hosts = calloc(c->lab.hosts.count + count + 1, sizeof *c->hosts);
    if (!c->hosts)
        return error_set(e, "out of memory");
    for (size_t i = 0; i < count; i++) {
        c->hosts[c->host_count] = guest_named(&c->lab, names[i]);
        if (!c->hosts[c->host_count++])
            return unknown_host(&c->lab, names[i], e);
    }
    for (size_t i = 0; count == 0 && (host = lab_host_at(&c->lab, i)); i++)
        if (is_guest(&c->lab, i))
            c->hosts[c->host_count++] = host;
    return 0;
}

int context_connect(struct context *c, struct error *e)
{
    c->reached = true;
    c->virt = virt_open(c->lab.uri, e);
    return c->virt ? 0 : -1;
}

void context_free(struct context *c)
{
    virt_close(c->virt);
    free(c->hosts);
    if (c->has_lab)
        lab_free(&c->lab);
}

void context_report(const struct context *c, const struct lab_host *host, const char *format, ...)
{
    char text[600];
    va_list values;
    if (c->options.quiet)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (host)
        log_info("%s: %s", lab_guest_name(host), text);
    else
        log_info("%s", text);
}
