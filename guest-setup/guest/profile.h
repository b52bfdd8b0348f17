/* A profile: what is installed on a guest. docs/profiles.md. */
#ifndef GUEST_PROFILE_H
#define GUEST_PROFILE_H

#include "guest-setup/guest/domain_xml.h"
#include "lib/document/table.h"

enum seed_kind { SEED_TAR, SEED_CLOUD_INIT };

struct profile_image {
    char *url;    /* NULL: built by image/build */
    char *sha256; /* of the fetched file */
    char *of;     /* the profile whose image/build builds it; NULL: this one */
};

/* The versions that are installed together: guest-setup/bundles/NAME.json. */
struct profile_bundle {
    char *name;    /* NULL: the profile has none */
    int rdma_only; /* without the parts that only a GPU needs */
};

#define PROFILE_PUTS 64 /* at most */

struct profile_put {
    char *from; /* file or folder of this project */
    char *to;   /* folder on the guest */
};

struct profile_step {
    char *name; /* "10-programs" */
    char *path;
    char hash[17]; /* of its text */
};

struct profile {
    int64_t schema;
    char *name;
    char *title;
    struct profile_image image; /* the bundle's, where there is one */
    struct profile_bundle bundle;
    int boot; /* enum boot_kind */
    char *cmdline;
    int seed; /* enum seed_kind */
    char *user;
    struct list_of programs; /* char * */
    struct list_of put;      /* struct profile_put */
    int64_t ready_ns, step_ns;
    char *prove;          /* program of this project that tests all guests together; NULL: none */
    struct list_of needs; /* char *: capabilities that a lab with this profile should have */
    /* the following are not in the profile's JSON file */
    char *folder;
    char *served; /* folder on this machine with the bundle's packages, once they were fetched */
    struct profile_step *steps; /* in order */
    size_t step_count;
};

extern const struct table profile_table;

/* The image that a bundle names. If it names one, *image_url and *image_sha256 are freed and replaced. */
int bundle_image(const char *name, char **image_url, char **image_sha256, struct error *e);

/* Load guest-setup/profiles/NAME and list its steps; `bundle`: replaces the profile's bundle of versions
 * (NULL: keep it). Free with profile_free. */
int profile_load(const char *name, const char *bundle, struct profile *profile, struct error *e);
void profile_free(struct profile *profile);
/* The index of a step by its name, or of the only step whose name has this after its number ("links"); -1
 * with a sentence. */
int profile_find_step(const struct profile *profile, const char *name, struct error *e);

/* 64 bits of FNV-1a as 16 hex digits: it only detects changes and is not cryptographic. */
void content_hash(const void *bytes, size_t length, char hash[17]);

#endif
