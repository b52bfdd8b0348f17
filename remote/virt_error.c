#include "remote/virt_error.h"

#include <libvirt/virterror.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int virt_error(struct error *e, const char *format, ...)
{
    char context[400];
    va_list values;
    va_start(values, format);
    vsnprintf(context, sizeof context, format, values);
    va_end(values);
    const virError *last = virGetLastError();
    return error_set(e, "%s: %s", context, last && last->message ? last->message : "libvirt gave no reason");
}

char *virt_jump(const char *uri)
{
    const char *start = strstr(uri, "+ssh://");
    if (!start)
        return NULL;
    start += strlen("+ssh://");
    size_t length = strcspn(start, "/?");
    return length ? strndup(start, length) : NULL;
}

/* libvirt reaches another machine through the user's ssh; its message contains the message of ssh. */
#define PIPE_ENDED "Cannot recv data: "
static int explain_ssh(const char *uri, const char *said, struct error *e)
{
    char *machine = virt_jump(uri);
    const char *end = strstr(said, ": Connection reset by peer");
    said += strlen(PIPE_ENDED);
    error_set(e,
              "libvirt at %s cannot be reached: %.*s: `ssh %s%s virsh version` must work without asking for "
              "anything",
              uri, end > said ? (int)(end - said) : 300, said,
              machine && strchr(machine, ':') ? "ssh://" : "", machine ? machine : "MACHINE");
    free(machine);
    return -1;
}

int virt_explain_open(const char *uri, struct error *e)
{
    const virError *last = virGetLastError();
    const char *said = last && last->message ? last->message : "no reason given";
    int code = last ? last->code : 0;
    if (strstr(uri, "+ssh://") && strncmp(said, PIPE_ENDED, strlen(PIPE_ENDED)) == 0)
        return explain_ssh(uri, said, e);
    if (strstr(said, "ermission denied") || code == VIR_ERR_AUTH_FAILED || code == VIR_ERR_ACCESS_DENIED)
        return error_set(
            e, "no permission to use libvirt at %s (%s): become a member of the group libvirt, or use sudo",
            uri, said);
    if (code == VIR_ERR_NO_CONNECT || code == VIR_ERR_INVALID_ARG || code == VIR_ERR_CONF_SYNTAX)
        return error_set(e,
                         "libvirt does not support the URI \"%s\" (%s): expected one such as qemu:///system",
                         uri, said);
    if (strstr(said, "socket"))
        return error_set(e,
                         "libvirt at %s does not answer (%s): start it (systemctl start libvirtd), or run in "
                         "guest-setup/soft-lab, which starts a private one",
                         uri, said);
    return error_set(e, "cannot connect to libvirt at %s: %s", uri, said);
}
