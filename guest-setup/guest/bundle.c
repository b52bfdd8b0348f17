#include "guest-setup/guest/bundle.h"

#include "remote/places.h"
#include "lib/document/form.h"
#include "lib/document/json_file.h"
#include "lib/text.h"
#include <stdlib.h>
#include <string.h>

static json_t *load(const char *name, struct error *e)
{
    struct text below = {0};
    if (!form_name.fits(name)) {
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
static json_t *load_resolved(const char *name, struct error *e)
{
    json_t *json = load(name, e), *base = NULL;
    const char *like = json_string_value(json_object_get(json, "like"));
    if (!json || !like)
        return json;
    base = load(like, e);
    if (base)
        json_object_update_recursive(base, json);
    json_decref(json);
    return base;
}

int bundle_image(const char *name, char **image_url, char **image_sha256, struct error *e)
{
    json_t *json = load_resolved(name, e);
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
