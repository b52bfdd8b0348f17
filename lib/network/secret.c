#include "lib/network/secret.h"

#include "lib/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_BYTES 16

int secret_make(struct secret *secret, struct error *e)
{
    unsigned char bytes[RANDOM_BYTES];
    *secret = (struct secret){{0}};
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return error_set_errno(e, errno, "making a secret from random numbers");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(secret->text + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

/* Byte for byte, because what follows the line belongs to another reader. */
static int read_line(struct secret *secret, int fd, const char *name, struct error *e)
{
    size_t length = 0;
    char c = '\0';
    ssize_t got;
    *secret = (struct secret){{0}};
    while ((got = read(fd, &c, 1)) != 0 && c != '\n') {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_errno(e, errno, "reading the secret from %.200s", name);
        if (c <= ' ' || c > '~' || length == SECRET_MOST)
            break;
        secret->text[length++] = c;
    }
    if ((got == 0 || c == '\n') && length >= SECRET_LEAST)
        return 0;
    *secret = (struct secret){{0}};
    return error_set(
        e, "the first line of %.200s is not a secret: expected %d to %d printable characters without spaces",
        name, SECRET_LEAST, SECRET_MOST);
}

static int check_owner(int fd, const char *path, struct error *e)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        return error_set_errno(e, errno, "reading the secret from %.200s", path);
    if (S_ISREG(s.st_mode) && (s.st_mode & (S_IRWXG | S_IRWXO)))
        return error_set(
            e,
            "the secret in %.200s can be used by others (mode %03o): chmod 600 it, and make another secret",
            path, (unsigned)(s.st_mode & 0777));
    return 0;
}

int secret_read(struct secret *secret, const char *path, struct error *e)
{
    if (strcmp(path, "-") == 0)
        return read_line(secret, STDIN_FILENO, "standard input", e);
    *secret = (struct secret){{0}};
    int fd = files_open(path, e);
    if (fd < 0)
        return error_prefix(e, "reading the secret");
    int result = check_owner(fd, path, e) == 0 ? read_line(secret, fd, path, e) : -1;
    close(fd);
    return result;
}

void secret_copy(struct secret *secret, const char *text)
{
    *secret = (struct secret){{0}};
    memcpy(secret->text, text, strnlen(text, SECRET_MOST));
}

bool secret_equal(const struct secret *a, const struct secret *b)
{
    volatile unsigned char difference = 0;
    for (size_t i = 0; i < sizeof a->text; i++)
        difference |= (unsigned char)(a->text[i] ^ b->text[i]);
    return difference == 0;
}
