/* Our programs on a host: checking their versions, copying them there, or installing them as a package. */
#include "harness/labs/hosts/programs.h"
#include "harness/traffic/traffic_tool.h"
#include "lib/files.h"
#include "lib/text.h"
#include "remote/places.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define PUT_NS (300 * 1000000000LL) /* a few MiB, also over a slow connection */

#define PACKAGE_MOST (64u << 20)          /* bytes of a package file: harness-host has less than 1 MiB */
#define PACKAGE_NS   (600 * 1000000000LL) /* to copy it, wait for a lock, fetch libraries, and install */

/* ---- programs */

void remote_programs_names(struct words *names)
{
    words_add_all(names, (const char *const[]){"nic-sampler", "host-facts", "nic-config", NULL});
    for (size_t i = 0; traffic_tools[i]; i++)
        if (traffic_tools[i]->ours)
            words_add(names, "%s", traffic_tools[i]->name);
}

/* Prints a line for each word: exit status and last line of "WORD --version". The exit status of a missing
 * program is 127. */
static const char ask_versions_script[] =
    "export LC_ALL=C; for p do said=$(\"$p\" --version 2>&1); code=$?; "
    "printf '%d %s\\n' $code \"$(printf '%s' \"$said\" | tail -n 1)\"; done";

/* Read the host's answer about one program. 0: this version; 1: another version; -1: it is missing or does
 * not start. `e` is set unless 0. */
static int read_version(const struct remote_host *h, const char *name, const char *answer,
                        struct text *absent, struct error *e)
{
    char wanted[80];
    int code = -1, used = 0;
    if (sscanf(answer, "%d %n", &code, &used) != 1)
        return error_set(e, "the version of %s on host %s could not be read", name, remote_machine_name(h));
    snprintf(wanted, sizeof wanted, "%s %s", name, HARNESS_VERSION);
    if (code == 127 && !strstr(answer, "shared librar"))
        text_add(absent, "%s%s", absent->length ? ", " : "", name);
    else if (code != 0)
        return error_set(
            e,
            "host %s: %s/%s does not start on the host: %.300s; it needs jansson, libmnl, zlib, libibverbs, "
            "librdmacm, and a C library no older than that of the machine that built it",
            remote_machine_name(h), h->lab->programs, name, answer + used);
    else if (strcmp(answer + used, wanted) != 0) {
        error_set(e, "host %s has %.60s, but this is harness %s", remote_machine_name(h), answer + used,
                  HARNESS_VERSION);
        return 1;
    }
    return 0;
}

static int read_versions(const struct remote_host *h, const struct words *names, char *answers,
                         struct error *e)
{
    struct text absent = {0};
    char *rest = answers;
    int worst = 0;
    for (size_t i = 0; i < names->count && worst >= 0; i++) {
        char *line = strsep(&rest, "\n");
        int answered = read_version(h, names->items[i], line ? line : "", &absent, e);
        worst = answered < 0 ? -1 : answered > worst ? answered : worst;
    }
    if (worst >= 0 && absent.length)
        worst = error_set(e, "host %s has no %s in %s", remote_machine_name(h), text_string(&absent),
                          h->lab->programs);
    text_free(&absent);
    return worst;
}

/* Ask for all versions at once. */
static char *ask_for_versions(struct remote_host *h, const struct words *names, struct error *e)
{
    struct words argv = {0};
    struct text out = {0};
    char path[512], *answers = NULL;
    words_add_all(&argv, (const char *const[]){"sh", "-c", ask_versions_script, "sh", NULL});
    for (size_t i = 0; i < names->count; i++)
        words_add(&argv, "%s", remote_program(h, names->items[i], path, sizeof path));
    if (words_whole(names, e) == 0 && words_whole(&argv, e) == 0 &&
        ssh_must(h->ssh, (const char *const *)argv.items, NULL, &out, REMOTE_COMMAND_NS, e) == 0) {
        answers = text_take(&out);
        if (!answers)
            error_set(e, "the versions of the programs on host %s could not be read", remote_machine_name(h));
    }
    words_free(&argv);
    text_free(&out);
    return answers;
}

