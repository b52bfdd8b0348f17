#include "guest-setup/guest/seed.h"

#include "lib/document/json_text.h"
#include "remote/places.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/process.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_LIMIT        8192
#define HOST_KEY         "ssh_host_ed25519_key"
#define GUEST_KEY        "etc/ssh/ssh_host_ed25519_key"
#define GUEST_KEY_PUBLIC "etc/ssh/ssh_host_ed25519_key.pub"

/* ---- keys */

static int make_key(const char *path, const char *comment, struct error *e)
{
    struct text public = {0};
    text_add(&public, "%s.pub", path);
    unlink(path);
    unlink(text_string(&public));
    text_free(&public);
    const char *const argv[] = {"ssh-keygen", "-q",    "-t", "ed25519", "-N", "",
                                "-C",         comment, "-f", path,      NULL};
    int status = process_run(argv, NULL, NULL, NULL, 60 * NS_PER_S, e);
    return status > 0
               ? error_set(e, "creating the key %s: ssh-keygen ended with exit status %d", path, status)
               : status;
}

int seed_lab_key(const struct lab *lab, struct error *e)
{
    char *folder = places_lab(lab, e), *path = folder ? files_join(folder, "id_ed25519") : NULL;
    int result = path ? files_make_folders(folder, e) : -1;
    if (result == 0 && chmod(folder, 0700) != 0)
        result = error_set(e, "cannot restrict access to %s", folder);
    if (result == 0 && !files_exist(path))
        result = make_key(path, lab->name, e);
    free(path);
    free(folder);
    return result;
}

int seed_host_key(const struct lab *lab, const struct lab_host *host, struct error *e)
{
    char *folder = places_of_host(lab, host, NULL, e), *path = folder ? files_join(folder, HOST_KEY) : NULL;
    int result = path ? files_make_folders(folder, e) : -1;
    if (result == 0)
        result = make_key(path, lab_guest_name(host), e);
    free(path);
    free(folder);
    return result;
}

int seed_pin(const struct lab *lab, struct error *e)
{
    const struct lab_host *host;
    struct text lines = {0};
    char *known = places_in_lab(lab, "known_hosts", e);
    int result = known ? 0 : -1;
    for (size_t i = 0; result == 0 && (host = lab_host_at(lab, i)); i++) {
        if (lab_machine_first(lab, i) != i)
            continue;
        char *path = places_of_host(lab, host, HOST_KEY ".pub", e);
        char *key = path && files_exist(path) ? files_read_line(path, e) : NULL;
        if (!path || (files_exist(path) && !key))
            result = -1;
        if (key)
            text_add(&lines, "%s-%s %s\n", lab->name, lab_guest_name(host), key);
        free(key);
        free(path);
    }
    if (result == 0)
        result = files_write_atomic(known, text_string(&lines), lines.length, e);
    text_free(&lines);
    free(known);
    return result;
}

/* ---- content of a seed */

struct seed {
    const struct lab *lab;
    const struct lab_host *host;
    const struct profile *profile;
    struct wiring wiring;
    char *lab_public, *host_private, *host_public;
    char *folder; /* folder in which the files are prepared */
};

static char *read_key(char *path, struct error *e)
{
    char *key = path ? files_read(path, KEY_LIMIT, NULL, e) : NULL;
    free(path);
    return key;
}

static int seed_read_files(struct seed *s, struct error *e)
{
    if (wiring_of_guest(s->lab, s->host, &s->wiring, e) != 0)
        return -1;
    s->lab_public = read_key(places_in_lab(s->lab, "id_ed25519.pub", e), e);
    s->host_private = read_key(places_of_host(s->lab, s->host, HOST_KEY, e), e);
    s->host_public = read_key(places_of_host(s->lab, s->host, HOST_KEY ".pub", e), e);
    s->folder = places_of_host(s->lab, s->host, "seed.d", e);
    if (!s->lab_public || !s->host_private || !s->host_public || !s->folder)
        return -1;
    return files_remove_tree(s->folder, e) == 0 ? files_make_folders(s->folder, e) : -1;
}

static void seed_free(struct seed *s)
{
    if (s->folder)
        files_remove_tree(s->folder, NULL);
    free(s->lab_public);
    free(s->host_private);
    free(s->host_public);
    free(s->folder);
}

static int put_file(const struct seed *s, const char *name, const char *text, mode_t mode, struct error *e)
{
    char *path = files_join(s->folder, name), *slash = path ? strrchr(path, '/') : NULL;
    if (!slash || !text) {
        free(path);
        return error_set(e, "out of memory");
    }
    *slash = '\0';
    int result = files_make_folders(path, e);
    *slash = '/';
    if (result == 0)
        result = files_write_atomic(path, text, strlen(text), e);
    if (result == 0 && chmod(path, mode) != 0)
        result = error_set(e, "cannot set the mode of %s", path);
    free(path);
    return result;
}

/* Run the tool that creates an image from the folder. */
static int seed_pack(const struct seed *s, const char *const argv[], struct error *e)
{
    struct text err = {0}, out = {0};
    int status = process_run(argv, NULL, &out, &err, 60 * NS_PER_S, e);
    if (status > 0)
        error_set(e, "creating the seed of host %s: %s ended with %d: %.300s", lab_guest_name(s->host),
                  argv[0], status, text_string(&err));
    text_free(&err);
    text_free(&out);
    return status == 0 ? 0 : -1;
}

/* ---- tar: files at their places */

