/* Scripts that redis runs on a switch. Databases: 1 is ASIC_DB, 2 COUNTERS_DB, 4 CONFIG_DB, 6 STATE_DB. */
#include "harness/labs/hosts/sonic/counters.h"
#include "harness/labs/hosts/sonic/changes.h"

/* The journal is in STATE_DB: it comes and goes in one step with the values, and CONFIG_DB has only tables that SONiC knows (`config reload`
 * refuses a saved one with others: sonic-utilities, config/main.py, config_file_yang_validation). */
#define JOURNAL      "'" SONIC_JOURNAL "'"
#define OPEN_JOURNAL "redis.call('SELECT', 6)\nlocal open = redis.call('HGET', " JOURNAL ", 'journal')\n"

/* The commands that write PFC_WD remove an entry and make it again (sonic-utilities, pfcwd/main.py): orchagent starts a watchdog once. */
#define WRITE                                                                                \
    "local function write(key, fields, values)\n"                                            \
    "  local whole = string.sub(key, 1, 7) == 'PFC_WD|'\n"                                   \
    "  local left = whole and redis.call('HGETALL', key) or {}\n"                            \
    "  if whole then redis.call('DEL', key) end\n"                                           \
    "  for i = 1, #left, 2 do\n"                                                             \
    "    if fields[left[i]] == nil then redis.call('HSET', key, left[i], left[i + 1]) end\n" \
    "  end\n"                                                                                \
    "  for field, value in pairs(values) do\n"                                               \
    "    if value == cjson.null then redis.call('HDEL', key, field)\n"                       \
    "    else redis.call('HSET', key, field, value) end\n"                                   \
    "  end\n"                                                                                \
    "end\n"

const char sonic_set_script[] =
    WRITE "local journal = cjson.decode(ARGV[1])\n" OPEN_JOURNAL
          "if open then return cjson.encode({open = open}) end\n"
          "redis.call('SELECT', 4)\n"
          "for key, fields in pairs(journal.before) do\n"
          "  for field, value in pairs(fields) do\n"
          "    local now = redis.call('HGET', key, field) or cjson.null\n"
          "    if now ~= value then return cjson.encode({changed = key .. ' ' .. field}) end\n"
          "  end\n"
          "end\n"
          "redis.call('SELECT', 6)\n"
          "redis.call('HSET', " JOURNAL ", 'journal', ARGV[1])\n"
          "redis.call('SELECT', 4)\n"
          "for key, values in pairs(journal.wanted) do write(key, journal.before[key], values) end\n"
          "return cjson.encode({set = true})\n";

const char sonic_restore_script[] = WRITE OPEN_JOURNAL
    "if not open then return cjson.encode({open = false}) end\n"
    "local journal, restored = cjson.decode(open), {}\n"
    "redis.call('SELECT', 4)\n"
    "for key, values in pairs(journal.before) do\n"
    "  for field, value in pairs(values) do\n"
    "    restored[#restored + 1] = {interface = key, setting = field, put_back = value,\n"
    "                               found = redis.call('HGET', key, field) or cjson.null}\n"
    "  end\n"
    "  write(key, values, values)\n"
    "end\n"
    "redis.call('SELECT', 6)\n"
    "redis.call('DEL', " JOURNAL ")\n"
    "return cjson.encode({open = true, since_s = journal.since_s, restored = restored})\n";

const char sonic_asic_script[] =
    "local function hash(key)\n"
    "  local f, all = {}, redis.call('HGETALL', key)\n"
    "  for i = 1, #all, 2 do f[all[i]] = all[i + 1] end\n"
    "  return f\n"
    "end\n"
    "local out = {ports = {}}\n"
    "for _, port in ipairs(ARGV) do\n"
    "  redis.call('SELECT', 2)\n"
    "  local oid, queues = redis.call('HGET', 'COUNTERS_PORT_NAME_MAP', port), {}\n"
    "  for i = 0, 7 do queues[i] = redis.call('HGET', 'COUNTERS_QUEUE_NAME_MAP', port .. ':' .. i) end\n"
    "  redis.call('SELECT', 1)\n"
    "  local key = 'ASIC_STATE:SAI_OBJECT_TYPE_PORT:' .. (oid or '')\n"
    "  if oid and redis.call('EXISTS', key) == 1 then\n"
    "    local of = {port = hash(key), queues = {}}\n"
    "    for i = 0, 7 do\n"
    "      local queue = queues[i] and 'ASIC_STATE:SAI_OBJECT_TYPE_QUEUE:' .. queues[i]\n"
    "      if queue and redis.call('EXISTS', queue) == 1 then\n"
    "        local wred = redis.call('HGET', queue, 'SAI_QUEUE_ATTR_WRED_PROFILE_ID')\n"
    "        of.queues[tostring(i)] = hash('ASIC_STATE:SAI_OBJECT_TYPE_WRED:' .. (wred or ''))\n"
    "      end\n"
    "    end\n"
    "    out.ports[port] = of\n"
    "  end\n"
    "end\n"
    "return cjson.encode(out)\n";
