/* Values of several fields in one answer. */
#include "unit.h"

#include "value_fixture.h"

static const char properties[] =
    "\"name\":{\"title\":\"お名前\"},"
    "\"email\":{\"type\":\"string\",\"format\":\"email\",\"title\":\"E-mail\"},"
    "\"tel\":{\"type\":\"string\",\"format\":\"phone\",\"title\":\"電話番号\"},"
    "\"start\":{\"type\":\"string\",\"format\":\"date\",\"title\":\"入社日\"},"
    "\"amount\":{\"type\":\"integer\",\"minimum\":0,\"title\":\"金額\"},"
    "\"pc\":{\"oneOf\":[{\"const\":\"laptop\",\"title\":\"ノートパソコン\"},{\"const\":\"desktop\",\"title\":"
    "\"デスクトップ\"}],\"title\":\"機器\"},"
    "\"colours\":{\"type\":\"array\",\"items\":{\"enum\":[\"red\",\"green\",\"blue\"]},\"title\":\"Colours\"},"
    "\"news\":{\"type\":\"boolean\",\"title\":\"ニュースレター\"},\"note\":{\"title\":\"Comment\"}";

static const struct form_context context = {"ja", "JP", "Asia/Tokyo", NOW_MS};

static void values_of_other_fields_are_found_where_all_words_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *words, *found; /* "field=value", with a * where the words name the field */
    } rows[] = {
        {"name", "I'm Ada, ada@example.com, and the laptop please", "name=Ada email=ada@example.com pc=laptop"},
        {"name", "田中です。メールはtanaka@example.comです。", "name=田中 email*=tanaka@example.com"},
        {"name", "田中太郎、4月1日入社です", "name=田中太郎 start*=2027-04-01"},
        {"name", "田中です", "name=田中"},
        {"", "the e-mail from before should be b@example.com", "email*=b@example.com"},
        {"tel", "the e-mail from before should be b@example.com", "email*=b@example.com"},
        {"", "入社日を4月2日に変更してください", "start*=2027-04-02"},
        {"", "change the name to Bob", "name*=Bob"},
        {"", "名前を田中に変更してください", "name*=田中"},
        {"", "名前は大事です", ""},
        {"email", "ada@example.com です、電話は090-1234-5678", "email=ada@example.com tel*=+819012345678"},
        {"email", "ada@example.com", "email=ada@example.com"},
        {"", "my boss's e-mail is boss@example.com", ""},
        {"", "call me at 090-1234-5678", "tel=+819012345678"},
        {"note", "I sent it to bob@example.com and he was angry, so I left.",
         "note=I sent it to bob@example.com and he was angry, so I left"},
        {"note", "I lost my laptop", "note=I lost my laptop"},
        {"", "colours: red and blue", "colours*=[\"red\",\"blue\"]"},
        {"", "入社日は2月30日です", "start*=NO_SUCH_DATE"},
        {"amount", "三万円、ノートパソコンで", "amount=30000 pc=laptop"},
        {"", "金額は5万円です、入社日は来週の金曜です", "amount*=50000 start*=2026-12-04"},
        {"", "金額は5万円ではないです", ""},
        {"start", "4月1日です、ニュースレターははい", "start=2027-04-01 news*=true"},
        {"", "ニュースレター: いいえ", "news*=false"},
        {"name", "Ada, ada@example.com, bob@example.com", "name=Ada"},
        {"", "3 laptops", ""},
        {"pc", "laptop", "pc=laptop"},
        {"start", "今日です。名前: 田中", "start=2026-11-23 name*=田中"},
        {"name", "はじめまして。田中と申します。メールは t@example.com です。よろしくお願いします。",
         "name=田中 email*=t@example.com"},
        {"", "red and blue", "colours=[\"red\",\"blue\"]"},
        {"", "デスクトップで、金額は3万円です", "pc=desktop amount*=30000"},
        {"email", "電話は 03-1234-5678 で、メールは a@example.com です", "email=a@example.com tel*=+81312345678"},
        {"name", "My name is Ada Lovelace and my e-mail is ada@example.com",
         "name=Ada Lovelace email*=ada@example.com"},
        {"", "メールをa@example.comからb@example.comに変更", "email*=b@example.com"},
        {"email", "no, the amount is 500", "amount*=500"},
        {"", "電話番号を090-1111-2222に訂正してください", "tel*=+819011112222"},
        {"", "start date", ""},
        {"email", "ada@example.com, thanks! 😊", "email=ada@example.com"},
        {"name", "😊", ""},
        {"", "金額を3万円から5万円に変更してください", "amount*=50000"},
        {"", "電話は090-1234-5678じゃなくて090-1234-5679です", ""},
        {"", "I don't have a laptop", ""},
        {"", "laptop?", ""},
        {"", "ノートパソコンをお願いします", "pc=laptop"},
        {"", "入社日は4月1日じゃないです", ""},
        {"", "Comment: nothing special", "note*=nothing special"},
        {"", "The e-mail didn't arrive", ""},
        {"tel", "090-1234-5678 / ada@example.com", "tel=+819012345678"},
        {"amount", "5万円、来週の金曜", "amount=50000"},
        {"amount", "5万円です。入社は来週の金曜です", "amount=50000 start*=2026-12-04"},
        {"", "彼のメールは bob@example.com です", ""},
        {"", "上司の電話番号は03-1234-5678です", ""},
        {"", "金額は-5です", "amount*=TOO_SMALL"},
        {"", "入社日は明日、機器はデスクトップでお願いします", "start*=2026-11-24 pc*=desktop"},

    };
    struct arena arena;
    arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
    const struct form *form = value_fixture_form(&arena, properties);
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct form_mention mentions[FORM_MENTIONS_MAX];
        size_t count;
        int asked = rows[i].asked[0] ? form_find(form, rows[i].asked) : -1;
        assert_true(form_find_values(form, asked, rows[i].words, &context, &arena, mentions, &count));
        const char *found = "";
        for (size_t m = 0; m < count; m++) {
            const struct form_value *value = &mentions[m].value;
            assert_true(value->begin < value->end && value->end <= strlen(rows[i].words));
            found = arena_printf(&arena, "%s%s%s%s=%s", found, m ? " " : "",
                                 form_field(form, mentions[m].field)->field_id, mentions[m].named ? "*" : "",
                                 value->problem == FORM_FINE ? value->text : problem_names[value->problem]);
        }
        if (strcmp(found, rows[i].found) != 0) {
            print_error("'%s' of %s has '%s', not '%s'\n", rows[i].words, rows[i].asked, found, rows[i].found);
            wrong++;
        }
    }
    arena_fini(&arena);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_other_fields_are_found_where_all_words_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
