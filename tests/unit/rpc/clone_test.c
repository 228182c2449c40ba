/* A clone is what packing and unpacking makes of a message, or there is none. */
#include "rpc/clone.h"

#include "wire_cases.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef Renga__Test__V1__Everything Everything;
typedef Renga__Test__V1__Tree Tree;
typedef Renga__Test__V1__Everything__LabelsEntry Label;

#define ARENA_MAX (16u << 20)

static struct arena arena;

static int set_up(void **state)
{
    arena_init(&arena, NULL, 0, ARENA_MAX);
    return 0;
}

static int tear_down(void **state)
{
    arena_fini(&arena);
    return 0;
}

static char *heap_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return strcpy(copy, text);
}

static void free_message(void *message)
{
    protobuf_c_message_free_unpacked(message, NULL);
}

static size_t pack(const void *message, uint8_t *bytes, size_t room)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    assert_true(size <= room);
    return protobuf_c_message_pack(message, bytes);
}

static Tree *tree(const char *name, Tree *child)
{
    Tree *made = malloc(sizeof *made);
    renga__test__v1__tree__init(made);
    made->name = heap_text(name);
    if (child) {
        made->children = malloc(sizeof *made->children);
        made->children[0] = child;
        made->n_children = 1;
    }
    return made;
}

#define LIST(message, name, ...)                                                                                       \
    do {                                                                                                               \
        static const __typeof__(*(message)->name) values_[] = {__VA_ARGS__};                                           \
        (message)->n_##name = sizeof values_ / sizeof *values_;                                                        \
        (message)->name = memcpy(malloc(sizeof values_), values_, sizeof values_);                                     \
    } while (0)

/* On the heap, every kind of field set. */
static Everything *everything(void)
{
    Everything *all = malloc(sizeof *all);
    renga__test__v1__everything__init(all);
    all->a_double = -0.5;
    all->an_int32 = INT32_MIN;
    all->a_uint64 = UINT64_MAX;
    all->a_bool = 1;
    all->a_string = heap_text("voilà 東京");
    all->a_bytes = (ProtobufCBinaryData){.len = 3, .data = (uint8_t *)heap_text("\xff\xfe")};
    all->a_tree = tree("root", tree("leaf", NULL));
    LIST(all, doubles, 0.25, 1e300);
    LIST(all, floats, 1.5f);
    LIST(all, int32s, 1, -1, 3);
    LIST(all, int64s, INT64_MIN, 7);
    LIST(all, bools, 1, 0, 1);
    all->n_strings = 3;
    all->strings = malloc(3 * sizeof *all->strings);
    all->strings[0] = heap_text("first");
    all->strings[1] = heap_text("");
    all->strings[2] = heap_text("third");
    all->n_blobs = 1;
    all->blobs = malloc(sizeof *all->blobs);
    all->blobs[0] = (ProtobufCBinaryData){.len = 2, .data = (uint8_t *)heap_text("b")};
    all->n_trees = 2;
    all->trees = malloc(2 * sizeof(*all->trees));
    all->trees[0] = tree("one", NULL);
    all->trees[1] = tree("", tree("two", NULL));
    all->n_labels = 1;
    all->labels = malloc(sizeof(*all->labels));
    Label *label = malloc(sizeof *label);
    renga__test__v1__everything__labels_entry__init(label);
    label->key = heap_text("key");
    label->value = heap_text("value");
    all->labels[0] = label;
    all->choice_case = RENGA__TEST__V1__EVERYTHING__CHOICE_CHOSEN_TREE;
    all->chosen_tree = tree("chosen", NULL);
    return all;
}

static void a_clone_packs_to_the_same_bytes_when_the_original_is_gone(void **state)
{
    uint8_t before[1024], after[1024];
    Everything *original = everything();
    size_t size = pack(original, before, sizeof before);
    const Everything *clone = (const Everything *)rpc_clone(&original->base, &arena);
    assert_non_null(clone);
    free_message(original);
    assert_int_equal(pack(clone, after, sizeof after), size);
    assert_memory_equal(after, before, size);
    assert_string_equal(clone->strings[2], "third");
    assert_string_equal(clone->a_tree->children[0]->name, "leaf");
    assert_string_equal(clone->chosen_tree->name, "chosen");
}

static void what_is_not_there_is_as_unpacking_leaves_it(void **state)
{
    Everything original = RENGA__TEST__V1__EVERYTHING__INIT;
    char *strings[] = {NULL};
    original.a_string = NULL;
    original.strings = strings;       /* with no element */
    original.chosen_text = (char *)1; /* of a choice that was not made */
    const Everything *clone = (const Everything *)rpc_clone(&original.base, &arena);
    assert_non_null(clone);
    assert_string_equal(clone->a_string, "");
    assert_null(clone->strings);
    assert_null(clone->a_tree);
    assert_null(clone->a_bytes.data);
}

