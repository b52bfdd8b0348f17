/*
 * Which URIs of libvirt a lab may have. libvirt runs what some of them name: "command" for the transports ssh and ext, "netcat" on
 * the other machine; "keyfile", "sshauth", "known_hosts" and "no_verify" choose how that machine is trusted, and qemu:///embed runs
 * the hypervisor in this process (libvirt, "Connection URIs"). So transports, paths and parameters are those of this list.
 */
#include "lib/formats/lab_words.h"

#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *text, size_t length, const char *const words[])
{
    for (; *words; words++)
        if (strlen(*words) == length && strncmp(text, *words, length) == 0)
            return true;
    return false;
}

static bool is_made_of(const char *text, size_t length, const char *also)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", text[i]) &&
            !strchr(also, text[i]))
            return false;
    return length > 0 && *text != '-';
}

/* "0" to "65535" */
static bool is_port(const char *text, size_t length)
{
    return length > 0 && length <= 5 && strspn(text, "0123456789") >= length &&
           strtol(text, NULL, 10) <= 65535;
}

/* "[user@]host[:port]", the host a name, an IPv4 address, or an IPv6 address in brackets. */
static bool is_machine(const char *text, size_t length)
{
    const char *end = text + length, *at = memchr(text, '@', length);
    const char *host = at ? at + 1 : text;
    if (at && !is_made_of(text, (size_t)(at - text), "._-"))
        return false;
    bool bracket = host < end && *host == '[';
    const char *stop =
        bracket ? memchr(host, ']', (size_t)(end - host)) : memchr(host, ':', (size_t)(end - host));
    const char *rest = stop ? stop + bracket : end;
    if (bracket ? !stop || !is_made_of(host + 1, (size_t)(stop - host - 1), ":.%")
                : !is_made_of(host, (size_t)(rest - host), "._-"))
        return false;
    return rest == end || (*rest == ':' && is_port(rest + 1, (size_t)(end - rest - 1)));
}

/* "socket=/run/x": only where libvirt's daemon of this machine listens. */
static bool is_socket(const char *text, size_t length)
{
    static const char key[] = "socket=/";
    size_t skip = sizeof key - 1;
    return length > skip && strncmp(text, key, skip) == 0 && is_made_of(text + skip, length - skip, "/._-");
}

/* "mode=direct&no_tty=1": what is given after the '?'. */
static bool are_parameters(const char *text, bool local)
{
    static const char *const harmless[] = {"mode=auto", "mode=direct", "mode=legacy",  "no_tty=0",
                                           "no_tty=1",  "proxy=auto",  "proxy=native", NULL};
    for (;;) {
        size_t length = strcspn(text, "&");
        if (!is_one_of(text, length, harmless) && !(local && is_socket(text, length)))
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

bool lab_uri_fits(const char *uri)
{
    static const char *const local[] = {"qemu", "qemu+unix", NULL}, *const far[] = {"qemu+ssh", "qemu+tls",
                                                                                    NULL};
    static const char *const paths[] = {"/system", "/session", NULL};
    size_t scheme = strcspn(uri, ":");
    if (strcmp(uri, "test:///default") == 0)
        return true;
    bool here = is_one_of(uri, scheme, local);
    if ((!here && !is_one_of(uri, scheme, far)) || strncmp(uri + scheme, "://", 3) != 0)
        return false;
    const char *machine = uri + scheme + 3, *path = strpbrk(machine, "/?");
    if (!path || (here ? path != machine : !is_machine(machine, (size_t)(path - machine))))
        return false;
    size_t length = strcspn(path, "?");
    return is_one_of(path, length, paths) &&
           (path[length] == '\0' || are_parameters(path + length + 1, here));
}

const struct form form_uri = {"a URI of libvirt's QEMU driver that a lab may have",
                              "one such as qemu:///system, qemu:///session or "
                              "qemu+ssh://user@host:22/system, with no other parameters than "
                              "mode, no_tty, proxy=auto or native, and socket on this machine: with others "
                              "libvirt runs programs, or trusts "
                              "machines that it does not know",
                              lab_uri_fits};
