/* Our programs on a host: copies of them, or the package harness-host (docs/packages.md), installed by the
 * host's package manager. */
#ifndef HARNESS_LABS_HOSTS_PROGRAMS_H
#define HARNESS_LABS_HOSTS_PROGRAMS_H

#include "harness/labs/hosts/host.h"
#include "lib/words.h"

/* Add their names: harness's own, and those of the traffic tools that come with it. */
void remote_programs_names(struct words *names);
/* Do they all start on the host? Returns 0; 1 if one has another version than this program; -1 if one is
 * missing or does not start. `e` is set unless 0. */
int remote_programs_check(struct remote_host *h, struct error *e);
/* Copy the programs from this program's folder to the host's "programs" folder and check them there.
 * Results as above. */
int remote_programs_put(struct remote_host *h, struct error *e);

/* ---- the package harness-host */

/* Where packages have their programs. */
#define PACKAGES_PROGRAMS "/usr/bin"

/* The package file that fits a host, and what the host has of it. */
struct host_package {
    char kind[8];     /* "deb" or "rpm" */
    char version[80]; /* with the revision, as the package manager writes it */
    char before[80];  /* the version that the host has; empty: none */
    char *file;
};

/* Does the host have its programs where packages have them, by the lab? */
bool remote_package_wanted(const struct lab_host *host);
/* Find the file of harness-host, of this program's version, in `folder` (NULL: there is none) that fits
 * the host's system. Nothing is changed. Returns 1; 0 if no package is to be installed, and `why` is the
 * reason; -1 with `e` set. p->before is set in the first two cases. Free with host_package_free. */
int remote_package_find(struct remote_host *h, const char *folder, struct host_package *p, struct error *why,
                        struct error *e);
/* Install it, or put it in the place of another version, with the libraries that it needs; *same: the host
 * had exactly these programs, and nothing was done. When the package manager refuses it, or has not all
 * libraries, the host is as it was. */
int remote_package_put(struct remote_host *h, const struct host_package *p, bool *same, struct error *e);
void host_package_free(struct host_package *p);

#endif