static char *network_lines(const struct wiring *wiring)
{
    struct text lines = {0};
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wiring_port *p = &wiring->ports[i];
        text_add(&lines, "%s %s %s ", p->mac, p->name, p->address[0] ? p->address : "-");
        if (p->mtu)
            text_add(&lines, "%lld\n", (long long)p->mtu);
        else
            text_add(&lines, "-\n");
    }
    return text_take(&lines);
}

static int lay_out_tar(const struct seed *s, struct error *e)
{
    char *network = network_lines(&s->wiring);
    int result = network ? 0 : error_set(e, "out of memory");
    struct text name = {0};
    text_add(&name, "%s\n", lab_guest_name(s->host));
    if (result == 0)
        result = put_file(s, "etc/hostname", text_string(&name), 0644, e);
    if (result == 0)
        result = put_file(s, "etc/lab/network", network, 0644, e);
    if (result == 0)
        result = put_file(s, GUEST_KEY, s->host_private, 0600, e);
    if (result == 0)
        result = put_file(s, GUEST_KEY_PUBLIC, s->host_public, 0644, e);
    if (result == 0)
        result = put_file(s, "root/.ssh/authorized_keys", s->lab_public, 0600, e);
    text_free(&name);
    free(network);
    return result;
}

static int make_tar(const struct seed *s, const char *path, struct error *e)
{
    const char *const argv[] = {"tar",       "--create",       "--file",          path,
                                "--owner=0", "--group=0",      "--numeric-owner", "--mode=go-w",
                                "-C",        s->folder,        "etc/hostname",    "etc/lab",
                                GUEST_KEY,   GUEST_KEY_PUBLIC, "root/.ssh",       NULL};
    return lay_out_tar(s, e) == 0 ? seed_pack(s, argv, e) : -1;
}

/* ---- cloud-init: NoCloud, JSON being YAML */

static json_t *key_list(const struct seed *s)
{
    json_t *keys = json_array();
    json_array_append_new(keys, json_textn(s->lab_public, strcspn(s->lab_public, "\n")));
    return keys;
}

static json_t *user_data(const struct seed *s)
{
    json_t *data = json_make("{s:s, s:b, s:b, s:b, s:{s:s, s:s}}", "hostname", lab_guest_name(s->host),
                             "ssh_pwauth", 0, "disable_root", 0, "ssh_deletekeys", 1, "ssh_keys",
                             "ed25519_private", s->host_private, "ed25519_public", s->host_public);
    if (strcmp(s->profile->user, "root") == 0)
        json_object_set_new(data, "ssh_authorized_keys", key_list(s));
    else
        json_object_set_new(data, "users",
                            json_make("[{s:s, s:s, s:s, s:o}]", "name", s->profile->user, "shell",
                                      "/bin/bash", "sudo", "ALL=(ALL) NOPASSWD:ALL", "ssh_authorized_keys",
                                      key_list(s)));
    return data;
}

static json_t *network_config(const struct wiring *wiring)
{
    json_t *ethernets = json_object();
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wiring_port *p = &wiring->ports[i];
        json_t *port = json_make("{s:{s:s}, s:s, s:b}", "match", "macaddress", p->mac, "set-name", p->name,
                                 "dhcp4", i == 0 && !p->address[0]);
        if (p->address[0])
            json_object_set_new(port, "addresses", json_make("[s]", p->address));
        if (p->mtu)
            json_object_set_new(port, "mtu", json_integer(p->mtu));
        json_object_set_new(ethernets, p->name, port);
    }
    return json_make("{s:i, s:o}", "version", 2, "ethernets", ethernets);
}

static int put_json(const struct seed *s, const char *name, const char *first_line, json_t *value,
                    struct error *e)
{
    struct text text = {0};
    char *dump = json_dumps(value, JSON_INDENT(2));
    int result = dump ? 0 : error_set(e, "out of memory");
    text_add(&text, "%s%s\n", first_line, dump ? dump : "");
    if (result == 0)
        result = put_file(s, name, text_string(&text), 0600, e);
    text_free(&text);
    free(dump);
    json_decref(value);
    return result;
}

static int make_cloud_init(const struct seed *s, const char *path, struct error *e)
{
    /* a new instance id makes cloud-init run again on a disk that was booted with another seed */
    struct text id = {0};
    char hash[17];
    content_hash(s->host_public, strlen(s->host_public), hash);
    text_add(&id, "%s-%s-%s", s->lab->name, lab_guest_name(s->host), hash);
    json_t *meta =
        json_make("{s:s, s:s}", "instance-id", text_string(&id), "local-hostname", lab_guest_name(s->host));
    text_free(&id);
    if (put_json(s, "meta-data", "", meta, e) != 0 ||
        put_json(s, "user-data", "#cloud-config\n", user_data(s), e) != 0 ||
        put_json(s, "network-config", "", network_config(&s->wiring), e) != 0)
        return -1;
    const char *const argv[] = {"xorriso", "-as", "mkisofs", "-quiet", "-V",      "cidata",
                                "-r",      "-J",  "-o",      path,     s->folder, NULL};
    return seed_pack(s, argv, e);
}

char *seed_make(const struct lab *lab, const struct lab_host *host, const struct profile *profile,
                struct error *e)
{
    struct seed s = {.lab = lab, .host = host, .profile = profile};
    char *path = places_of_host(lab, host, "seed", e);
    int result = path ? seed_read_files(&s, e) : -1;
    if (result == 0)
        result = profile->seed == SEED_TAR ? make_tar(&s, path, e) : make_cloud_init(&s, path, e);
    seed_free(&s);
    if (result == 0)
        return path;
    free(path);
    return NULL;
}
