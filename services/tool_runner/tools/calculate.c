/* Arithmetic, since models are poor at it. */
#include "formula.h"
#include "tools.h"
#include "json/writer.h"

#define RESULT_MAX ((size_t)512) /* bytes */

static void calculate_start(struct tool_run *run)
{
    double value;
    struct status st = {0};
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tool_run_arguments(run), "expression"));
    if (!formula_value(text, &value, &st)) {
        tool_fail_status(run, &st);
        return;
    }
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, RESULT_MAX);
    json_writer_init(&writer, &out);
    json_write_double(&writer, NULL, value);
    tool_write(run, buffer_text(&out), out.length);
    buffer_clear(&out);
    json_writer_init(&writer, &out);
    json_write_object(&writer, NULL);
    json_write_double(&writer, "result", value);
    json_write_end(&writer);
    tool_structured(run, buffer_text(&out), out.length);
    buffer_fini(&out);
    tool_finish(run);
}

const struct tool tool_calculate = {
    .name = "calculate",
    .description = "Works out an arithmetic expression and returns the number. Call it for any "
                   "arithmetic beyond the simplest. 数式を計算します。",
    .parameters = "{\"type\":\"object\",\"properties\":{\"expression\":{\"type\":\"string\",\"maxLength\":4096,"
                  "\"description\":\"For example (1280 * 3 + 450) * 1.1. Known are + - * / % ^, brackets, abs sqrt exp "
                  "ln log10 log2 sin cos tan floor ceil round min max, pi and e.\"}},\"required\":[\"expression\"],"
                  "\"additionalProperties\":false}",
    .idempotent = true,
    .self_contained = true,
    .timeout_ms = 5000,
    .start = calculate_start,
};