int remote_programs_check(struct remote_host *h, struct error *e)
{
    struct words names = {0};
    remote_programs_names(&names);
    char *answers = ask_for_versions(h, &names, e);
    int result = answers ? read_versions(h, &names, answers, e) : -1;
    free(answers);
    words_free(&names);
    return result;
}

static int copy_program(struct remote_host *h, const char *name, struct error *e)
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
        result = copy_program(h, names.items[i], e);
    words_free(&names);
    return result == 0 ? remote_programs_check(h, e) : -1;
}

/* ---- packages: the host's system */

/* Systems that packages are made for, as ask_system_script names them. */
static const struct packaged {
    const char *system, *people_say, *manager, *kind, *name; /* name: of the file before its version */
    const char *before_architecture;
} all_packaged[] = {
    {"debian-12", "Debian 12", "apt-get", "deb", "harness-host_", "_"},
    {"el-9", "Rocky 9 and its kin", "dnf", "rpm", "harness-host-", "."},
};

struct host_system {
    char name[64], architecture[32], version[80];
    unsigned int user;
};

/* Prints a line: system, architecture as the package manager names it (none: there is no package manager),
 * user, and the version of harness-host that is installed (none: it is not). */
static const char ask_system_script[] =
    "export LC_ALL=C; [ ! -r /etc/os-release ] || . /etc/os-release; "
    "case \" $ID $ID_LIKE \" in *' rhel '*) name=el ;; *) name=$ID ;; esac; name=$name-${VERSION_ID%%.*}; "
    "has() { command -v \"$1\" && command -v \"$2\"; } >/dev/null 2>&1; "
    "case $name in "
    "debian-*) ! has apt-get dpkg || arch=$(dpkg --print-architecture); "
    "version=$(dpkg-query -W -f='${db:Status-Status} ${Version}' harness-host 2>/dev/null) ;; "
    "el-*) ! has dnf rpm || arch=$(rpm --eval %_arch); "
    "version=$(rpm -q --qf 'installed %{VERSION}-%{RELEASE}' harness-host 2>/dev/null) ;; "
    "esac; "
    "case $version in 'installed '*) version=${version#installed } ;; *) version= ;; esac; "
    "printf '%s %s %s %s\\n' \"$name\" \"${arch:-none}\" \"$(id -u)\" \"${version:-none}\"";

static int ask_for_system(struct remote_host *h, struct host_system *s, struct error *e)
{
    const char *const argv[] = {"sh", "-c", ask_system_script, NULL};
    struct text out = {0};
    *s = (struct host_system){0};
    int result = ssh_must(h->ssh, argv, NULL, &out, REMOTE_COMMAND_NS, e);
    if (result == 0 &&
        sscanf(text_string(&out), "%63s %31s %u %79s", s->name, s->architecture, &s->user, s->version) != 4)
        result = error_set(e, "host %s: its system could not be read: it printed \"%.200s\"",
                           remote_machine_name(h), text_string(&out));
    text_free(&out);
    return result;
}

static const struct packaged *find_packaged(const struct host_system *s)
{
    for (size_t i = 0; i < sizeof all_packaged / sizeof *all_packaged; i++)
        if (strcmp(s->name, all_packaged[i].system) == 0)
            return &all_packaged[i];
    return NULL;
}

/* Why the host cannot have a package, whatever files there are. */
static int check_system(const struct host_system *s, const struct packaged *packaged, struct error *why)
{
    if (!packaged)
        return error_set(why, "it runs %s, and packages are for %s, %s", s->name, all_packaged[0].people_say,
                         all_packaged[1].people_say);
    if (strcmp(s->architecture, "none") == 0)
        return error_set(why, "it has no %s", packaged->manager);
    if (s->user != 0)
        return error_set(why, "its login is not root: \"sudo\": true in the lab makes it root, by sudo -n");
    return 0;
}

/* ---- packages: the file */

/* The version in the name of a file for this system; NULL: it is not one. The caller frees. */
static char *version_in_name(const char *file, const struct packaged *packaged, const char *architecture)
{
    char end[64];
    snprintf(end, sizeof end, "%s%s.%s", packaged->before_architecture, architecture, packaged->kind);
    size_t length = strlen(file), before = strlen(packaged->name), after = strlen(end);
    if (length <= before + after || strncmp(file, packaged->name, before) != 0 ||
        strcmp(file + length - after, end) != 0)
        return NULL;
    return strndup(file + before, length - before - after);
}

