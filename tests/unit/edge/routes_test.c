#include "routes.h"

#include "proto/descriptor_set.h"
#include "rpc/schema.h"
#include "transcode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;

static struct edge_match match_of(const char *target, const char *method)
{
    struct edge_path path;
    struct edge_match match;
    struct status st = {0};
    assert_true(edge_path_read(target, &arena, &path, &st));
    edge_route_match(&path, method, &match);
    return match;
}

static void assert_goes_to(const char *method, const char *target, const char *name, const char *value)
{
    struct edge_match match = match_of(target, method);
    assert_non_null(match.route);
    assert_string_equal(match.route->method, name);
    assert_int_equal(match.count, value ? 1 : 0);
    if (value)
        assert_string_equal(match.values[0], value);
}

static bool is_internal(const char *service)
{
    for (const char *const *name = edge_internal_services; *name; name++)
        if (strcmp(*name, service) == 0)
            return true;
    return false;
}

static void every_method_of_the_contract_has_one_row(void **state)
{
    struct status st = {0};
    struct rpc_schema *schema = rpc_schema_load(renga_descriptor_set, renga_descriptor_set_size, &st);
    assert_non_null(schema);
    for (size_t i = 0; i < rpc_schema_method_count(schema); i++) {
        const struct rpc_method *method = rpc_schema_method(schema, i);
        unsigned rows = 0;
        for (size_t k = 0; k < edge_route_count; k++)
            rows += strcmp(edge_routes[k].service->name, method->service) == 0 &&
                    strcmp(edge_routes[k].method, method->name) == 0;
        bool internal = strncmp(method->service, "renga.v1.", 9) != 0 || is_internal(method->service);
        if (rows != !internal)
            fail_msg("%s has %u rows", method->path, rows);
        assert_false(!internal && method->client_streams);
    }
    rpc_schema_destroy(&schema);
}

static void every_row_is_a_method_and_its_variables_are_texts_of_the_request(void **state)
{
    for (size_t i = 0; i < edge_route_count; i++) {
        const struct edge_route *route = &edge_routes[i];
        const ProtobufCMethodDescriptor *method = edge_route_method(route);
        assert_non_null(method);
        for (const char *at = route->path; (at = strchr(at, '{')); at++) {
            const ProtobufCFieldDescriptor *field = edge_route_field(method->input, at + 1);
            assert_non_null(field);
            assert_int_equal(field->type, PROTOBUF_C_TYPE_STRING);
            assert_int_equal(field->label, PROTOBUF_C_LABEL_NONE);
        }
    }
}

/* A path as the template has it, with "x" for each variable. */
static const char *example(const char *template)
{
    char *path = arena_strdup(&arena, template), *out = path;
    for (const char *at = template; *at; at++) {
        *out++ = *at == '{' ? 'x' : *at;
        at += *at == '{' ? strcspn(at, "}") : 0;
    }
    *out = '\0';
    return path;
}

static void no_two_rows_have_one_path_and_each_is_found(void **state)
{
    for (size_t i = 0; i < edge_route_count; i++) {
        struct edge_match match = match_of(example(edge_routes[i].path), edge_routes[i].verb);
        assert_ptr_equal(match.route, &edge_routes[i]);
        for (size_t k = 0; k < i; k++)
            assert_false(strcmp(example(edge_routes[i].path), example(edge_routes[k].path)) == 0 &&
                         strcmp(edge_routes[i].verb, edge_routes[k].verb) == 0);
    }
}

static void verbs_are_split_off_before_a_path_is_decoded(void **state)
{
    assert_goes_to("POST", "/v1/runs/a%3Acancel:cancel", "CancelRun", "a:cancel");
    assert_goes_to("GET", "/v1/runs/a%3Acancel", "GetRun", "a:cancel");
    assert_goes_to("GET", "/v1/runs/a%2Fb?x=%zz", "GetRun", "a/b");
    assert_goes_to("POST", "/v1/runs/a:b:cancel", "CancelRun", "a:b");
    assert_goes_to("HEAD", "/v1/runs/%E6%9C%88", "GetRun", "月");
    assert_goes_to("POST", "/v1/helpdesk:ask", "Ask", NULL);
    assert_null(match_of("/v1/runs/a:unknown", "POST").route);
    assert_null(match_of("/v1/helpdesk", "POST").route);
    assert_string_equal(match_of("/v1/helpdesk", "POST").allow, "");
}

static void a_slash_or_colon_within_a_part_is_no_border_of_the_template(void **state)
{
    assert_string_equal(match_of("/v1/runs%2F%7Brun_id%7D", "GET").allow, "");
    assert_string_equal(match_of("/v1%2Fruns", "GET").allow, "");
    assert_string_equal(match_of("/v1/helpdesk%3Aask", "POST").allow, "");
    assert_string_equal(match_of("/v1/run", "GET").allow, "");
    assert_string_equal(match_of("/v1/runsx", "GET").allow, "");
}

static void another_http_method_is_told_which_there_are(void **state)
{
    struct edge_match match = match_of("/v1/threads/t/state", "DELETE");
    assert_null(match.route);
    assert_string_equal(match.allow, "GET, HEAD, POST");
    assert_string_equal(match_of("/v1/playbooks/p", "POST").allow, "GET, HEAD, PUT, DELETE");
    assert_string_equal(match_of("/v1/nothing", "GET").allow, "");
}

static void hostile_paths_are_refused(void **state)
{
    static const char *const bad[] = {"/v1//runs",          "/v1/runs/",       "/v1/runs/..",    "/v1/runs/%2e%2E",
                                      "/v1/runs/.",         "/v1/runs/%00",    "/v1/runs/a%0ab", "/v1/runs/%ff",
                                      "/v1/runs/%ed%a0%80", "/v1/runs/%",      "/v1/runs/%4",    "/v1/runs/%zz",
                                      "/v1/runs/x:",        "/v1/runs/:cancel"};
    struct edge_path path;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct status st = {0};
        if (edge_path_read(bad[i], &arena, &path, &st))
            fail_msg("%s is read", bad[i]);
        assert_int_equal(st.code, INVALID_ARGUMENT);
    }
    struct status st = {0};
    assert_false(edge_path_read("/a/b/c/d/e/f/g/h/i/j", &arena, &path, &st));
    assert_int_equal(st.code, NOT_FOUND);
    assert_true(edge_path_read("/", &arena, &path, &st));
    assert_int_equal(path.count, 0);
    assert_true(edge_path_read("*", &arena, &path, &st));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_of_the_contract_has_one_row),
        cmocka_unit_test(every_row_is_a_method_and_its_variables_are_texts_of_the_request),
        cmocka_unit_test(no_two_rows_have_one_path_and_each_is_found),
        cmocka_unit_test(verbs_are_split_off_before_a_path_is_decoded),
        cmocka_unit_test(a_slash_or_colon_within_a_part_is_no_border_of_the_template),
        cmocka_unit_test(another_http_method_is_told_which_there_are),
        cmocka_unit_test(hostile_paths_are_refused),
    };
    arena_init(&arena, NULL, 0, 1 << 20);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
