#include "guest-setup/guest/profile.h"

#include "remote/places.h"
#include "lib/files.h"
#include "lib/document/form.h"
#include "lib/document/json_file.h"
#include "lib/text.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_LIMIT (1u << 20) /* bytes in a step script */

/* ---- bundles of versions */

static json_t *load_bundle(const char *name, struct error *e)
{
    struct text below = {0};
    if (!form_fits(&form_name, name)) {
        error_set(e,
                  "\"%.60s\" is not the name of a bundle: expected one in guest-setup/bundles, without .json",
                  name);
        return NULL;
    }
    text_add(&below, "guest-setup/bundles/%s.json", name);
    char *path = places_project(text_string(&below), e);
    json_t *json = path ? json_file_load(path, DOCUMENT_SCENARIO, e) : NULL;
    free(path);
    text_free(&below);
    return json;
}

/* A bundle may be based on another one ("like") and override some of its values. */
static json_t *load_resolved_bundle(const char *name, struct error *e)
{
    json_t *json = load_bundle(name, e), *base = NULL;
    const char *like = json_string_value(json_object_get(json, "like"));
    if (!json || !like)
        return json;
    base = load_bundle(like, e);
    if (base)
        json_object_update_recursive(base, json);
    json_decref(json);
    return base;
}

int bundle_image(const char *name, char **image_url, char **image_sha256, struct error *e)
{
    json_t *json = load_resolved_bundle(name, e);
    if (!json)
        return error_prefix(e, "bundle \"%.60s\"", name);
    const json_t *from = json_object_get(json, "image");
    if (!from) { /* the profile's own */
        json_decref(json);
        return 0;
    }
    const char *url = json_string_value(json_object_get(from, "url")),
               *sum = json_string_value(json_object_get(from, "sha256"));
    int result = 0;
    free(*image_url);
    free(*image_sha256);
    *image_url = url ? strdup(url) : NULL;
    *image_sha256 = sum ? strdup(sum) : NULL;
    if (!url || !sum)
        result = error_set(e, "bundle %s: image.url or image.sha256 is missing", name);
    else if (!*image_url || !*image_sha256)
        result = error_set(e, "out of memory");
    json_decref(json);
    return result;
}

/* ---- the document */

static const char *const boots[] = {"kernel", "disk", "efi", NULL};
static const char *const seeds[] = {"tar", "cloud-init", NULL};

static int check_image(const void *object, const char *path, struct error *e)
{
    const struct profile_image *image = object;
    if (image->url && !image->sha256)
        return error_set(e, "%s.sha256 is missing: it is required for an image that is fetched", path);
    if (image->url && strncmp(image->url, "https://", 8) != 0 && strncmp(image->url, "http://", 7) != 0 &&
        strncmp(image->url, "file://", 7) != 0)
        return error_set(e, "%s.url: \"%.80s\" is not an https, http or file URL", path, image->url);
    if (image->sha256 && (strlen(image->sha256) != 64 || strspn(image->sha256, "0123456789abcdef") != 64))
        return error_set(e, "%s.sha256: \"%.80s\" is not 64 hex digits in lower case", path, image->sha256);
    if (image->url && image->of)
        return error_set(e, "%s: has both url and of: an image is fetched, or built by a profile's recipe",
                         path);
    return 0;
}

#define AT(member) .offset = offsetof(struct profile_image, member)
static const struct field image_fields[] = {
    {"url", FIELD_STRING, AT(url), .help = "URL of the image; unset: image/build builds it."},
    {"sha256", FIELD_STRING, AT(sha256), .help = "Checksum of the fetched file."},
    {"of", FIELD_STRING, AT(of), .form = &form_name, .help = "Another profile, whose image this one uses."},
    {0},
};
#undef AT
static const struct table image_table = {"profile.image", "The guest's first disk.",
                                         sizeof(struct profile_image), image_fields, check_image};

#define AT(member) .offset = offsetof(struct profile_bundle, member)
static const struct field bundle_fields[] = {
    {"name", FIELD_STRING, AT(name), .help = "Name of a bundle in guest-setup/bundles."},
    {"rdma_only", FIELD_BOOL, AT(rdma_only), .fallback = "false",
     .help = "Leave out the parts of the bundle that only a GPU needs."},
    {0},
};
#undef AT
static const struct table bundle_table = {"profile.bundle", "Versions that are installed together.",
                                          sizeof(struct profile_bundle), bundle_fields, NULL};