/* A version of packages of this program: its own, followed by the day or by the revision. */
static bool is_ours(const char *version)
{
    size_t length = strlen(HARNESS_VERSION);
    return strncmp(version, HARNESS_VERSION, length) == 0 &&
           (version[length] == '-' || version[length] == '+') && strlen(version) < 80 &&
           version[strspn(version, "0123456789abcdefghijklmnopqrstuvwxyz.+~_-")] == '\0';
}

/* The one file of this version; others are named in `why`. */
static int choose_file(DIR *entries, const char *folder, const struct packaged *packaged,
                       const char *architecture, struct host_package *p, struct error *why)
{
    char other[80] = "";
    for (const struct dirent *entry; (entry = readdir(entries));) {
        char *version = version_in_name(entry->d_name, packaged, architecture);
        bool second = version && is_ours(version) && p->file;
        if (version && is_ours(version) && !p->file) {
            snprintf(p->version, sizeof p->version, "%s", version);
            p->file = files_join(folder, entry->d_name);
        } else if (version)
            snprintf(other, sizeof other, "%s", version);
        free(version);
        if (second)
            return error_set(why, "%s has harness-host %s and %s: leave one of them there", folder,
                             p->version, other);
    }
    if (p->file)
        return 0;
    if (*other)
        return error_set(why, "%s has harness-host %s, but this is harness %s", folder, other,
                         HARNESS_VERSION);
    return error_set(why, "%s has no %s%s*%s%s.%s: `make %s` makes packages", folder, packaged->name,
                     HARNESS_VERSION, packaged->before_architecture, architecture, packaged->kind,
                     packaged->kind);
}

static int find_package_file(const char *folder, const struct packaged *packaged, const char *architecture,
                             struct host_package *p, struct error *why)
{
    if (!folder)
        return error_set(why, "there are no package files: `make %s` makes them, or --packages names them",
                         packaged->kind);
    DIR *entries = opendir(folder);
    if (!entries)
        return error_set(why, "the folder of packages, %s, cannot be read", folder);
    int result = choose_file(entries, folder, packaged, architecture, p, why);
    closedir(entries);
    return result;
}

bool remote_package_wanted(const struct lab_host *host)
{
    return strcmp(host->programs, PACKAGES_PROGRAMS) == 0;
}

int remote_package_find(struct remote_host *h, const char *folder, struct host_package *p, struct error *why,
                        struct error *e)
{
    struct host_system s;
    *p = (struct host_package){0};
    if (!remote_package_wanted(h->lab)) {
        error_set(why, "the lab says \"programs\": \"%s\", and packages have theirs in %s", h->lab->programs,
                  PACKAGES_PROGRAMS);
        return 0;
    }
    if (ask_for_system(h, &s, e) != 0)
        return -1;
    const struct packaged *packaged = find_packaged(&s);
    if (strcmp(s.version, "none") != 0)
        snprintf(p->before, sizeof p->before, "%s", s.version);
    if (check_system(&s, packaged, why) != 0 ||
        find_package_file(folder, packaged, s.architecture, p, why) != 0)
        return 0;
    snprintf(p->kind, sizeof p->kind, "%s", packaged->kind);
    return 1;
}

void host_package_free(struct host_package *p)
{
    free(p->file);
    *p = (struct host_package){0};
}

/* ---- packages: installing one */

/*
 * put KIND VERSION BYTES, with the package file on standard input: it is checked, and installed by the
 * package manager; prints "same" or "installed". What the package manager prints goes to a file: if the
 * connection ends, it goes on to its end. apt-get and dnf choose the libraries before they change
 * anything; where all are there, rpm needs no repository. A package that was not there before and was left
 * half installed is removed.
 */
