#include "remote/mark.h"

#include "remote/virt_error.h"
#include <libvirt/virterror.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(literal) ((const xmlChar *)(literal))
#define MARK_LIMIT (1 << 20)

char *mark_xml(const struct mark *mark)
{
    char port[16];
    snprintf(port, sizeof port, "%d", mark->port);
    xmlNodePtr node = xmlNewNode(NULL, X("guest"));
    xmlBufferPtr buffer = xmlBufferCreate();
    char *text = NULL;
    if (node && buffer) {
        xmlSetNs(node, xmlNewNs(node, X(MARK_URI), X("harness")));
        xmlNewProp(node, X("lab"), X(mark->lab));
        xmlNewProp(node, X("host"), X(mark->host));
        xmlNewProp(node, X("user"), X(mark->user));
        xmlNewProp(node, X("mac"), X(mark->mac));
        xmlNewProp(node, X("address"), X(mark->address));
        if (mark->port)
            xmlNewProp(node, X("port"), X(port));
        if (xmlNodeDump(buffer, NULL, node, 0, 0) > 0)
            text = strdup((const char *)xmlBufferContent(buffer));
    }
    xmlFreeNode(node);
    xmlBufferFree(buffer);
    return text;
}

static void copy_property(xmlNodePtr node, const char *name, char *to, size_t size)
{
    xmlChar *value = xmlGetProp(node, X(name));
    snprintf(to, size, "%s", value ? (const char *)value : "");
    xmlFree(value);
}

static xmlNodePtr find_mark(xmlNodePtr node)
{
    for (; node; node = node->next) {
        if (node->type == XML_ELEMENT_NODE && node->ns &&
            strcmp((const char *)node->ns->href, MARK_URI) == 0 &&
            strcmp((const char *)node->name, "guest") == 0)
            return node;
        xmlNodePtr below = find_mark(node->children);
        if (below)
            return below;
    }
    return NULL;
}

int mark_parse(const char *xml, struct mark *mark, struct error *e)
{
    size_t length = strlen(xml);
    char port[16];
    memset(mark, 0, sizeof *mark);
    if (length > MARK_LIMIT)
        return error_set(e, "libvirt returned a description of %zu bytes: expected at most %d", length,
                         MARK_LIMIT);
    xmlDocPtr document = xmlReadMemory(xml, (int)length, "libvirt", NULL,
                                       XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (!document)
        return error_set(e, "libvirt returned a description that is not XML");
    xmlNodePtr node = find_mark(xmlDocGetRootElement(document));
    if (node) {
        copy_property(node, "lab", mark->lab, sizeof mark->lab);
        copy_property(node, "host", mark->host, sizeof mark->host);
        copy_property(node, "user", mark->user, sizeof mark->user);
        copy_property(node, "mac", mark->mac, sizeof mark->mac);
        copy_property(node, "address", mark->address, sizeof mark->address);
        copy_property(node, "port", port, sizeof port);
        long number = strtol(port, NULL, 10);
        mark->port = number > 0 && number < 65536 ? (int)number : 0;
    }
    xmlFreeDoc(document);
    return node ? 1 : 0;
}

int mark_read(virDomainPtr domain, struct mark *mark, struct error *e)
{
    char *xml = virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE);
    if (!xml)
        return virt_error(e, "reading the description of domain %s", virDomainGetName(domain));
    int result = mark_parse(xml, mark, e);
    free(xml);
    return result;
}