#define AT(member) .offset = offsetof(struct profile_put, member)
static const struct field put_fields[] = {
    {"from", FIELD_STRING, AT(from), .required = true, .help = "File or folder of this project."},
    {"to", FIELD_STRING, AT(to), .required = true, .help = "Folder on the guest."},
    {0},
};
#undef AT
static const struct table put_table = {"profile.put", "Files and folders to copy to the guest.",
                                       sizeof(struct profile_put), put_fields, NULL};

static int check_profile(const void *object, const char *path, struct error *e)
{
    const struct profile *p = object;
    (void)path;
    if (p->boot == BOOT_KERNEL && !p->cmdline)
        return error_set(e, "cmdline is missing: boot is \"kernel\"");
    if (p->boot == BOOT_KERNEL && p->image.url)
        return error_set(e, "boot: \"kernel\" needs an image that image/build builds");
    return 0;
}

#define AT(member) .offset = offsetof(struct profile, member)
static const struct field profile_fields[] = {
    {"schema", FIELD_INTEGER, AT(schema), .min = 1, .max = 1, .required = true,
     .help = "Version of the format: 1."},
    {"name", FIELD_STRING, AT(name), .required = true, .help = "The folder's name."},
    {"title", FIELD_STRING, AT(title), .help = "A descriptive title."},
    {"image", FIELD_OBJECT, AT(image), .sub = &image_table, .help = "The guest's first disk."},
    {"bundle", FIELD_OBJECT, AT(bundle), .sub = &bundle_table,
     .help = "Versions that are installed together; the bundle then also selects the image."},
    {"boot", FIELD_CHOICE, AT(boot), .choices = boots, .required = true,
     .help = "kernel: boot the image's kernel directly; disk, efi: use the disk's boot loader under BIOS or "
             "UEFI."},
    {"cmdline", FIELD_STRING, AT(cmdline), .help = "Kernel arguments, with boot \"kernel\"."},
    {"seed", FIELD_CHOICE, AT(seed), .choices = seeds, .required = true,
     .help = "Configuration for the first boot."},
    {"user", FIELD_STRING, AT(user), .form = &form_name, .fallback = "\"root\"",
     .help = "User to log in as."},
    {"programs", FIELD_LIST, AT(programs), .item = FIELD_STRING, .min = 0, .max = 16,
     .help = "Programs of this build to copy to the guest."},
    {"put", FIELD_LIST, AT(put), .item = FIELD_OBJECT, .sub = &put_table, .min = 0, .max = PROFILE_PUTS,
     .help = "Files and folders to copy to the guest."},
    {"ready", FIELD_QUANTITY, AT(ready_ns), .unit = UNIT_TIME_NS, .fallback = "\"3min\"",
     .help = "Time limit for a boot, measured until ssh answers."},
    {"step", FIELD_QUANTITY, AT(step_ns), .unit = UNIT_TIME_NS, .fallback = "\"10min\"",
     .help = "Time limit for one step."},
    {"prove", FIELD_STRING, AT(prove),
     .help = "Program of this project, run as \"PROGRAM run --lab FILE\" when all guests are built."},
    {"needs", FIELD_LIST, AT(needs), .item = FIELD_STRING, .min = 0, .max = 64,
     .help = "Capabilities that a lab with this profile should have."},
    {0},
};
#undef AT
const struct table profile_table = {"profile", "What is installed on a guest.", sizeof(struct profile),
                                    profile_fields, check_profile};

/* ---- steps */

void content_hash(const void *bytes, size_t length, char hash[17])
{
    uint64_t h = 14695981039346656037u;
    const unsigned char *b = bytes;
    for (size_t i = 0; i < length; i++)
        h = (h ^ b[i]) * 1099511628211u;
    snprintf(hash, 17, "%016llx", (unsigned long long)h);
}

