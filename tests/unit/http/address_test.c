#include "http/address_text.h"
#include "http/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool is_public(const char *host)
{
    struct sockaddr_storage address;
    socklen_t size;
    struct status st = {0};
    char text[80];
    snprintf(text, sizeof text, strchr(host, ':') ? "[%s]:80" : "%s:80", host);
    if (!address_parse(text, &address, &size, &st))
        fail_msg("%s", st.text);
    return http_address_is_public((struct sockaddr *)&address);
}

static void public_addresses_are_public(void **state)
{
    static const char *const hosts[] = {"1.1.1.1",      "8.8.8.8",        "9.255.255.255",   "11.0.0.0",
                                        "100.63.255.1", "100.128.0.1",    "172.15.255.255",  "172.32.0.0",
                                        "192.167.0.1",  "198.17.0.1",     "223.255.255.1",   "2606:4700::1111",
                                        "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"};
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
                                        "3fff::1"};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_addresses_are_public),
        cmocka_unit_test(special_addresses_are_not),
        cmocka_unit_test(addresses_read_back_as_they_are_printed),
        cmocka_unit_test(what_is_no_address_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