static const char put_package_script[] =
    "export LC_ALL=C DEBIAN_FRONTEND=noninteractive; umask 022; trap : PIPE; kind=$1 version=$2\n"
    "fail() { echo \"$1\" >&2; exit 1; }\n"
    "folder=$(mktemp -d) && cd \"$folder\" || exit 1\n"
    "trap 'cd / && rm -rf \"$folder\"' EXIT\n"
    "file=$folder/harness-host.$kind; log=$folder/log\n"
    "cat >\"$file\" || exit 1\n"
    "[ \"$(wc -c <\"$file\")\" -eq \"$3\" ] || fail \"$(wc -c <\"$file\") of $3 bytes came\"\n"
    "deb_state() { dpkg-query -W -f='${db:Status-Status} ${Version}' harness-host; }\n"
    "deb_named() { dpkg-deb -W --showformat='${Package} ${Version}' \"$file\"; }\n"
    "deb_whole() { dpkg-deb --fsys-tarfile \"$file\" >/dev/null; }\n"
    "deb_same() { dpkg-deb --ctrl-tarfile \"$file\" | tar -xO ./md5sums | grep '  usr/bin/' | (cd / && "
    "md5sum "
    "--check --status); }\n"
    "deb_put() { apt-get -q -y -o DPkg::Lock::Timeout=60 --no-install-recommends --no-remove "
    "--allow-downgrades --reinstall install \"$file\"; }\n"
    "deb_undo() { dpkg --purge --force-remove-reinstreq harness-host; }\n"
    "rpm_state() { rpm -q --qf 'installed %{VERSION}-%{RELEASE}' harness-host; }\n"
    "rpm_named() { rpm -qp --nosignature --qf '%{NAME} %{VERSION}-%{RELEASE}' \"$file\"; }\n"
    "rpm_whole() { rpm -K --nosignature \"$file\"; }\n"
    "rpm_same() { ! rpm -Vp --nosignature --nodeps --noscripts --nomtime \"$file\" | grep -q ' /usr/bin/'; "
    "}\n"
    "rpm_put() { set -- --nosignature --oldpackage --replacepkgs \"$file\"\n"
    "    if rpm -U --test \"$@\"; then rpm -U \"$@\"\n"
    "    else dnf -y --setopt=install_weak_deps=0 install \"$file\"; fi; }\n"
    "rpm_undo() { rpm -e harness-host; }\n"
    "named=$(${kind}_named 2>&1)\n"
    "[ \"$named\" = \"harness-host $version\" ] || fail \"the package file says: $(echo \"$named\" | tail -n "
    "1)\"\n"
    "${kind}_whole >\"$log\" 2>&1 || fail \"the package file is damaged: $(tail -n 1 \"$log\")\"\n"
    "before=$(${kind}_state 2>/dev/null)\n"
    "if [ \"$before\" = \"installed $version\" ] && ${kind}_same 2>/dev/null; then echo same; exit; fi\n"
    "${kind}_put >\"$log\" 2>&1 </dev/null && [ \"$(${kind}_state)\" = \"installed $version\" ] && echo "
    "installed && exit\n"
    "said=$(grep -E '^E:|^ .* : |^error:|^Error:|^ Problem|nothing provides|is needed by|^dpkg: error' "
    "\"$log\" | "
    "tail -n 4 | tr -s ' \\n' ' ')\n"
    "[ -n \"$said\" ] || said=$(tail -n 1 \"$log\")\n"
    "case $before in 'installed '* | \"$(${kind}_state 2>/dev/null)\") ;; *) ${kind}_undo ;; esac >/dev/null "
    "2>&1\n"
    "fail \"$said\"";

int remote_package_put(struct remote_host *h, const struct host_package *p, bool *same, struct error *e)
{
    size_t length;
    char bytes_text[24], *bytes = files_read(p->file, PACKAGE_MOST, &length, e);
    if (!bytes)
        return -1;
    snprintf(bytes_text, sizeof bytes_text, "%zu", length);
    const char *const argv[] = {"sh", "-c", put_package_script, "put", p->kind, p->version, bytes_text, NULL};
    struct text out = {0};
    int result = ssh_must_bytes(h->ssh, argv, bytes, length, &out, PACKAGE_NS, e);
    *same = strncmp(text_string(&out), "same", 4) == 0;
    text_free(&out);
    free(bytes);
    return result == 0 ? 0 : error_prefix(e, "installing %s on host %s", p->file, remote_machine_name(h));
}
