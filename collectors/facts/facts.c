#include "collectors/facts/facts.h"

#include "lib/clock.h"
#include "lib/document/json_text.h"
#include <string.h>
#include <unistd.h>

bool facts_may_ask(const struct facts_source *s, const char *netdev)
{
    return !s->tools || strcmp(s->tools, netdev) == 0;
}

json_t *facts_gather(const struct facts_source *s, const char *netdev)
{
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    json_t *o = json_object();
    json_object_set_new(o, "schema", json_integer(1));
    json_object_set_new(o, "program", json_text("host-facts"));
    json_object_set_new(o, "version", json_text(HARNESS_VERSION));
    /* A copied tree (--root) contains neither a host name nor a time. */
    json_object_set_new(o, "host", s->live ? json_text(host) : json_null());
    json_object_set_new(o, "time_ns", s->live ? json_integer(clock_realtime_ns()) : json_null());
    json_object_set_new(o, "system", facts_system(s));
    json_object_set_new(o, "versions", facts_versions(s));
    json_object_set_new(o, "iommu", facts_iommu(s));
    json_object_set_new(o, "modules", facts_modules(s));
    json_object_set_new(o, "memory_peers", facts_memory_peers(s));
    json_object_set_new(o, "gdrcopy", facts_gdrcopy(s));
    json_object_set_new(o, "namespaces", facts_namespaces(s));
    json_object_set_new(o, "lldp_agents", facts_lldp_agents(s));
    json_object_set_new(o, "elsewhere", facts_elsewhere(s));
    json_t *nics = facts_nics(s, netdev), *gpus = facts_gpus(s);
    json_object_set_new(o, "nics", nics);
    json_object_set_new(o, "gpus", gpus);
    json_object_set_new(o, "pairs", facts_pairs(s, nics, gpus));
    return o;
}
