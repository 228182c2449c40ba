/* TLS by real handshakes, with certificates that the openssl command line makes in a directory of the test's own:
 * authorities `ca` and `other`; `server`, `renewed`, `client`, `client2` signed by ca, `stranger` signed by other. */
#include "rpc/credentials.h"

#include "rpc/tls_files.h"

#include "core_peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define CONNECTS_MS 20000 /* a handshake takes some 5 ms, where others do not have the cores */
#define CALL_MS     20000
#define REFUSED_MS  700
#define RELOAD_MS   2500 /* a channel takes a changed file within 1.25 s */

static char directory[] = "/tmp/renga-tls-XXXXXX";
static struct status st;

static const char script[] =
    "set -e; cd %s; exec 2>/dev/null\n"
    "ca() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $1.key -out $1.crt"
    " -days 2 -subj /CN=$1; }\n"
    "leaf() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $1.key -out $1.csr"
    " -subj /CN=$1; echo subjectAltName=DNS:$3,IP:127.0.0.1 > $1.ext;"
    " openssl x509 -req -in $1.csr -CA $2.crt -CAkey $2.key -CAcreateserial -days ${4-2} -extfile $1.ext -out $1.crt; "
    "}\n"
    "ca ca; ca other; leaf server ca server.test; leaf renewed other server.test; leaf client ca client.test;"
    " leaf stranger other client.test; cat ca.crt other.crt > both.crt\n"
    "openssl ec -in client.key -aes128 -passout pass:secret -out locked.key\n";

static int certificates_make(void **state)
{
    char command[sizeof script + sizeof directory];
    assert_non_null(mkdtemp(directory));
    snprintf(command, sizeof command, script, directory);
    grpc_init();
    return system(command);
}

static int certificates_remove(void **state)
{
    char command[64];
    grpc_shutdown_blocking();
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

/* The path of a file of the directory, in one of a few buffers. */
static const char *path(const char *name)
{
    static char paths[16][64];
    static unsigned next;
    char *place = paths[next++ % 16];
    snprintf(place, sizeof paths[0], "%s/%s", directory, name);
    return place;
}

static void copy(const char *from, const char *to)
{
    char command[256];
    snprintf(command, sizeof command, "cp %s %s.new && mv %s.new %s", path(from), path(to), path(to), path(to));
    assert_int_equal(system(command), 0);
}

static struct rpc_tls tls(const char *certificate, const char *key, const char *authorities, bool client_certificate)
{
    return (struct rpc_tls){certificate ? path(certificate) : NULL, key ? path(key) : NULL,
                            authorities ? path(authorities) : NULL, client_certificate};
}

static void peer_start(struct core_peer *peer, struct rpc_tls files, int port)
{
    grpc_server_credentials *credentials = rpc_tls_server_credentials(&files, &st);
    assert_non_null(credentials);
    assert_true(core_peer_start(peer, credentials, port));
}

static grpc_arg number(const char *key, int value)
{
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value.integer = value};
}

