#include "harness/labs/hosts/sonic/redis.h"

#include "harness/labs/hosts/sonic/config_db.h"
#include "lib/clock.h"
#include "lib/document/json_file.h"
#include "lib/document/json_text.h"
#include "lib/files.h"
#include "lib/words.h"
#include "lib/xalloc.h"
#include <stdlib.h>
#include <string.h>

#define CONNECT_NS (15 * NS_PER_S)
#define ANSWER_NS  (60 * NS_PER_S)

/* The keys, with their fields, of each table named by ARGV. */
static const char config_script[] = "local out = {}\n"
                                    "for _, name in ipairs(ARGV) do\n"
                                    "  local t = {}\n"
                                    "  for _, key in ipairs(redis.call('KEYS', name .. '|*')) do\n"
                                    "    if redis.call('TYPE', key).ok == 'hash' then\n"
                                    "      local f, all = {}, redis.call('HGETALL', key)\n"
                                    "      for i = 1, #all, 2 do f[all[i]] = all[i + 1] end\n"
                                    "      t[string.sub(key, #name + 2)] = f\n"
                                    "    end\n"
                                    "  end\n"
                                    "  out[name] = t\n"
                                    "end\n"
                                    "return cjson.encode(out)\n";

static char *copy_or_null(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct ssh_session *sonic_open(const struct lab_switch *s, const atomic_bool *cancelled, struct error *e)
{
    struct ssh_target target = {.host = copy_or_null(s->ssh),
                                .port = s->port == FIELD_UNSET ? 0 : s->port,
                                .identity = copy_or_null(s->identity),
                                .known_hosts = copy_or_null(s->known_hosts),
                                .sudo = s->sudo == 1,
                                .cancelled = cancelled};
    struct ssh_session *session = ssh_open(s->name, &target, CONNECT_NS, e);
    ssh_target_free(&target);
    return session;
}

struct ssh_session *sonic_open_locked(const struct lab_switch *s, const struct lab_lock *lock,
                                      const atomic_bool *cancelled, json_t *warnings, struct error *e)
{
    struct ssh_session *session = sonic_open(s, cancelled, e);
    int locked = session ? lab_lock_reached(lock, session, "switch", s->name, e) : 0;
    if (locked == 1 && warnings)
        json_array_append_new(warnings, json_text(e->text));
    if (locked >= 0)
        return session;
    ssh_close(session);
    return NULL;
}

/* redis-cli prints an error of redis where it prints answers, and ends with 0. */
static json_t *parse_answer(const struct lab_switch *s, const struct text *answer, struct error *e)
{
    const char *text = text_string(answer);
    char name[120];
    snprintf(name, sizeof name, "switch %.80s: redis's answer", s->name);
    if (*text != '{') {
        error_set(e, "switch %s: redis answered \"%.*s\": expected an object", s->name,
                  (int)strcspn(text, "\n"), text);
        return NULL;
    }
    return json_file_parse(text, answer->length, name, DOCUMENT_ANSWER, e);
}

void sonic_words(const struct lab_switch *s, enum sonic_database database, int64_t every_ns,
                 const char *script, const char *const arguments[], size_t count, struct words *command)
{
    words_add(command, "redis-cli");
    if (s->socket) {
        words_add(command, "-s");
        words_add(command, "%s", s->socket);
    }
    if (every_ns) {
        words_add(command, "-r");
        words_add(command, "-1");
        words_add(command, "-i");
        words_add(command, "%.3f", (double)every_ns / 1e9);
    }
    words_add(command, "-n");
    words_add(command, "%d", (int)database);
    words_add(command, "EVAL");
    words_add(command, "%s", script);
    words_add(command, "0");
    for (size_t i = 0; i < count; i++)
        words_add(command, "%s", arguments[i]);
}

json_t *sonic_ask(const struct lab_switch *s, struct ssh_session *session, enum sonic_database database,
                  const char *script, const char *const arguments[], size_t count, struct error *e)
{
    struct words command = {0};
    struct text answer = {0};
    json_t *json = NULL;
    sonic_words(s, database, 0, script, arguments, count, &command);
    if (words_whole(&command, e) == 0 &&
        ssh_must(session, (const char *const *)command.items, NULL, &answer, ANSWER_NS, e) == 0)
        json = parse_answer(s, &answer, e);
    words_free(&command);
    text_free(&answer);
    return json;
}

json_t *sonic_tables(const struct lab_switch *s, struct ssh_session *session, struct error *e)
{
    size_t count = 0;
    while (sonic_config_tables[count])
        count++;
    return sonic_ask(s, session, SONIC_CONFIG_DB, config_script, sonic_config_tables, count, e);
}
