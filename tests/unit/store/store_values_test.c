/* Values of all sizes, of every kind of store: short ones overwritten by long ones and back, expected, deleted, read.
 */
#include "base/random.h"

#include "store_fixture.h"

#define LONGEST 20000

static const char *filled(char byte, size_t size)
{
    static char bytes[LONGEST];
    assert_true(size <= sizeof bytes);
    memset(bytes, byte, size);
    return bytes;
}

static struct store_bytes value_of(char byte, size_t size)
{
    return (struct store_bytes){filled(byte, size), size};
}

static void assert_value(struct store_bytes value, char byte, size_t size)
{
    assert_int_equal(value.size, size);
    assert_memory_equal(value.bytes, filled(byte, size), size);
}

/* Short and long ones of a SQLite file part between 400 and 500 bytes, and its pages have 2,048. */
static void a_value_of_any_size_is_read_back(void **state)
{
    static const size_t around[] = {0, 127, 232, 488, 2013, 2048, 4096, LONGEST - 20};
    struct written written;
    struct store_batch *batch = begin(&written);
    for (unsigned i = 0; i < COUNT(around) * 20; i++) {
        char key[4] = {(char)('a' + i / 20), (char)('a' + i % 20), 0};
        store_put(batch, text_of(key), value_of(key[1], around[i / 20] + i % 20));
    }
    assert_int_equal(commit_now(&written).code, OK);
    struct looked looked;
    look(&looked, ABSENT, NO_END);
    assert_int_equal(scan_now(&looked)->count, COUNT(around) * 20);
    for (unsigned i = 0; i < looked.scan.count; i++)
        assert_value(looked.scan.rows[i].value, (char)('a' + i % 20), around[i / 20] + i % 20);
    store_scan_fini(&looked.scan);
}

static void a_batch_may_expect_a_long_value(void **state)
{
    struct written written;
    store_put(begin(&written), TEXT("k"), value_of('a', LONGEST));
    assert_int_equal(commit_now(&written).code, OK);
    static const struct {
        char byte;
        size_t size;
        enum status_code code;
    } cases[] = {{'a', LONGEST - 1, ABORTED}, {'b', LONGEST, ABORTED}, {'a', 0, ABORTED}, {'a', LONGEST, OK}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct store_batch *batch = begin(&written);
        store_expect(batch, TEXT("k"), value_of(cases[i].byte, cases[i].size));
        store_put(batch, TEXT("k"), TEXT("short"));
        assert_int_equal(commit_now(&written).code, cases[i].code);
    }
    store_expect(begin(&written), TEXT("k"), ABSENT);
    assert_int_equal(commit_now(&written).code, ABORTED);
    assert_all("k=short ");
}

/* ---- chance ------------------------------------------------------------------------------------------------------ */

#define KEYS    40
#define BATCHES 400
#define NONE    SIZE_MAX

/* What should be there. */
struct model {
    size_t sizes[KEYS]; /* NONE: no such key */
    char bytes[KEYS];
};

static struct store_bytes key_of(unsigned number)
{
    static char keys[KEYS + 1];
    keys[number] = (char)('0' + number);
    return (struct store_bytes){&keys[number], 1};
}

static size_t size_by_chance(void)
{
    static const size_t most[] = {20, 20, 20, 600, 600, 3000, LONGEST};
    return random_below(most[random_below(COUNT(most))]);
}

static void change_by_chance(struct store_batch *batch, struct model *model)
{
    unsigned key = (unsigned)random_below(KEYS), to = key + (unsigned)random_below(KEYS - key);
    switch (random_below(8)) {
    case 0:
        store_delete(batch, key_of(key));
        model->sizes[key] = NONE;
        break;
    case 1:
        store_delete_range(batch, key_of(key), key_of(to));
        for (unsigned i = key; i < to; i++)
            model->sizes[i] = NONE;
        break;
    default:
        model->sizes[key] = size_by_chance();
        model->bytes[key] = (char)('a' + random_below(26));
        store_put(batch, key_of(key), value_of(model->bytes[key], model->sizes[key]));
    }
}

/* Half of the expectations are wrong, and their batches are left out. */
static bool expect_by_chance(struct store_batch *batch, const struct model *model)
{
    unsigned key = (unsigned)random_below(KEYS);
    size_t size = model->sizes[key];
    bool right = random_below(2);
    if (size == NONE)
        store_expect(batch, key_of(key), right ? ABSENT : TEXT("there"));
    else
        store_expect(batch, key_of(key), value_of(right ? model->bytes[key] : 'A', size));
    return right || size == 0;
}

static void assert_model(const struct model *model)
{
    struct looked looked;
    unsigned from = (unsigned)random_below(KEYS), row = 0;
    look(&looked, key_of(from), NO_END);
    assert_int_equal(scan_now(&looked)->status.code, OK);
    for (unsigned key = from; key < KEYS; key++) {
        if (model->sizes[key] == NONE)
            continue;
        assert_true(row < looked.scan.count);
        assert_value(looked.scan.rows[row].value, model->bytes[key], model->sizes[key]);
        row++;
    }
    assert_int_equal(looked.scan.count, row);
    store_scan_fini(&looked.scan);
}

static void values_that_grow_shrink_and_go_are_at_all_times_what_was_put(void **state)
{
    struct model model;
    for (int i = 0; i < KEYS; i++)
        model.sizes[i] = NONE;
    for (int i = 0; i < BATCHES; i++) {
        struct written written;
        struct store_batch *batch = begin(&written);
        struct model changed = model;
        bool holds = random_below(4) || expect_by_chance(batch, &model);
        for (uint64_t changes = 1 + random_below(6); changes > 0; changes--)
            change_by_chance(batch, &changed);
        assert_int_equal(commit_now(&written).code, holds ? OK : ABORTED);
        if (holds)
            model = changed;
        assert_model(&model);
    }
}

int main(void)
{
    static const struct named_test tests[] = {
        NAMED(a_value_of_any_size_is_read_back),
        NAMED(a_batch_may_expect_a_long_value),
        NAMED(values_that_grow_shrink_and_go_are_at_all_times_what_was_put),
    };
    return run_on_all_kinds(tests, COUNT(tests));
}