/* "NN-NAME", and safe to put into a command and a path. */
static int is_step(const struct dirent *entry)
{
    const char *n = entry->d_name;
    return n[0] >= '0' && n[0] <= '9' && n[1] >= '0' && n[1] <= '9' && n[2] == '-' && n[3] &&
           strspn(n, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(n);
}

static int load_step(struct profile *p, const char *folder, const char *name, struct error *e)
{
    struct profile_step *s = &p->steps[p->step_count];
    size_t length;
    s->name = strdup(name);
    s->path = files_join(folder, name);
    p->step_count++;
    if (!s->name || !s->path)
        return error_set(e, "out of memory");
    char *text = files_read(s->path, STEP_LIMIT, &length, e);
    if (!text)
        return -1;
    content_hash(text, length, s->hash);
    free(text);
    return access(s->path, X_OK) == 0 ? 0 : error_set(e, "%s is not executable: chmod +x it", s->path);
}

static int load_steps(struct profile *p, struct error *e)
{
    struct dirent **entries = NULL;
    char *folder = files_join(p->folder, "steps");
    int count = folder ? scandir(folder, &entries, is_step, alphasort) : 0, result = 0;
    p->steps = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof *p->steps);
    if (!folder || !p->steps)
        result = error_set(e, "out of memory");
    for (int i = 0; i < count; i++) {
        if (result == 0)
            result = load_step(p, folder, entries[i]->d_name, e);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return result;
}

int profile_find_step(const struct profile *p, const char *name, struct error *e)
{
    struct text known = {0};
    for (size_t i = 0; i < p->step_count; i++) {
        if (strcmp(p->steps[i].name, name) == 0 || strcmp(p->steps[i].name + 3, name) == 0) {
            text_free(&known);
            return (int)i;
        }
        text_add(&known, "%s%s", i ? ", " : "", p->steps[i].name);
    }
    error_set(e, "profile %s has no step \"%.60s\": it has %s", p->name, name, text_string(&known));
    text_free(&known);
    return -1;
}

/* ---- profiles */

static int read_head(const char *folder, const char *name, struct profile *p, struct error *e)
{
    char *path = files_join(folder, "profile.json");
    json_t *json = path ? json_file_load(path, DOCUMENT_SCENARIO, e) : NULL;
    int result = json ? table_parse(&profile_table, json, p, e) : -1;
    if (json && result != 0)
        error_prefix(e, "%s", path);
    json_decref(json);
    if (result == 0 && strcmp(p->name, name) != 0)
        result = error_set(e, "%s: name is \"%.60s\": expected \"%s\", the name of the folder", path, p->name,
                           name);
    free(path);
    return result;
}

/* The bundle's image replaces the profile's. A lab may choose another bundle for a profile that has one. */
static int use_bundle(struct profile *p, const char *other, struct error *e)
{
    if (other && !p->bundle.name)
        return error_set(e, "profile %s installs no bundle of versions: leave \"bundle\" out", p->name);
    if (other) {
        free(p->bundle.name);
        p->bundle.name = strdup(other);
        if (!p->bundle.name)
            return error_set(e, "out of memory");
    }
    if (!p->bundle.name)
        return 0;
    if (bundle_image(p->bundle.name, &p->image.url, &p->image.sha256, e) != 0)
        return -1;
    return check_image(&p->image, "image", e);
}

int profile_load(const char *name, const char *bundle, struct profile *p, struct error *e)
{
    struct text below = {0};
    memset(p, 0, sizeof *p);
    if (!form_fits(&form_name, name))
        return error_set(
            e, "\"%.60s\" is not the name of a profile: expected a folder's name in guest-setup/profiles",
            name);
    text_add(&below, "guest-setup/profiles/%s", name);
    char *folder = places_project(text_string(&below), e);
    text_free(&below);
    if (!folder)
        return error_prefix(e, "there is no profile \"%.60s\"", name);
    int result = read_head(folder, name, p, e);
    p->folder = folder;
    if (result == 0)
        result = use_bundle(p, bundle, e);
    if (result == 0)
        result = load_steps(p, e);
    if (result != 0)
        profile_free(p);
    return result;
}

void profile_free(struct profile *p)
{
    for (size_t i = 0; i < p->step_count; i++) {
        free(p->steps[i].name);
        free(p->steps[i].path);
    }
    free(p->steps);
    free(p->folder);
    free(p->served);
    table_free(&profile_table, p);
}
