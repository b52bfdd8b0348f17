#include "guest-setup/rebuild/nic_settings.h"

#include "guest-setup/rebuild/steps.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include <string.h>
#include <jansson.h>
#include <stdlib.h>

#define RESTORE_NS (120 * NS_PER_S) /* it waits for links and reloads of the driver */

void nic_settings_command(const char *program, const char *words[6])
{
    words[0] = "sh";
    words[1] = "-c";
    words[2] = "[ ! -x \"$1\" ] || exec \"$1\" restore";
    words[3] = "sh";
    words[4] = program;
    words[5] = NULL;
}

int nic_settings_judge(const char *host, int status, const char *printed, struct error *e)
{
    if (status == 0)
        return 0;
    json_t *answer = json_file_parse(printed, strlen(printed), "nic-config", DOCUMENT_ANSWER, NULL);
    const char *why = json_string_value(json_object_get(answer, "error"));
    error_set(e, "host %s: nic-config restore exited with %d: %.300s", host, status,
              why ? why : "it gave no reason");
    json_decref(answer);
    return -1;
}

static int restore_over(struct making *m, struct ssh_session *ssh, struct error *e)
{
    const char *words[6];
    struct text path = {0}, out = {0};
    text_add(&path, "%s/nic-config", m->host->programs ? m->host->programs : "/usr/local/bin");
    nic_settings_command(text_string(&path), words);
    int status = ssh_run(ssh, words, NULL, &out, NULL, RESTORE_NS, e);
    int result = status < 0 ? -1 : nic_settings_judge(m->host->name, status, text_string(&out), e);
    text_free(&path);
    text_free(&out);
    return result;
}

int nic_settings_restore(struct making *m, struct error *e)
{
    struct guest guest = {.context = m->context, .host = m->host, .profile = &m->profile};
    enum virt_state state = VIRT_ABSENT;
    if (m->nic_count == 0 || m->context->options.discard_settings)
        return 0;
    if (virt_domain_state(m->context->virt, m->host->domain, &state, e) != 0)
        return -1;
    if (state == VIRT_ABSENT)
        return 0;
    int result = guest_connect(&guest, e);
    if (result == 0)
        result = restore_over(m, guest.ssh, e);
    if (guest.ssh)
        ssh_close(guest.ssh);
    if (result != 0)
        error_prefix(e,
                     "host %s is not reset, because the firmware of its NIC may keep settings of an earlier "
                     "run, whose "
                     "journal the reset discards (--discard-settings resets all the same)",
                     m->host->name);
    return result;
}