static grpc_channel *channel_with(grpc_channel_credentials *credentials, int port, const char *name)
{
    char target[32];
    grpc_arg list[] = {
        number(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
        number(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
        number(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100),
        number(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100),
        number(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100),
        {.type = GRPC_ARG_STRING, .key = (char[]){GRPC_SSL_TARGET_NAME_OVERRIDE_ARG}, .value.string = strdup(name)},
    };
    grpc_channel_args arguments = {.num_args = sizeof list / sizeof list[0], .args = list};
    snprintf(target, sizeof target, "ipv4:127.0.0.1:%d", port);
    grpc_channel *channel = grpc_channel_create(target, credentials, &arguments);
    free(list[5].value.string);
    return channel;
}

static grpc_channel *channel_to(const struct core_peer *peer, struct rpc_tls files, const char *name)
{
    grpc_channel_credentials *credentials = rpc_tls_channel_credentials(&files, &st);
    assert_non_null(credentials);
    grpc_channel *channel = channel_with(credentials, peer->port, name);
    grpc_channel_credentials_release(credentials);
    return channel;
}

static bool connects(const struct core_peer *peer, struct rpc_tls files, const char *name, int timeout_ms)
{
    grpc_channel *channel = channel_to(peer, files, name);
    bool connected = core_connects(channel, timeout_ms);
    if (connected)
        assert_int_equal(core_call(channel, "/a.B/C", CALL_MS), GRPC_STATUS_OK);
    grpc_channel_destroy(channel);
    return connected;
}

/* The peer goes and comes back on its port, so that channels have to shake hands again. */
static void peer_restart(struct core_peer *peer, struct rpc_tls files)
{
    core_peer_stop(peer);
    peer_start(peer, files, peer->port);
}

static unsigned descriptors(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 256; fd++) {
        struct stat about;
        char link[64] = "", name[32];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        count +=
            fstat(fd, &about) == 0 && readlink(name, link, sizeof link - 1) > 0 && strstr(link, "renga-tls") != NULL;
    }
    return count;
}

/* gRPC's threads close them a little later. */
static void await_closed_descriptors(void)
{
    for (int waited = 0; waited < 20000 && descriptors() > 0; waited += 10)
        usleep(10000);
    assert_int_equal(descriptors(), 0);
}

/* ---- Checking files --------------------------------------------------------------------------------------------- */

static void assert_wrong(struct rpc_tls files, const char *expected)
{
    status_clear(&st);
    assert_false(rpc_tls_check(&files, &st));
    assert_true(st.code != OK);
    if (!strstr(st.text, expected))
        fail_msg("'%s' says nothing of '%s'", st.text, expected);
}

static void files_that_hold_together_pass(void **state)
{
    struct rpc_tls server = tls("server.crt", "server.key", "ca.crt", true),
                   client = tls(NULL, NULL, "both.crt", false);
    struct rpc_tls nothing = {0};
    assert_true(rpc_tls_check(&server, &st));
    assert_true(rpc_tls_check(&client, &st));
    assert_true(rpc_tls_check(&nothing, &st));
}

static void what_is_wrong_with_files_is_said_with_their_path(void **state)
{
    assert_wrong(tls("missing.crt", "server.key", NULL, false), path("missing.crt"));
    assert_wrong(tls("server.crt", "client.key", NULL, false), "is not that of the first certificate");
    assert_wrong(tls("server.key", "server.key", NULL, false), "holds no certificate");
    assert_wrong(tls("server.crt", "server.crt", NULL, false), "holds no private key");
    assert_wrong(tls("client.crt", "locked.key", NULL, false), "without pass phrase");
    assert_wrong(tls("server.crt", "server.key", "server.key", false), path("server.key"));
    assert_wrong(tls("server.crt", NULL, NULL, false), "give both");
    assert_wrong(tls("server.crt", "server.key", NULL, true), "give the authorities");
    copy("both.crt", "cut.crt");
    assert_int_equal(truncate(path("cut.crt"), 900), 0);
    assert_wrong(tls(NULL, NULL, "cut.crt", false), "cut short");
}

static void a_server_without_certificate_is_refused(void **state)
{
    struct rpc_tls files = tls(NULL, NULL, "ca.crt", false);
    assert_null(rpc_tls_server_credentials(&files, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    files = tls("missing.crt", "missing.key", NULL, false);
    assert_null(rpc_tls_server_credentials(&files, &st));
    assert_null(rpc_tls_channel_credentials(&files, &st));
}

static void half_written_files_are_not_taken_and_whole_ones_are(void **state)
{
    copy("server.crt", "f.crt");
    copy("server.key", "f.key");
    struct rpc_tls paths = tls("f.crt", "f.key", NULL, false);
    struct rpc_tls_files *files = rpc_tls_files_open(&paths, &st);
    assert_non_null(files);
    assert_false(rpc_tls_files_refresh(files));
    assert_int_equal(truncate(path("f.key"), 50), 0);
    assert_false(rpc_tls_files_refresh(files));
    copy("renewed.key", "f.key"); /* of a certificate that is not there yet */
    assert_false(rpc_tls_files_refresh(files));
    assert_int_equal(unlink(path("f.crt")), 0);
    assert_false(rpc_tls_files_refresh(files));
    copy("renewed.crt", "f.crt");
    assert_true(rpc_tls_files_refresh(files));
    assert_false(rpc_tls_files_refresh(files));
    rpc_tls_files_close(&files);
}

/* ---- Handshakes ------------------------------------------------------------------------------------------------- */

static void a_client_trusts_who_its_authorities_signed(void **state)
{
    struct core_peer peer = {0};
    peer_start(&peer, tls("server.crt", "server.key", NULL, false), 0);
    assert_true(connects(&peer, tls(NULL, NULL, "ca.crt", false), "server.test", CONNECTS_MS));
    assert_true(connects(&peer, tls(NULL, NULL, "both.crt", false), "server.test", CONNECTS_MS));
    assert_false(connects(&peer, tls(NULL, NULL, "other.crt", false), "server.test", REFUSED_MS));
    core_peer_stop(&peer);
}

static void a_client_without_authorities_trusts_the_systems(void **state)
{
    struct core_peer peer = {0};
    peer_start(&peer, tls("server.crt", "server.key", NULL, false), 0);
    setenv("SSL_CERT_FILE", path("both.crt"), 1);
    assert_true(connects(&peer, tls(NULL, NULL, NULL, false), "server.test", CONNECTS_MS));
    setenv("SSL_CERT_FILE", path("other.crt"), 1);
    assert_false(connects(&peer, tls(NULL, NULL, NULL, false), "server.test", REFUSED_MS));
    unsetenv("SSL_CERT_FILE");
    core_peer_stop(&peer);
}

static void a_peer_of_another_name_is_refused(void **state)
{
    struct core_peer peer = {0};
    peer_start(&peer, tls("server.crt", "server.key", NULL, false), 0);
    assert_false(connects(&peer, tls(NULL, NULL, "ca.crt", false), "wrong.test", REFUSED_MS));
    assert_true(connects(&peer, tls(NULL, NULL, "ca.crt", false), "127.0.0.1", CONNECTS_MS));
    core_peer_stop(&peer);
}

static void a_client_without_the_right_certificate_is_refused(void **state)
{
    struct core_peer peer = {0};
    peer_start(&peer, tls("server.crt", "server.key", "ca.crt", true), 0);
    assert_true(connects(&peer, tls("client.crt", "client.key", "ca.crt", false), "server.test", CONNECTS_MS));
    grpc_channel *none = channel_to(&peer, tls(NULL, NULL, "ca.crt", false), "server.test");
    grpc_channel *stranger = channel_to(&peer, tls("stranger.crt", "stranger.key", "ca.crt", false), "server.test");
    /* With TLS 1.3 a client learns of it after its own handshake: only a call tells. */
    assert_int_equal(core_call(none, "/a.B/C", CALL_MS), GRPC_STATUS_UNAVAILABLE);
    assert_int_equal(core_call(stranger, "/a.B/C", CALL_MS), GRPC_STATUS_UNAVAILABLE);
    assert_int_equal(peer.calls, 1);
    grpc_channel_destroy(none);
    grpc_channel_destroy(stranger);
    core_peer_stop(&peer);
}

static int handshake(const struct core_peer *peer, const char *options)
{
    char command[256];
    snprintf(command, sizeof command,
             "openssl s_client -connect 127.0.0.1:%d %s </dev/null 2>&1 | grep -q 'ALPN protocol: h2'", peer->port,
             options);
    return system(command);
}

static void tls_below_1_2_is_refused_and_h2_agreed_upon(void **state)
{
    struct core_peer peer = {0};
    peer_start(&peer, tls("server.crt", "server.key", NULL, false), 0);
    assert_int_equal(handshake(&peer, "-alpn h2 -tls1_3"), 0);
    assert_int_equal(handshake(&peer, "-alpn h2 -tls1_2"), 0);
    assert_int_not_equal(handshake(&peer, "-alpn h2 -tls1_1 -cipher ALL:@SECLEVEL=0"), 0);
    assert_int_not_equal(handshake(&peer, "-alpn h2 -tls1 -cipher ALL:@SECLEVEL=0"), 0);
    core_peer_stop(&peer);
}

/* ---- Changing files --------------------------------------------------------------------------------------------- */

static void a_server_uses_a_changed_certificate_at_the_next_handshake(void **state)
{
    struct core_peer peer = {0};
    copy("server.crt", "s.crt");
    copy("server.key", "s.key");
    peer_start(&peer, tls("s.crt", "s.key", NULL, false), 0);
    grpc_channel *early = channel_to(&peer, tls(NULL, NULL, "ca.crt", false), "server.test");
    assert_true(core_connects(early, CONNECTS_MS));

    assert_int_equal(truncate(path("s.key"), 50), 0);
    assert_true(connects(&peer, tls(NULL, NULL, "ca.crt", false), "server.test", CONNECTS_MS));
    copy("renewed.crt", "s.crt");
    assert_true(connects(&peer, tls(NULL, NULL, "ca.crt", false), "server.test", CONNECTS_MS));
    copy("renewed.key", "s.key");
    assert_true(connects(&peer, tls(NULL, NULL, "other.crt", false), "server.test", CONNECTS_MS));
    assert_false(connects(&peer, tls(NULL, NULL, "ca.crt", false), "server.test", REFUSED_MS));

    assert_int_equal(core_call(early, "/a.B/C", CALL_MS), GRPC_STATUS_OK); /* open connections stay */
    grpc_channel_destroy(early);
    core_peer_stop(&peer);
}

static void a_server_trusts_changed_authorities_at_the_next_handshake(void **state)
{
    struct core_peer peer = {0};
    copy("ca.crt", "sa.crt");
    peer_start(&peer, tls("server.crt", "server.key", "sa.crt", true), 0);
    grpc_channel *stranger = channel_to(&peer, tls("stranger.crt", "stranger.key", "ca.crt", false), "server.test");
    assert_int_equal(core_call(stranger, "/a.B/C", CALL_MS), GRPC_STATUS_UNAVAILABLE);
    grpc_channel_destroy(stranger);
    copy("other.crt", "sa.crt");
    assert_true(connects(&peer, tls("stranger.crt", "stranger.key", "ca.crt", false), "server.test", CONNECTS_MS));
    core_peer_stop(&peer);
}

/* The channel may have to hear first that its peer went. */
static bool answers_again(grpc_channel *channel)
{
    for (int i = 0; i < 20; i++)
        if (core_connects(channel, CONNECTS_MS) && core_call(channel, "/a.B/C", CALL_MS) == GRPC_STATUS_OK)
            return true;
    return false;
}

static void a_channel_uses_a_changed_certificate_and_never_a_broken_one(void **state)
{
    struct core_peer peer = {0};
    struct rpc_tls trusting_ca = tls("server.crt", "server.key", "ca.crt", true);
    copy("client.crt", "c.crt");
    copy("client.key", "c.key");
    peer_start(&peer, trusting_ca, 0);
    grpc_channel *channel = channel_to(&peer, tls("c.crt", "c.key", "ca.crt", false), "server.test");
    assert_true(core_connects(channel, CONNECTS_MS));
    assert_int_equal(core_call(channel, "/a.B/C", CALL_MS), GRPC_STATUS_OK);

    assert_int_equal(truncate(path("c.key"), 50), 0);
    usleep(RELOAD_MS * 1000);
    peer_restart(&peer, trusting_ca);
    assert_true(answers_again(channel));

    assert_int_equal(unlink(path("c.key")), 0);
    usleep(RELOAD_MS * 1000);
    peer_restart(&peer, trusting_ca);
    assert_true(answers_again(channel));

    copy("stranger.crt", "c.crt");
    copy("stranger.key", "c.key");
    usleep(RELOAD_MS * 1000);
    peer_restart(&peer, tls("server.crt", "server.key", "other.crt", true));
    assert_true(answers_again(channel));
    grpc_channel_destroy(channel);
    core_peer_stop(&peer);
}

static void a_channel_trusts_changed_authorities(void **state)
{
    struct core_peer peer = {0};
    copy("ca.crt", "ca2.crt");
    peer_start(&peer, tls("renewed.crt", "renewed.key", NULL, false), 0); /* signed by other */
    grpc_channel *channel = channel_to(&peer, tls(NULL, NULL, "ca2.crt", false), "server.test");
    assert_false(core_connects(channel, REFUSED_MS));
    copy("other.crt", "ca2.crt");
    assert_true(core_connects(channel, CONNECTS_MS));
    grpc_channel_destroy(channel);
    core_peer_stop(&peer);
}

static void credentials_that_are_let_go_leave_nothing_open(void **state)
{
    struct rpc_tls files = tls("client.crt", "client.key", "ca.crt", false);
    grpc_channel_credentials *kept[3];
    await_closed_descriptors(); /* those of the tests before */
    for (int i = 0; i < 3; i++)
        kept[i] = rpc_tls_channel_credentials(&files, &st);
    assert_int_equal(descriptors(), 6);
    for (int i = 0; i < 3; i++)
        grpc_channel_credentials_release(kept[i]);
    await_closed_descriptors();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_hold_together_pass),
        cmocka_unit_test(what_is_wrong_with_files_is_said_with_their_path),
        cmocka_unit_test(a_server_without_certificate_is_refused),
        cmocka_unit_test(half_written_files_are_not_taken_and_whole_ones_are),
        cmocka_unit_test(a_client_trusts_who_its_authorities_signed),
        cmocka_unit_test(a_client_without_authorities_trusts_the_systems),
        cmocka_unit_test(a_peer_of_another_name_is_refused),
        cmocka_unit_test(a_client_without_the_right_certificate_is_refused),
        cmocka_unit_test(tls_below_1_2_is_refused_and_h2_agreed_upon),
        cmocka_unit_test(a_server_uses_a_changed_certificate_at_the_next_handshake),
        cmocka_unit_test(a_server_trusts_changed_authorities_at_the_next_handshake),
        cmocka_unit_test(a_channel_uses_a_changed_certificate_and_never_a_broken_one),
        cmocka_unit_test(a_channel_trusts_changed_authorities),
        cmocka_unit_test(credentials_that_are_let_go_leave_nothing_open),
    };
    return cmocka_run_group_tests(tests, certificates_make, certificates_remove);
}
