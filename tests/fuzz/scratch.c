#include "tests/fuzz/scratch.h"

#include "lib/files.h"
#include <stdio.h>
#include <stdlib.h>

/* a fuzzer's function takes no argument of ours, and atexit neither */
static char folder[200];

static void remove_folder(void)
{
    files_remove_tree(folder, NULL);
}

const char *scratch_folder(void)
{
    const char *below = getenv("TMPDIR");
    if (*folder)
        return folder;
    snprintf(folder, sizeof folder, "%s/harness-fuzz.XXXXXX", below ? below : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        abort();
    }
    atexit(remove_folder);
    return folder;
}
