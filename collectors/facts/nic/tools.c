#include "collectors/facts/nic/tools.h"

#include "lib/clock.h"
#include "lib/process.h"
#include <string.h>

#define TOOL_TIMEOUT_NS (10 * NS_PER_S)

const char *tool_installed(const char *const names[])
{
    while (*names && !process_on_path(*names))
        names++;
    return *names;
}

int tool_ask(const char *const argv[], struct text *out, struct text *why)
{
    struct text err = {0};
    struct error e = {0};
    text_clear(out);
    text_clear(why);
    int status = process_run(argv, NULL, out, &err, TOOL_TIMEOUT_NS, &e);
    const char *said = err.length ? text_string(&err) : text_string(out);
    if (status < 0)
        text_add(why, "%s", e.text);
    else if (status > 0)
        text_add(why, "%s exited with %d: %.*s", argv[0], status, (int)strcspn(said, "\n"), said);
    text_free(&err);
    return status;
}
