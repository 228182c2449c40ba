/* Time zones, from files as zic writes them. */
#include "tools/zone.h"

#include <stdio.h>

#include "unit.h"

/* A file of version 2: an empty block of version 1, then types and transitions, then the footer. */
struct file {
    char bytes[1024];
    size_t size;
};

static void put(struct file *file, int64_t value, unsigned width)
{
    while (width--)
        file->bytes[file->size++] = (char)(value >> (8 * width));
}

static void put_header(struct file *file, unsigned times, unsigned types, unsigned letters)
{
    memcpy(file->bytes + file->size, "TZif2", 5);
    memset(file->bytes + file->size + 5, 0, 15);
    file->size += 20;
    for (int i = 0; i < 3; i++)
        put(file, 0, 4);
    put(file, times, 4);
    put(file, types, 4);
    put(file, letters, 4);
}

/* Standard time of +1 h, summer time of +2 h between 1000 and 2000. */
static struct file with_summer(const char *footer)
{
    struct file file = {.size = 0};
    put_header(&file, 0, 1, 1);
    memset(file.bytes + file.size, 0, 7);
    file.size += 7;
    put_header(&file, 2, 2, 8);
    put(&file, 1000, 8);
    put(&file, 2000, 8);
    put(&file, 1, 1);
    put(&file, 0, 1);
    put(&file, 3600, 4);
    put(&file, 0, 2);
    put(&file, 7200, 4);
    put(&file, 0x0104, 2);
    memcpy(file.bytes + file.size, "CET\0CES", 8);
    file.size += 8;
    memcpy(file.bytes + file.size, footer, strlen(footer));
    file.size += strlen(footer);
    return file;
}

static void the_last_transition_decides(void **state)
{
    int32_t offset;
    struct file file = with_summer("\nCET-1\n");
    static const struct {
        int64_t at;
        int32_t offset;
    } rows[] = {{-5, 3600}, {999, 3600}, {1000, 7200}, {1999, 7200}, {2000, 3600}, {INT64_MAX, 3600}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(zone_read(file.bytes, file.size, rows[i].at, &offset));
        assert_int_equal(offset, rows[i].offset);
    }
}

static void a_file_that_ends_before_now_with_rules_that_go_on_is_not_believed(void **state)
{
    int32_t offset;
    struct file file = with_summer("\nCET-1CEST,M3.5.0,M10.5.0/3\n");
    assert_true(zone_read(file.bytes, file.size, 1500, &offset));
    assert_false(zone_read(file.bytes, file.size, 2000, &offset));
}

static void a_file_that_is_cut_or_garbled_is_none(void **state)
{
    int32_t offset;
    struct file file = with_summer("");
    for (size_t size = 0; size < file.size; size++) {
        char *copy = malloc(size + 1); /* of just this size, for the sanitizer */
        memcpy(copy, file.bytes, size);
        assert_false(zone_read(copy, size, 1500, &offset));
        free(copy);
    }
    for (size_t at = 0; at < file.size; at++) {
        struct file wrong = file;
        wrong.bytes[at] = (char)0xff;
        zone_read(wrong.bytes, wrong.size, 1500, &offset);
    }
}

static void offsets_and_names_are_read_and_paths_are_not(void **state)
{
    int32_t offset;
    struct status st = {0};
    assert_true(zone_offset("UTC", 0, &offset, &st));
    assert_int_equal(offset, 0);
    assert_true(zone_offset("+09:00", 0, &offset, &st));
    assert_int_equal(offset, 9 * 3600);
    assert_true(zone_offset("-03:30", 0, &offset, &st));
    assert_int_equal(offset, -(3 * 3600 + 1800));
    static const char *const wrong[] = {"",       "Nowhere/City", "../../etc/passwd", "/etc/passwd",  "Asia",     "+9",
                                        "+09:60", "+15:00",       "Asia/../UTC",      "Asia/Tokyo\n", "日本/東京"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct status why = {0};
        assert_false(zone_offset(wrong[i], 0, &offset, &why));
        assert_int_equal(why.code, INVALID_ARGUMENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_transition_decides),
        cmocka_unit_test(a_file_that_ends_before_now_with_rules_that_go_on_is_not_believed),
        cmocka_unit_test(a_file_that_is_cut_or_garbled_is_none),
        cmocka_unit_test(offsets_and_names_are_read_and_paths_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
