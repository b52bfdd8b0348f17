/* What a stranger may say to roce-traffic serve, in two pieces: nobody is greeted without the secret. */
#include "traffic/connection/control.h"
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void speak(int far, const uint8_t *data, size_t size)
{
    ssize_t sent = send(far, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct secret secret = {"0123456789abcdef"};
    struct control control;
    struct error e;
    int ends[2];
    size_t first = size ? data[0] % size : 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return 0;
    if (control_take(&control, ends[0], &e) != 0)
        abort();
    speak(ends[1], data, first);
    int greeted = control_admit(&control, &secret, &e);
    if (greeted == 0) {
        speak(ends[1], data + first, size - first);
        greeted = control_admit(&control, &secret, &e);
    }
    /* JSON can write the same text with escapes */
    if (greeted == 1 && !memchr(data, '\\', size) && !memmem(data, size, secret.text, strlen(secret.text)))
        abort();
    if (greeted == 0 && memchr(data, '\n', size))
        abort();
    control_close(&control);
    close(ends[1]);
    return 0;
}
