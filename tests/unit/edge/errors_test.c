#include "errors.h"

#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char text[8192];

static cJSON *error_of(int http_status, const struct status *st, const void *details, size_t size)
{
    struct buffer out;
    struct json_writer writer;
    struct status why = {0};
    buffer_init(&out, sizeof text - 1);
    json_writer_init(&writer, &out);
    edge_error_write(&writer, NULL, http_status, st, details, size);
    strcpy(text, buffer_text(&out));
    buffer_fini(&out);
    cJSON *root = json_parse(text, strlen(text), NULL, &why);
    assert_non_null(root);
    return root;
}

/* google/rpc/code.proto */
static void every_code_has_its_http_twin(void **state)
{
    static const int twins[STATUS_CODES_COUNT] = {
        [OK] = 200,
        [CANCELLED] = 499,
        [UNKNOWN] = 500,
        [INVALID_ARGUMENT] = 400,
        [DEADLINE_EXCEEDED] = 504,
        [NOT_FOUND] = 404,
        [ALREADY_EXISTS] = 409,
        [PERMISSION_DENIED] = 403,
        [RESOURCE_EXHAUSTED] = 429,
        [FAILED_PRECONDITION] = 400,
        [ABORTED] = 409,
        [OUT_OF_RANGE] = 400,
        [UNIMPLEMENTED] = 501,
        [INTERNAL] = 500,
        [UNAVAILABLE] = 503,
        [DATA_LOSS] = 500,
        [UNAUTHENTICATED] = 401,
    };
    for (int code = OK; code < STATUS_CODES_COUNT; code++) {
        struct status st = {.code = (enum status_code)code, .text = "why \"so\""};
        assert_int_equal(edge_http_status(st.code), twins[code]);
        cJSON *root = error_of(0, &st, NULL, 0);
        assert_int_equal(cJSON_GetObjectItem(root, "code")->valueint, twins[code]);
        assert_string_equal(cJSON_GetObjectItem(root, "status")->valuestring, status_code_name(code));
        assert_string_equal(cJSON_GetObjectItem(root, "message")->valuestring, "why \"so\"");
        assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "details")), 0);
        cJSON_Delete(root);
    }
}

static void the_field_and_the_hint_are_details(void **state)
{
    struct status st = {0};
    fail_field(&st, "options.request_id", "is too long");
    st.retry_after_ms = 1500;
    cJSON *root = error_of(0, &st, NULL, 0);
    cJSON_Delete(root);
    assert_non_null(strstr(text, "\"@type\":\"type.googleapis.com/google.rpc.BadRequest\",\"fieldViolations\":"
                                 "[{\"field\":\"options.requestId\",\"description\":\"is too long\"}]"));
    assert_non_null(strstr(text, "\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":"
                                 "\"1.500000000s\""));
}

/* google.rpc.Status {5, "gone", [ErrorInfo {reason "RUN_GONE"}, an unknown type]}, packed by hand. */
static void details_of_a_service_are_told(void **state)
{
    static const char packed[] = "\x08\x05\x12\x04gone"
                                 "\x1a\x38\x0a\x2a"
                                 "type.googleapis.com/google.rpc.ErrorInfo.."
                                 "\x12\x0a\x0a\x08RUN_GONE"
                                 "\x1a\x0b\x0a\x05x.y/Z\x12\x02\x01\x02";
    struct status st = {.code = NOT_FOUND, .text = "gone"};
    cJSON *root = error_of(0, &st, packed, sizeof packed - 1);
    cJSON *details = cJSON_GetObjectItem(root, "details");
    assert_int_equal(cJSON_GetArraySize(details), 2);
    assert_string_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(details, 1), "value")->valuestring, "AQI=");
    cJSON_Delete(root);
}

static void details_that_are_garbage_are_left_out(void **state)
{
    struct status st = {.code = ABORTED, .text = "x"};
    cJSON *root = error_of(0, &st, "\xff\xff\xff", 3);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "details")), 0);
    cJSON_Delete(root);
}

static void an_http_status_of_its_own_keeps_its_number(void **state)
{
    struct status st = {.code = edge_code_of_http(415), .text = "x"};
    cJSON *root = error_of(415, &st, NULL, 0);
    assert_int_equal(cJSON_GetObjectItem(root, "code")->valueint, 415);
    assert_string_equal(cJSON_GetObjectItem(root, "status")->valuestring, "INVALID_ARGUMENT");
    cJSON_Delete(root);
    assert_int_equal(edge_code_of_http(405), UNIMPLEMENTED);
    assert_int_equal(edge_code_of_http(503), UNAVAILABLE);
    assert_int_equal(edge_code_of_http(500), INTERNAL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_its_http_twin),
        cmocka_unit_test(the_field_and_the_hint_are_details),
        cmocka_unit_test(details_of_a_service_are_told),
        cmocka_unit_test(details_that_are_garbage_are_left_out),
        cmocka_unit_test(an_http_status_of_its_own_keeps_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
