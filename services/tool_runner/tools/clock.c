/* The current day and time: a model does not know them. */
#include "base/clock.h"

#include "tools.h"
#include "zone.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define RESULT_MAX ((size_t)1024) /* bytes */

static const char *const weekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

struct moment {
    int64_t unix_s;
    const char *zone;
    char date[16], time[16], offset[16];
    const char *weekday;
};

static bool read_moment(const char *zone, struct moment *moment, struct status *st)
{
    int32_t offset;
    struct tm parts;
    moment->unix_s = clock_wall_ns() / NS_PER_SEC;
    moment->zone = zone;
    if (!zone_offset(zone, moment->unix_s, &offset, st))
        return false;
    time_t local = (time_t)(moment->unix_s + offset);
    gmtime_r(&local, &parts);
    strftime(moment->date, sizeof moment->date, "%Y-%m-%d", &parts);
    strftime(moment->time, sizeof moment->time, "%H:%M:%S", &parts);
    int minutes = (offset < 0 ? -offset : offset) / 60;
    snprintf(moment->offset, sizeof moment->offset, "%c%02d:%02d", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
    moment->weekday = weekdays[parts.tm_wday % 7];
    return true;
}

static void clock_start(struct tool_run *run)
{
    struct moment moment;
    struct status st = {0};
    const char *zone = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tool_run_arguments(run), "time_zone"));
    if (!read_moment(zone ? zone : "UTC", &moment, &st)) {
        tool_fail_status(run, &st);
        return;
    }
    tool_print(run, "%s, %s %s (UTC%s, %s)", moment.weekday, moment.date, moment.time, moment.offset, moment.zone);
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, RESULT_MAX);
    json_writer_init(&writer, &out);
    json_write_object(&writer, NULL);
    json_write_string(&writer, "date", moment.date);
    json_write_string(&writer, "time", moment.time);
    json_write_string(&writer, "weekday", moment.weekday);
    json_write_string(&writer, "utc_offset", moment.offset);
    json_write_string(&writer, "time_zone", moment.zone);
    json_write_int(&writer, "unix_time", moment.unix_s);
    json_write_end(&writer);
    tool_structured(run, buffer_text(&out), out.length);
    buffer_fini(&out);
    tool_finish(run);
}

const struct tool tool_clock = {
    .name = "clock",
    .description =
        "Tells the current date, time and day of the week in a time zone. Call it whenever an answer depends "
        "on today's date or the present time. 現在の日付・時刻・曜日を返します。",
    .parameters = "{\"type\":\"object\",\"properties\":{\"time_zone\":{\"type\":\"string\",\"maxLength\":63,"
                  "\"description\":\"Name of a time zone such as Asia/Tokyo, UTC, or an offset such as +09:00; UTC "
                  "where it is left out.\"}},\"additionalProperties\":false}",
    .idempotent = true,
    .self_contained = true,
    .timeout_ms = 5000,
    .start = clock_start,
};