/* A choice that was made without a value does not travel: a text that was read as empty, a message that is none. */
static void a_choice_that_is_not_sent_is_not_made_in_a_clone(void **state)
{
    Everything original = RENGA__TEST__V1__EVERYTHING__INIT;
    for (int i = 0; i < 2; i++) {
        uint8_t bytes[16];
        original.choice_case =
            i ? RENGA__TEST__V1__EVERYTHING__CHOICE_CHOSEN_TREE : RENGA__TEST__V1__EVERYTHING__CHOICE_CHOSEN_TEXT;
        original.chosen_tree = NULL;
        if (i == 0)
            original.chosen_text = (char *)(uintptr_t)protobuf_c_empty_string;
        assert_int_equal(pack(&original, bytes, sizeof bytes), 0);
        const Everything *clone = (const Everything *)rpc_clone(&original.base, &arena);
        assert_non_null(clone);
        assert_int_equal(clone->choice_case, RENGA__TEST__V1__EVERYTHING__CHOICE__NOT_SET);
    }
    char empty[] = "";
    original.choice_case = RENGA__TEST__V1__EVERYTHING__CHOICE_CHOSEN_TEXT;
    original.chosen_text = empty; /* which does */
    const Everything *clone = (const Everything *)rpc_clone(&original.base, &arena);
    assert_int_equal(clone->choice_case, RENGA__TEST__V1__EVERYTHING__CHOICE_CHOSEN_TEXT);
    assert_string_equal(clone->chosen_text, "");
}

static void text_that_no_peer_would_take_makes_no_clone(void **state)
{
    static const char *const bad[] = {"\xff", "well, eight bytes and \xed\xa0\x80", "\xc0\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Tree leaf = RENGA__TEST__V1__TREE__INIT, *leaves[] = {&leaf};
        Everything original = RENGA__TEST__V1__EVERYTHING__INIT;
        leaf.name = (char *)(uintptr_t)bad[i];
        original.trees = leaves;
        original.n_trees = 1;
        assert_null(rpc_clone(&original.base, &arena));
    }
}

static void more_than_a_message_may_have_makes_no_clone(void **state)
{
    enum { DEPTH = 40, MANY = (1 << 17) + 1 };
    static Tree nested[DEPTH];
    static Tree *children[DEPTH];
    for (size_t i = 0; i < DEPTH; i++) {
        renga__test__v1__tree__init(&nested[i]);
        children[i] = &nested[i];
        if (i > 0) {
            nested[i].children = &children[i - 1];
            nested[i].n_children = 1;
        }
    }
    assert_non_null(rpc_clone(&nested[31].base, &arena)); /* 32 in one another */
    assert_null(rpc_clone(&nested[32].base, &arena));

    Everything original = RENGA__TEST__V1__EVERYTHING__INIT;
    original.int32s = calloc(MANY, sizeof *original.int32s);
    original.n_int32s = MANY;
    assert_null(rpc_clone(&original.base, &arena));
    original.n_int32s = MANY - 1;
    assert_non_null(rpc_clone(&original.base, &arena));
    original.a_bool = 1;
    assert_null(rpc_clone(&original.base, &arena));
    original.n_int32s = 0;
    free(original.int32s);
    original.strings = calloc(MANY - 1, sizeof *original.strings); /* all empty, which are sent all the same */
    original.n_strings = MANY - 1;
    assert_null(rpc_clone(&original.base, &arena));
    original.a_bool = 0;
    assert_non_null(rpc_clone(&original.base, &arena));
    free(original.strings);
}

static void fields_that_are_not_known_make_no_clone(void **state)
{
    static const uint8_t bytes[] = {0xe0, 0x3e, 0x01}; /* the field 1004 */
    Tree *original = renga__test__v1__tree__unpack(NULL, sizeof bytes, bytes);
    assert_int_equal(original->base.n_unknown_fields, 1);
    assert_null(rpc_clone(&original->base, &arena));
    free_message(original);
}

static void an_arena_that_is_full_makes_no_clone(void **state)
{
    struct arena small;
    Everything *original = everything();
    for (size_t limit = 0; limit < 1024; limit += 64) {
        arena_init(&small, NULL, 0, limit);
        assert_null(rpc_clone(&original->base, &small));
        arena_fini(&small);
    }
    free_message(original);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_clone_packs_to_the_same_bytes_when_the_original_is_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_as_unpacking_leaves_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_choice_that_is_not_sent_is_not_made_in_a_clone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_that_no_peer_would_take_makes_no_clone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_than_a_message_may_have_makes_no_clone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_that_are_not_known_make_no_clone, set_up, tear_down),
        cmocka_unit_test(an_arena_that_is_full_makes_no_clone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
