/*
 * NVIDIA GPU operator's ClusterPolicy against what this host's flows need. Fields: NVIDIA/gpu-operator,
 * api/nvidia/v1, ClusterPolicySpec; advice: the operator's guide, "GPUDirect RDMA and GPUDirect Storage", and
 * its release notes on useOpenKernelModules.
 */
#include "collectors/facts/checks.h"
#include "collectors/facts/judge.h"

#include "lib/formats/flow.h"
#include <stdio.h>
#include <string.h>

/* What kubectl prints is the object, or a list of one. */
static const json_t *policy_object(const json_t *document)
{
    const json_t *items = json_object_get(document, "items");
    return items ? json_array_get(items, 0) : document;
}

/* The command that merges `change` (JSON of a spec) into the policy. */
static const char *patch(const json_t *policy, const char *change, char *buffer, size_t size)
{
    const char *name = fact_word(policy, "metadata", "name");
    snprintf(buffer, size, "kubectl patch clusterpolicies.nvidia.com %.60s --type merge -p '{\"spec\":%s}'",
             name[0] ? name : "cluster-policy", change);
    return buffer;
}

/* driver.rdma.enabled loads nvidia-peermem: needed by its routes, and left out with dma-buf. */
static void judge_rdma(struct judge *j, const json_t *policy, const json_t *driver)
{
    static const char subject[] = "driver.rdma.enabled";
    const json_t *enabled = fact_at(driver, "rdma", "enabled");
    char fix[256];
    if (!json_is_boolean(enabled))
        judge_say(j, VERDICT_UNKNOWN, subject, NULL,
                  "the policy does not say whether nvidia-peermem is loaded");
    else if (json_is_true(enabled) && judge_by_dmabuf(j))
        judge_say(j, VERDICT_WARNING, subject,
                  patch(policy, "{\"driver\":{\"rdma\":{\"enabled\":false}}}", fix, sizeof fix),
                  "it loads nvidia-peermem, which flows by dma-buf do not need: the operator's guide leaves "
                  "it out");
    else if (json_is_false(enabled) && judge_by_peermem(j))
        judge_say(j, VERDICT_FAILURE, subject,
                  patch(policy, "{\"driver\":{\"rdma\":{\"enabled\":true}}}", fix, sizeof fix),
                  "it is false, but the flows' route needs nvidia-peermem");
    else
        judge_say(j, VERDICT_OK, subject, NULL, "%s fits the flows' route",
                  json_is_true(enabled) ? "true" : "false");
}

/* With rdma.enabled and not useHostMofed the driver's pod waits for the network operator's MLNX_OFED, else
 * for the host's. */
static void judge_host_mofed(struct judge *j, const json_t *policy, const json_t *driver)
{
    static const char subject[] = "driver.rdma.useHostMofed";
    const json_t *host = fact_at(driver, "rdma", "useHostMofed"),
                 *ofed = fact_at(j->facts, "versions", "mlnx_ofed");
    char fix[256];
    if (!json_is_true(fact_at(driver, "rdma", "enabled")))
        return;
    if (!json_is_boolean(host) || !ofed)
        judge_say(j, VERDICT_UNKNOWN, subject, NULL, "the policy, or the host's MLNX_OFED, is not known");
    else if (json_is_true(host) && !json_is_string(ofed))
        judge_say(j, VERDICT_FAILURE, subject,
                  patch(policy, "{\"driver\":{\"rdma\":{\"useHostMofed\":false}}}", fix, sizeof fix),
                  "it is true, but the host has no MLNX_OFED loaded: the driver's pod waits for it");
    else
        judge_say(j, VERDICT_OK, subject, NULL, "%s; MLNX_OFED of the host: %s",
                  json_is_true(host) ? "true" : "false",
                  json_is_string(ofed) ? json_string_value(ofed) : "none");
}

/* kernelModuleType is of operator 25.3 and newer. useOpenKernelModules is not honoured by these driver
 * releases and newer ones. */
