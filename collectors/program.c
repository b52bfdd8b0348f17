#include "collectors/program.h"

#include "lib/log.h"
#include <stdio.h>

int program_fail(int status, const struct error *e)
{
    log_error("%s", e->text);
    return status;
}

static int answer(const struct program_spec *program, const struct program_arguments *arguments,
                  const char *extra)
{
    if (arguments->help) {
        options_help(stdout, program->name, program->synopsis, program->about, program->specs);
        return EXIT_DONE;
    }
    if (arguments->version) {
        printf("%s %s\n", program->name, HARNESS_VERSION);
        return EXIT_DONE;
    }
    if (extra) {
        log_error("\"%s\" is not expected: options only, see --help", extra);
        return EXIT_USAGE;
    }
    return program->work(arguments);
}

int program_run(const struct program_spec *program, int argc, char **argv,
                struct program_arguments *arguments)
{
    struct error e = {0};
    const char **rest = NULL;
    size_t count = 0;
    if (options_parse(program->specs, argc, argv, arguments, &rest, &count, &e) == -1)
        return program_fail(EXIT_USAGE, &e);
    int status = answer(program, arguments, count > 0 ? rest[0] : NULL);
    options_free(program->specs, arguments, rest);
    return status;
}
