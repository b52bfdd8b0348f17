#include "guest-setup/rebuild/record.h"

#include "lib/document/json_text.h"
#include "remote/places.h"
#include "lib/files.h"
#include "lib/document/json_file.h"
#include <stdlib.h>
#include <string.h>

int record_open(const struct lab *lab, const struct lab_host *host, struct record *r, struct error *e)
{
    *r = (struct record){.path = places_of_host(lab, host, "record.json", e)};
    if (!r->path)
        return -1;
    if (files_exist(r->path))
        r->json = json_file_load(r->path, DOCUMENT_ANSWER, e);
    else
        r->json = json_make("{s:i}", "schema", 1);
    if (r->json && !json_is_object(r->json))
        error_set(e, "%s is not a valid record: remove it, and rebuild", r->path);
    if (json_is_object(r->json))
        return 0;
    record_free(r);
    return -1;
}

void record_free(struct record *r)
{
    free(r->path);
    json_decref(r->json);
    *r = (struct record){0};
}

int record_save(const struct record *r, struct error *e)
{
    return json_file_save(r->path, r->json, e);
}

void record_clear(struct record *r)
{
    json_object_clear(r->json);
    json_object_set_new(r->json, "schema", json_integer(1));
}

const char *record_string(const struct record *r, const char *key)
{
    const char *value = json_string_value(json_object_get(r->json, key));
    return value ? value : "";
}

void record_set(struct record *r, const char *key, const char *value)
{
    json_object_set_new(r->json, key, json_text(value));
}

bool record_complete(const struct record *r)
{
    return json_is_true(json_object_get(r->json, "complete"));
}

void record_set_complete(struct record *r, bool complete)
{
    json_object_set_new(r->json, "complete", json_boolean(complete));
}

static json_t *step_of(const struct record *r, const struct profile_step *step)
{
    json_t *entry = json_object_get(json_object_get(r->json, "steps"), step->name);
    const char *hash = json_string_value(json_object_get(entry, "text"));
    return hash && strcmp(hash, step->hash) == 0 ? entry : NULL;
}

bool record_step_done(const struct record *r, const struct profile_step *step)
{
    return step_of(r, step);
}

void record_step(struct record *r, const struct profile_step *step, double seconds, const char *found)
{
    json_t *steps = json_object_get(r->json, "steps");
    json_t *text = json_text(found); /* NULL when it is not UTF-8: it comes from the guest */
    if (!steps) {
        steps = json_object();
        json_object_set_new(r->json, "steps", steps);
    }
    json_object_set_new(steps, step->name,
                        json_make("{s:s, s:f, s:o}", "text", step->hash, "seconds", seconds, "found",
                                  text ? text : json_text("")));
}

const char *record_step_found(const struct record *r, const struct profile_step *step, double *seconds)
{
    const json_t *entry = step_of(r, step);
    const char *found = json_string_value(json_object_get(entry, "found"));
    *seconds = json_number_value(json_object_get(entry, "seconds"));
    return entry ? found ? found : "" : NULL;
}

void record_forget_step(struct record *r, const struct profile_step *step)
{
    json_object_del(json_object_get(r->json, "steps"), step->name);
}
