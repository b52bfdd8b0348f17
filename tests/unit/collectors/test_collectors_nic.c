/* What firmware tools, lldpctl and DCB netlink say of a NIC, and the verdicts on it. */
#include "tests/unit/unit.h"

#include "collectors/facts/checks.h"
#include "collectors/facts/nic/congestion.h"
#include "collectors/facts/nic/lldp.h"
#include "collectors/facts/nic/firmware_config.h"

static json_t *parse(const char *text)
{
    char *copy = strdup(text);
    for (char *p = copy; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    json_error_t error;
    json_t *json = json_loads(copy, 0, &error);
    if (!json)
        fail_msg("%s at %d in %s", error.text, error.position, copy);
    free(copy);
    return json;
}

static void expect_json(json_t *found, const char *text)
{
    json_t *wanted = parse(text);
    char *words = json_dumps(found, JSON_COMPACT);
    if (!json_equal(found, wanted))
        fail_msg("%s, not %s", words, text);
    free(words);
    json_decref(wanted);
    json_decref(found);
}

/* ---- firmware settings */

#define HEADING_3 \
    "\nDevice #1:\n\nConfigurations:                     Default        Current        Next Boot\n"
#define HEADING_1 "Configurations:                                     Next Boot\n"

static void tables_of_settings(void **state)
{
    (void)state;
    expect_json(
        firmware_config_parse(HEADING_3 "*       ROCE_CC_LEGACY_DCQCN     True(1)   False(0)   True(1)\n"),
        "{'ROCE_CC_LEGACY_DCQCN':{'current':0,'next_boot':1}}");
    expect_json(firmware_config_parse(HEADING_3
                                      " RO     LLDP_NB_RX_MODE_P2       OFF(0)    ALL(2)     OFF(0)\n"
                                      "        MEMIC_SIZE_LIMIT         _256KB(1) _256KB(1)  _256KB(1)\n"),
                "{'LLDP_NB_RX_MODE_P2':{'current':2,'next_boot':0}}");
    /* older firmware shows the next boot alone; other versions have fewer blanks */
    expect_json(firmware_config_parse(HEADING_1 "         ROCE_CC_PRIO_MASK_P1      255             \r\n"),
                "{'ROCE_CC_PRIO_MASK_P1':{'current':null,'next_boot':255}}");
    expect_json(firmware_config_parse(HEADING_1 "USER_PROGRAMMABLE_CC False(0)"),
                "{'USER_PROGRAMMABLE_CC':{'current':null,'next_boot':0}}");
    /* values that are none, rows that end early, names that are longer */
    expect_json(firmware_config_parse(HEADING_3
                                      " LLDP_NB_DCBX_P1 N/A -1 99999999999\n USER_PROGRAMMABLE_CC True(1)\n"
                                      " ROCE_CC_LEGACY_DCQCN_X 1 1 1\n LLDP_NB_DCBX_P1x 1 1 1\n"),
                "{'LLDP_NB_DCBX_P1':{'current':null,'next_boot':null}}");
    assert_null(firmware_config_parse("-E- Failed to open the device\n"));
    assert_null(firmware_config_parse("ROCE_CC_LEGACY_DCQCN True(1)\n"));
    assert_null(firmware_config_parse(""));
}

static int64_t of_port(const char *address, const char *values, const char *key)
{
    char text[512];
    snprintf(text, sizeof text, "{'pci':{'address':'%s'},'firmware_config':{'values':{%s}}}", address,
             values);
    json_t *nic = parse(text);
    int64_t value = firmware_config_port_value(nic, key);
    json_decref(nic);
    return value;
}

static void settings_of_ports(void **state)
{
    (void)state;
    static const char both[] =
        "'LLDP_NB_DCBX_P1':{'current':1,'next_boot':0},'LLDP_NB_DCBX_P2':{'current':0,'next_boot':1}";
    static const char one[] = "'LLDP_NB_DCBX_P1':{'current':null,'next_boot':1}";
    assert_int_equal(of_port("0000:41:00.0", both, "LLDP_NB_DCBX"), 1);
    assert_int_equal(of_port("0000:41:00.1", both, "LLDP_NB_DCBX"), 0);
    assert_int_equal(of_port("0000:41:00.1", one, "LLDP_NB_DCBX"), 1);
    assert_int_equal(of_port("0000:41:00.2", one, "LLDP_NB_DCBX"), -1); /* a virtual function */
    assert_int_equal(of_port("", both, "LLDP_NB_RX_MODE"), -1);
}

/* ---- the register PPCC */

static void fields_of_a_register(void **state)
{
    char name[16];
    (void)state;
    static const char output[] = "Sending access register...\n\nField Name           | Data\n==========\n"
                                 "value                | 0x00000001\nvalue1               | 0x00000007\n"
                                 "text_length          | 0x0000000c\ntext[0]              | 0x5a54525f\n"
                                 "text[1]              | 0x52545443\ntext[2]              | 0x432c2061\n";
    assert_int_equal(ppcc_field(output, "value"), 1);
    assert_int_equal(ppcc_field(output, "text[2]"), 0x432c2061);
    assert_int_equal(ppcc_field(output, "text"), -1);
    assert_int_equal(ppcc_field(output, "nothing"), -1);
    assert_int_equal(ppcc_field("value | one\nvalue", "value"), -1);
    ppcc_name(output, name, sizeof name);
    assert_string_equal(name, "ZTR_RTTCC");
    ppcc_name(output, name, 4);
    assert_string_equal(name, "ZTR");
    ppcc_name("text[0] | 0x41000000\n", name, sizeof name);
    assert_string_equal(name, "A");
    ppcc_name("", name, sizeof name);
    assert_string_equal(name, "");
}

/* ---- LLDP */

#define NEIGHBOUR(tlvs)                                                                                      \
    "{'lldp':[{'interface':[{'name':'eth9'},{'name':'eth2','chassis':[{'name':[{'value':'leaf'}]}],'port':[" \
    "{'id':[{"                                                                                               \
    "'value':'E8'}]}],'unknown-tlvs':[{'unknown-tlv':[" tlvs "]}]}]}]}"
#define TLV(subtype, value) "{'oui':'00,80,C2','subtype':'" subtype "','len':'0','value':'" value "'}"

static json_t *heard(const char *text, const char *netdev)
{
    json_t *document = parse(text), *found = lldp_parse(document, netdev);
    json_decref(document);
    return found;
}

static void what_a_switch_says(void **state)
{
    (void)state;
    expect_json(
        heard(NEIGHBOUR(TLV("11", "88,09")), "eth2"),
        "{'from':'lldpctl','name':'leaf','port':'E8','pfc':[0,3],'willing':true,'ets':null,'apps':null}");
    expect_json(heard(NEIGHBOUR(TLV("12", "00,65,00,1A,80,89")), "eth2"),
                "{'from':'lldpctl','name':'leaf','port':'E8','pfc':null,'willing':null,'ets':null,"
                "'apps':[{'priority':3,'selector':5,'protocol':26}]}"); /* the last entry is cut off */
    json_t *found =
        heard(NEIGHBOUR(TLV("9", "00,01,23,45,67,0A,14,1E,28,00,00,00,00,02,02,02,02,00,00,00,00")), "eth2");
    expect_json(
        json_incref(json_object_get(found, "ets")),
        "{'prio_to_tc':{'0':0,'1':1,'2':2,'3':3,'4':4,'5':5,'6':6,'7':7},'weights':[10,20,30,40,0,0,0,0]}");
    json_decref(found);
    /* too short, another organisation's, no bytes, no neighbour, no document */
    static const char *const odd[] = {TLV("11", "88"),
                                      TLV("9", "00,01"),
                                      TLV("11", "zz,00"),
                                      TLV("11", ""),
                                      "{'oui':'00,12,0F','subtype':'11','value':'88,09'}",
                                      "7",
                                      "{}"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char text[512];
        snprintf(text, sizeof text, NEIGHBOUR("%s"), odd[i]);
        expect_json(
            heard(text, "eth2"),
            "{'from':'lldpctl','name':'leaf','port':'E8','pfc':null,'willing':null,'ets':null,'apps':null}");
    }
    assert_true(json_is_null(heard("{'lldp':[{'interface':[{'name':'eth9'}]}]}", "eth2")));
    assert_true(json_is_null(heard("{'lldp':{'interface':[7]}}", "eth2")));
    assert_true(json_is_null(heard("{'lldp':[3]}", "eth2")));
    assert_true(json_is_null(lldp_parse(NULL, "eth2")));
}

/* ---- DCB netlink */

static void modes_of_dcbx(void **state)
{
    char bytes[256];
    struct dcb dcb;
    const struct ieee_pfc pfc = {.pfc_en = 0x18};
    (void)state;
    struct nlmsghdr *m = mnl_nlmsg_put_header(bytes);
    mnl_nlmsg_put_extra_header(m, sizeof(struct dcbmsg));
    mnl_attr_put_u8(m, DCB_ATTR_DCBX, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE);
    struct nlattr *ieee = mnl_attr_nest_start(m, DCB_ATTR_IEEE);
    mnl_attr_put(m, DCB_ATTR_IEEE_PEER_PFC, sizeof pfc, &pfc);
    mnl_attr_nest_end(m, ieee);
    dcb_parse(m, &dcb);
    expect_json(dcbx_json(&dcb), "{'mode':{'host':true,'lld_managed':false,'ieee':true,'cee':false},"
                                 "'peer':{'from':'DCB netlink, ieee_peer_pfc','pfc':[3,4]}}");
    memset(&dcb, 0, sizeof dcb);
    expect_json(dcbx_json(&dcb), "{'mode':null,'peer':null}");
}

/* ---- verdicts */

static void expect(const char *facts_text, const char *check, const char *verdict, const char *says)
{
    json_t *facts = parse(facts_text), *found = NULL, *entry;
    struct checks_wanted wanted = {.buffer_bytes = 1 << 20};
    json_t *list = checks_run(facts, &wanted);
    size_t i;
    json_array_foreach(list, i, entry)
    {
        if (!found && strcmp(json_string_value(json_object_get(entry, "check")), check) == 0)
            found = entry;
    }
    const char *is = found ? json_string_value(json_object_get(found, "verdict")) : "none";
    const char *reason = found ? json_string_value(json_object_get(found, "reason")) : "";
    if (strcmp(is, verdict) != 0 || !strstr(reason, says))
        fail_msg("%s of %s is %s (%s), not %s (%s)", check, facts_text, is, reason, verdict, says);
    if (found)
        assert_true(json_is_string(json_object_get(found, "fix")) == (strcmp(verdict, "ok") != 0));
    json_decref(list);
    json_decref(facts);
}

#define NIC(...) \
    "{'nics':[{'netdev':'eth2','pci':{'address':'0000:41:00.0','id':'15b3:101d'}," __VA_ARGS__ "}]}"
#define CONTROL(word) NIC("'congestion_control':{'control':" word ",'why':'it says so'}")

static void verdicts_on_congestion_control(void **state)
{
    (void)state;
    static const char check[] = "congestion-control";
    expect(CONTROL("'dcqcn'"), check, "ok", "DCQCN (it says so)");
    expect(CONTROL("'rtt'"), check, "ok", "RTTCC");
    expect(CONTROL("'negotiated'"), check, "ok", "whose ends agree");
    expect(CONTROL("'programmable'"), check, "ok", "DOCA PCC");
    expect(CONTROL("null"), check, "unknown", "is not known: it says so");
    expect(CONTROL("5"), check, "unknown", "is not known");
    expect(NIC("'congestion_control':null"), check, "none", "");
}

#define HOST(yes)     "'dcbx':{'mode':{'host':" yes "},'peer':null}"
#define VALUE(key, n) "'" key "':{'current':" #n ",'next_boot':0}"
#define LLDP(d, r, t)                                                                 \
    "'firmware_config':{'from':'x','values':{" VALUE("LLDP_NB_DCBX_P1", d) "," VALUE( \
        "LLDP_NB_RX_MODE_P1", r) "," VALUE("LLDP_NB_TX_MODE_P1", t) "}}"

#define NO_AGENT(more) "{'lldp_agents':[],'nics':[{'netdev':'eth2'," more "}]}"

static void verdicts_on_dcbx(void **state)
{
    (void)state;
    expect(NIC(HOST("true")), "dcbx", "unknown", "whether an agent on it negotiates was not read");
    expect(NO_AGENT(HOST("true")), "dcbx", "ok", "no agent on it negotiates");
    expect(NO_AGENT(HOST("true") "," LLDP(1, 2, 2)), "dcbx", "ok", "settings stay");
    expect(NIC(HOST("false") "," LLDP(1, 2, 2)), "dcbx", "warning", "its firmware negotiates DCBX");
    expect(NIC(HOST("false") "," LLDP(0, 2, 2)), "dcbx", "ok", "does not negotiate");
    expect(NIC(HOST("false") "," LLDP(1, 0, 2)), "dcbx", "ok", "does not negotiate");
    expect(NIC(HOST("false")), "dcbx", "warning", "is not known");
    expect(NIC("'dcbx':{'mode':null}," LLDP(1, 2, 2)), "dcbx", "warning", "its firmware negotiates DCBX");
    expect(NO_AGENT("'dcbx':{'mode':null}," LLDP(0, 0, 0)), "dcbx", "ok", "settings stay");
    expect(NIC("'dcbx':{'mode':null},'firmware_config':{'missing':'no tool'}"), "dcbx", "unknown",
           "is not known");
    expect(NIC("'dcbx':{'mode':null},'firmware_config':null"), "dcbx", "none", "");
    expect("{'lldp_agents':['lldpad'],'nics':[{'netdev':'eth2'," HOST("true") "}]}", "dcbx", "warning",
           "lldpad runs");
    expect("{'lldp_agents':['lldpd',5],'nics':[{'netdev':'eth2'," HOST("true") "}]}", "dcbx", "ok",
           "settings stay");
}

#define HEARD(pfc, apps) "'lldp':{'name':'leaf','port':'E8','pfc':" pfc ",'apps':" apps "}"

static void verdicts_on_the_other_end(void **state)
{
    (void)state;
    expect(NIC(HEARD("[3]", "null") ",'settings':{'pfc':[3]}"), "lldp", "ok",
           "(leaf E8) has PFC on the same priorities: 3");
    expect(NIC(HEARD("[3]", "null") ",'settings':{'pfc':[]}"), "lldp", "warning",
           "on priorities: 3; this NIC: none");
    expect(NIC(HEARD("[3]", "null")), "lldp", "unknown", "this NIC's were not read");
    expect(NIC(HEARD("null", "null")), "lldp", "unknown", "sends LLDP, but not what PFC it has");
    expect(NIC("'dcbx':{'peer':{'pfc':[4]}},'settings':{'pfc':[3]}"), "lldp", "warning", "on priorities: 4");
    expect(NIC("'rdma':{},'lldp':null"), "lldp", "unknown", "no LLDP of the other end was seen");
    expect(NIC("'rdma':{},'lldp':null," LLDP(0, 2, 0)), "lldp", "unknown", "keeps LLDP frames for itself");
    expect(NIC("'lldp':null"), "lldp", "none", "");
    expect(NIC(HEARD("'x'",
                     "[{'priority':4,'selector':5,'protocol':26}]") ",'settings':{'dscp_to_prio':{'26':3}}"),
           "lldp", "unknown", "not what PFC");
}

static void verdicts_on_containers(void **state)
{
    (void)state;
    expect("{'nics':[{'rdma':{'device':'mlx5_0','counters':true}}]}", "counters", "ok", "shown");
    expect("{'nics':[{'rdma':{'device':'mlx5_0','counters':false}}],'namespaces':{'container':'docker'}}",
           "counters", "warning", "not shown here (docker)");
    expect("{'elsewhere':[{'rdma':'mlx5_0','netdev':'eth2','counters':false}]}", "counters", "warning",
           "(a network namespace of its own): the device is shared with the host's network namespace, which "
           "has its "
           "interface eth2");
    expect("{'elsewhere':[{'rdma':'mlx5_2','netdev':'eth5','counters':true}]}", "counters", "unknown",
           "eth5 belongs to another network namespace");
    expect("{'elsewhere':[{'rdma':null,'pci':'0000:41:00.1'}]}", "counters", "unknown",
           "its interface belongs to another");
    expect("{'nics':[{'rdma':{'device':'rxe0'}}],'elsewhere':[]}", "counters", "none", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_settings),     cmocka_unit_test(settings_of_ports),
        cmocka_unit_test(fields_of_a_register),   cmocka_unit_test(what_a_switch_says),
        cmocka_unit_test(modes_of_dcbx),          cmocka_unit_test(verdicts_on_congestion_control),
        cmocka_unit_test(verdicts_on_dcbx),       cmocka_unit_test(verdicts_on_the_other_end),
        cmocka_unit_test(verdicts_on_containers),
    };
    return cmocka_run_group_tests_name("facts of NICs", tests, NULL, NULL);
}
