#include "guest-setup/guest/kept.h"

#include "lib/files.h"
#include "lib/scratch.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT_LIMIT 256

/* The caller frees; NULL: unknown. */
static char *read_boot_id(void)
{
    return files_read_line("/proc/sys/kernel/random/boot_id", NULL);
}

/* Cuts " BOOT-ID\n" off; false: it is of another boot. */
static bool is_of_boot(char *kept, const char *boot)
{
    char *space = strchr(kept, ' ');
    size_t length = strlen(boot);
    if (!space || strncmp(space + 1, boot, length) != 0 || strcmp(space + 1 + length, "\n") != 0)
        return false;
    *space = '\0';
    return true;
}

char *kept_recall(const char *folder, const char *name)
{
    char *boot = read_boot_id();
    char *path = folder ? files_join(folder, name) : NULL;
    int fd = path ? scratch_open(path, O_RDONLY, 0, NULL) : -1;
    char *kept = fd >= 0 ? files_read_descriptor(fd, path, KEPT_LIMIT, NULL, NULL) : NULL;
    if (kept && (!boot || !is_of_boot(kept, boot))) {
        free(kept);
        kept = NULL;
    }
    free(boot);
    free(path);
    if (fd >= 0)
        close(fd);
    return kept;
}

void kept_keep(const char *folder, const char *name, const char *value)
{
    char line[KEPT_LIMIT], *boot = read_boot_id();
    char *path = folder ? files_join(folder, name) : NULL;
    int length = snprintf(line, sizeof line, "%s %s\n", value, boot ? boot : "");
    if (path && boot)
        (void)files_write_atomic(path, line, (size_t)length, NULL);
    free(boot);
    free(path);
}