static void judge_module_type(struct judge *j, const json_t *policy, const json_t *driver)
{
    static const char subject[] = "driver.kernelModuleType",
                      change[] = "{\"driver\":{\"kernelModuleType\":\"open\"}}";
    const char *type = fact_word(driver, "kernelModuleType", NULL);
    const json_t *old = json_object_get(driver, "useOpenKernelModules"),
                 *open = fact_at(j->facts, "versions", "nvidia_open");
    bool needs_open = j->wanted->memory == MEMORY_CUDA_DMABUF;
    char fix[256];
    if (type[0] == '\0' && json_is_true(old))
        judge_say(j, VERDICT_WARNING, "driver.useOpenKernelModules", patch(policy, change, fix, sizeof fix),
                  "drivers from 535.247.01, 550.163.01 and 570.133.20 on do not heed it: set "
                  "kernelModuleType (operator "
                  "25.3 and newer), or KERNEL_MODULE_TYPE=open in driver.env");
    else if (type[0] == '\0')
        judge_say(j, VERDICT_UNKNOWN, subject, NULL,
                  "the policy does not say which kernel modules are installed");
    else if (strcmp(type, "proprietary") == 0 && needs_open)
        judge_say(j, VERDICT_FAILURE, subject, patch(policy, change, fix, sizeof fix),
                  "it is proprietary, but CUDA exports dma-bufs with the open modules only");
    else if (!json_is_boolean(open))
        judge_say(j, VERDICT_UNKNOWN, subject, NULL, "%s; which modules are loaded is not known", type);
    else if (strcmp(type, "auto") != 0 && (strcmp(type, "open") == 0) != json_is_true(open))
        judge_say(
            j, VERDICT_WARNING, subject, "kubectl -n gpu-operator delete pod -l app=nvidia-driver-daemonset",
            "it is %s, but the loaded modules are %s", type, json_is_true(open) ? "open" : "proprietary");
    else
        judge_say(j, VERDICT_OK, subject, NULL, "%s; the loaded modules are %s", type,
                  json_is_true(open) ? "open" : "proprietary");
}

static void judge_gdrcopy(struct judge *j, const json_t *policy, const json_t *spec)
{
    static const char subject[] = "gdrcopy.enabled";
    const json_t *enabled = fact_at(spec, "gdrcopy", "enabled");
    bool loaded = judge_has_module(j, "gdrdrv");
    char fix[256];
    if (!json_is_boolean(enabled) || !judge_saw_modules(j))
        judge_say(j, VERDICT_UNKNOWN, subject,
                  patch(policy, "{\"gdrcopy\":{\"enabled\":true}}", fix, sizeof fix),
                  "the policy, or whether gdrdrv is loaded, is not known");
    else if (json_is_true(enabled) && !loaded)
        judge_say(j, VERDICT_WARNING, subject,
                  "kubectl -n gpu-operator logs ds/nvidia-driver-daemonset -c nvidia-gdrcopy-ctr",
                  "it is true, but gdrdrv is not loaded");
    else
        judge_say(j, VERDICT_OK, subject, NULL, "%s; gdrdrv is %s", json_is_true(enabled) ? "true" : "false",
                  loaded ? "loaded" : "not loaded");
}

void check_cluster_policy(struct judge *j)
{
    const json_t *policy = policy_object(j->wanted->policy), *spec = json_object_get(policy, "spec");
    const json_t *driver = json_object_get(spec, "driver");
    if (!j->wanted->policy)
        return;
    if (!json_is_object(spec)) {
        judge_say(j, VERDICT_UNKNOWN, "spec", "kubectl get clusterpolicies.nvidia.com -o json > FILE",
                  "the document is no ClusterPolicy");
        return;
    }
    if (json_is_false(json_object_get(driver, "enabled"))) {
        judge_say(j, VERDICT_OK, "driver.enabled", NULL, "false: the host's own driver is used");
    } else {
        judge_rdma(j, policy, driver);
        judge_host_mofed(j, policy, driver);
        judge_module_type(j, policy, driver);
    }
    judge_gdrcopy(j, policy, spec);
}
