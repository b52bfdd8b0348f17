/* Preloaded into harness export: runs $AT_OPEN when the database is opened, between the two readings. */
#include <dlfcn.h>
#include <stdlib.h>

struct sqlite3;
typedef int open_v2(const char *path, struct sqlite3 **db, int flags, const char *vfs);

open_v2 sqlite3_open_v2;
int sqlite3_open_v2(const char *path, struct sqlite3 **db, int flags, const char *vfs)
{
    open_v2 *next = (open_v2 *)dlsym(RTLD_NEXT, "sqlite3_open_v2");
    unsetenv("LD_PRELOAD");
    return system(getenv("AT_OPEN")) == 0 && next ? next(path, db, flags, vfs) : 1;
}
