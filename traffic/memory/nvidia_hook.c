#include "traffic/memory/nvidia_hook.h"

#include "traffic/memory/nvidia_rm.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The only state outside of a struct: an interposed function has no argument for it. */
static struct {
    atomic_bool armed;
    pthread_mutex_t user; /* held from hook_arm to hook_disarm */
    pthread_mutex_t lock;
    size_t count;
    struct hook_object objects[HOOK_MAX_OBJECTS];
} hook = {.user = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_recorded_class(uint32_t class)
{
    return class == RM_CLASS_DEVICE || class == RM_CLASS_SUBDEVICE || class == RM_CLASS_VASPACE ||
           class == RM_CLASS_LOCAL_MEMORY || class == RM_CLASS_THIRD_PARTY_P2P;
}

/* When the table is full, the oldest entries are dropped, because they have most probably been freed. */
static void record_object(int fd, uint32_t client, uint32_t parent, uint32_t object, uint32_t class)
{
    if (!is_recorded_class(class))
        return;
    pthread_mutex_lock(&hook.lock);
    if (hook.count == HOOK_MAX_OBJECTS)
        memmove(hook.objects, hook.objects + 1, --hook.count * sizeof *hook.objects);
    hook.objects[hook.count++] = (struct hook_object){fd, client, parent, object, class};
    pthread_mutex_unlock(&hook.lock);
}

/* RM_ALLOC has two sizes; the ioctl number contains the size. */
static void record_allocation(int fd, unsigned long request, const void *argument)
{
    if (request == _IOWR(RM_IOCTL_TYPE, RM_ESCAPE_ALLOC, struct rm_alloc_rights)) {
        const struct rm_alloc_rights *a = argument;
        if (a->status == 0)
            record_object(fd, a->root, a->parent, a->object, a->class);
    } else if (request == _IOWR(RM_IOCTL_TYPE, RM_ESCAPE_ALLOC, struct rm_alloc)) {
        const struct rm_alloc *a = argument;
        if (a->status == 0)
            record_object(fd, a->root, a->parent, a->object, a->class);
    }
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int result = (int)syscall(SYS_ioctl, fd, request, argument);
    if (result == 0 && atomic_load_explicit(&hook.armed, memory_order_relaxed))
        record_allocation(fd, request, argument);
    return result;
}

void hook_arm(void)
{
    pthread_mutex_lock(&hook.user);
    atomic_store(&hook.armed, true);
}

void hook_disarm(void)
{
    atomic_store(&hook.armed, false);
    pthread_mutex_unlock(&hook.user);
}

size_t hook_objects(struct hook_object *objects, size_t room)
{
    pthread_mutex_lock(&hook.lock);
    size_t count = hook.count < room ? hook.count : room;
    memcpy(objects, hook.objects, count * sizeof *objects);
    pthread_mutex_unlock(&hook.lock);
    return count;
}
