#include "http/address_text.h"
#include "http/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

static void parse(const char *host, struct sockaddr_storage *address)
{
    socklen_t size;
    struct status st = {0};
    char text[80];
    snprintf(text, sizeof text, strchr(host, ':') ? "[%s]:80" : "%s:80", host);
    if (!address_parse(text, address, &size, &st))
        fail_msg("%s", st.text);
}

static bool is_public(const char *host)
{
    struct sockaddr_storage address;
    parse(host, &address);
    return http_address_is_public((struct sockaddr *)&address);
}

static void public_addresses_are_public(void **state)
{
    static const char *const hosts[] = {"1.1.1.1",       "8.8.8.8",        "9.255.255.255",    "11.0.0.0",
                                        "100.63.255.1",  "100.128.0.1",    "172.15.255.255",   "172.32.0.0",
                                        "192.167.0.1",   "198.17.0.1",     "223.255.255.1",    "2606:4700::1111",
                                        "2a00:1450::1",  "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "168.63.129.15",
                                        "168.63.129.17", "2001:200::1",    "2620:4f:8000::1"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (!is_public(hosts[i]))
            fail_msg("%s is public", hosts[i]);
}

static void special_addresses_are_not(void **state)
{
    static const char *const hosts[] = {"0.0.0.0",
                                        "0.1.2.3",
                                        "10.0.0.1",
                                        "10.255.255.255",
                                        "100.64.0.1",
                                        "100.127.0.1",
                                        "127.0.0.1",
                                        "127.255.255.255",
                                        "169.254.169.254",
                                        "172.16.0.1",
                                        "172.31.0.1",
                                        "192.0.0.1",
                                        "192.0.2.1",
                                        "192.168.0.1",
                                        "198.18.0.1",
                                        "198.19.0.1",
                                        "198.51.100.1",
                                        "203.0.113.1",
                                        "224.0.0.1",
                                        "240.0.0.1",
                                        "::",
                                        "255.255.255.255",
                                        "::1",
                                        "fe80::1",
                                        "fc00::1",
                                        "fd00:ec2::254",
                                        "ff02::1",
                                        "2001:db8::1",
                                        "2001::1",
                                        "2002:7f00:1::",
                                        "2002:a00:1::",
                                        "::ffff:127.0.0.1",
                                        "::ffff:10.0.0.1",
                                        "::ffff:169.254.169.254",
                                        "64:ff9b::10.0.0.1",
                                        "::127.0.0.1",
                                        "64:ff9b:1::1",
                                        "3fff::1",
                                        "168.63.129.16", /* Azure's wire server, in the middle of public addresses */
                                        "::ffff:168.63.129.16",
                                        "64:ff9b::168.63.129.16",
                                        "2002:a83f:8110::1",
                                        "100.100.100.200",
                                        "161.26.0.10", /* IBM Cloud's and Google Cloud's own services */
                                        "166.9.12.1",
                                        "199.36.153.4",
                                        "199.36.153.11",
                                        "::ffff:0:8.8.8.8",
                                        "192.0.0.192",
                                        "192.88.99.1",
                                        "239.1.2.3",
                                        "100::1",
                                        "2001:1ff::1",
                                        "3ffe::1",
                                        "5f00::1",
                                        "fec0::1",
                                        "fd20:ce::254",
                                        "fd00:c1::a9fe:a9fe"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (is_public(hosts[i]))
            fail_msg("%s is not public", hosts[i]);
}

static void addresses_read_back_as_they_are_printed(void **state)
{
    static const char *const texts[] = {"10.0.0.7:80", "[2001:db8::1]:443", "0.0.0.0:0", "[::]:65535"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sockaddr_storage address;
        socklen_t size;
        struct status st = {0};
        char text[ADDRESS_TEXT_MAX];
        assert_true(address_parse(texts[i], &address, &size, &st));
        address_print((struct sockaddr *)&address, text);
        assert_string_equal(text, texts[i]);
    }
}

static void what_is_no_address_is_refused(void **state)
{
    static const char *const texts[] = {
        "",           ":",          ":80",          "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536",
        "1.2.3.4:-1", "1.2.3.4:8x", "localhost:80", "::1:80",  "[::1]",    "[1.2.3.4]:80",
        "[]:80"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sockaddr_storage address;
        socklen_t size;
        struct status st = {0};
        if (address_parse(texts[i], &address, &size, &st))
            fail_msg("'%s' was taken", texts[i]);
        assert_int_equal(st.code, INVALID_ARGUMENT);
    }
}

static void addresses_of_the_link_are_not_routed(void **state)
{
    static const struct {
        const char *host;
        bool routed;
    } cases[] = {
        {"127.0.0.1", true},
        {"10.0.0.1", true},
        {"::1", true},
        {"1.1.1.1", true},
        {"169.254.169.254", false},
        {"169.255.0.1", true},
        {"fe80::1", false},
        {"febf::1", false},
        {"::ffff:169.254.1.1", false},
        {"fd00:ec2::254", false},
        {"fd00::1", true},
        {"64:ff9b::169.254.1.1", false},
        {"64:ff9b::10.0.0.1", true},
        {"64:ff9b:1::169.254.169.254", false},
        {"64:ff9b:1:a9fe:a9:fe00::", false},
        {"::169.254.169.254", false},
        {"2002:a9fe:a9fe::1", false},
        {"2002:a00:1::1", true},
        {"2001:0:a9fe:a9fe::1", false},
        {"168.63.129.16", false},
        {"::ffff:168.63.129.16", false},
        {"2002:a83f:8110::1", false},
        {"168.63.129.17", true},
        {"100.100.100.200", false},
        {"100.100.100.201", true},
        {"192.0.0.192", false},
        {"192.0.0.8", true},
        {"fd20:ce::254", false},
        {"fd00:c1::a9fe:a9fe", false},
        {"fd00:42::42", false},
        {"fd00:42::43", true},
        {"fd00:a9fe:a9fe::1", false},
        {"fd00:a9fe:a9ff::1", true},
        {"::ffff:0:169.254.169.254", false},
        {"161.26.0.10", true},
        {"199.36.153.8", true},
        {"2001:0:4136:e378:8000:63bf:5601:5601", false},
        {"2001:0:4136:e378:8000:63bf:3fff:fdd2", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sockaddr_storage address;
        parse(cases[i].host, &address);
        if (http_address_is_routed((struct sockaddr *)&address) != cases[i].routed)
            fail_msg("%s", cases[i].host);
    }
}

static void a_link_leads_from_where_it_stands(void **state)
{
    static const struct {
        const char *from, *link, *to;
    } cases[] = {
        {NULL, "https://a.example/x y?q=日#part", "https://a.example/x%20y?q=%e6%97%a5"},
        {NULL, "http://u:p@a.example:80/", "http://a.example/"},
        {"https://a.example/b/c?d", "e", "https://a.example/b/e"},
        {"https://a.example/b/c?d", "/e?f", "https://a.example/e?f"},
        {"https://a.example/b/c?d", "//b.example:8443/e", "https://b.example:8443/e"},
        {"https://a.example/b/c?d", "../../e", "https://a.example/e"},
        {"https://a.example/b", "file:///etc/passwd", NULL},
        {NULL, "/e", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct status st = {0};
        struct http_url *from = cases[i].from ? http_url_parse(cases[i].from, &st) : NULL;
        struct http_url *to = http_url_follow(from, cases[i].link, &st);
        char *text = to ? http_url_text(to) : NULL;
        if (!cases[i].to != !text || (text && strcasecmp(text, cases[i].to) != 0))
            fail_msg("%s leads to %s", cases[i].link, text ? text : st.text);
        free(text);
        http_url_destroy(&to);
        http_url_destroy(&from);
    }
}

static void a_url_says_its_port_and_whether_it_has_a_user(void **state)
{
    struct status st = {0};
    static const char *const texts[] = {"https://a.example/", "http://a.example/", "http://u@a.example:8080/"};
    static const unsigned ports[] = {443, 80, 8080};
    for (size_t i = 0; i < 3; i++) {
        struct http_url *url = http_url_parse(texts[i], &st);
        assert_int_equal(http_url_port(url), ports[i]);
        assert_int_equal(http_url_has_user(url), i == 2);
        http_url_destroy(&url);
    }
}

static void hosts_of_all_scripts_are_as_the_dns_has_them(void **state)
{
    static const struct {
        const char *url, *host;
    } cases[] = {
        {"http://例え.テスト/", "xn--r8jz45g.xn--zckzah"},
        {"http://BÜCHER.example:8080/a", "xn--bcher-kva.example"},
        {"http://straße.example/", "xn--strae-oqa.example"},
        {"http://%e4%be%8b%e3%81%88.jp/", "xn--r8jz45g.jp"},
        {"http://xn--r8jz45g.jp/", "xn--r8jz45g.jp"},
        {"http://１６８.６３.１２９.１６/", "168.63.129.16"}, /* wide digits are digits */
        {"http://例え。jp/", "xn--r8jz45g.jp"},               /* and that is a dot */
        {"http://[::1]:80/", "::1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct status st = {0};
        struct http_url *url = http_url_follow(NULL, cases[i].url, &st);
        if (!url)
            fail_msg("%s: %s", cases[i].url, st.text);
        assert_string_equal(http_url_host(url), cases[i].host);
        http_url_destroy(&url);
    }
}

static void hosts_that_are_no_names_are_refused_in_words(void **state)
{
    static const char *const urls[] = {"http://a\xe2\x80\x8d.example/", "http://\xff\xfe.example/",
                                       "http://a\xef\xbf\xbd.example/"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct status st = {0};
        struct http_url *url = http_url_follow(NULL, urls[i], &st);
        if (url)
            fail_msg("%s is %s", urls[i], http_url_host(url));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_non_null(strstr(st.text, "host"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_addresses_are_public),
        cmocka_unit_test(special_addresses_are_not),
        cmocka_unit_test(addresses_of_the_link_are_not_routed),
        cmocka_unit_test(a_link_leads_from_where_it_stands),
        cmocka_unit_test(hosts_of_all_scripts_are_as_the_dns_has_them),
        cmocka_unit_test(hosts_that_are_no_names_are_refused_in_words),
        cmocka_unit_test(a_url_says_its_port_and_whether_it_has_a_user),
        cmocka_unit_test(addresses_read_back_as_they_are_printed),
        cmocka_unit_test(what_is_no_address_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
