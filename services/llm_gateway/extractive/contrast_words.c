/* The words of a European question and their classes: one row of lists for each language. */
#include "contrast_words.h"

#include <string.h>
#include <strings.h>

static const char numbers[] =
    "zwei drei vier fünf sechs sieben acht neun zehn zwölf hundert tausend deux trois quatre cinq six "
    "sept huit neuf dix onze douze vingt cent mille dos tres cuatro cinco seis siete ocho nueve "
    "diez doce veinte cien mil two three four five seven eight nine ten twelve twenty hundred thousand million";

static const char german_askers[] =
    "wer wen wem wessen was welche welcher welches welchen welchem wo wann wie warum wieso "
    "weshalb worin wodurch womit wofür woher wohin woran inwiefern inwieweit";
static const char german_equal[] =
    "gleich gleiche gleichen gleicher selbe selben derselbe dieselbe dasselbe denselben "
    "demselben derselben dieselben identisch jeweils ähnlich ähnlichkeiten gemeinsamkeiten";
static const char german_adverbs[] = "doch nun auch noch nur so genauso ebenso wohl denn schon sehr bitte jetzt nicht "
                                     "besonders immer viel viele vielen";
static const char french_askers[] =
    "qui quel quelle quels quelles lequel laquelle lesquels lesquelles quoi quand où comment "
    "pourquoi combien qu'est-ce";
static const char french_degrees[] =
    "plus moins mieux meilleur meilleure meilleurs meilleures pire davantage aussi autant "
    "supérieur supérieure supérieurs supérieures inférieur inférieure inférieurs "
    "inférieures premier première avant après";
static const char french_equal[] =
    "même mêmes identiques identique commun communs égaux respectivement chacun ressemblances "
    "similitudes semblables pareils pareil";
static const char spanish_degrees[] =
    "más menos mejor mejores peor peores mayor mayores menor menores antes primero primera tan "
    "tanto tanta tantos tantas superior superiores inferior inferiores preferible después";
static const char german_verbs[] =
    "ist sind war waren wird werden wurde wurden hat haben hatte hatten kann können könnte kannst soll "
    "sollte sollen muss müssen darf will würde kostet kosten gibt liegt liegen kommt kam hält läuft fährt "
    "lebt leben lebte starb starben gilt gelten macht bringt braucht verbraucht dauert gewann erschien "
    "begann entstand besitzt heißt bleibt lohnt schmeckt wiegt geht steht sein passt stimmt spricht reicht";
static const char german_pronouns[] =
    "ich du er sie es wir ihr man sich mich mir dich dir ihm ihn ihnen uns sie dies beide beiden "
    "jemand etwas alle ob dass wenn weil";
static const char german_prepositions[] =
    "in zu zum zur auf bei mit nach vor aus über unter durch um gegen ohne seit bis zwischen ins beim "
    "unterm gegenüber statt anstatt hinsichtlich bezüglich";
static const char french_verbs[] =
    "est sont était étaient fut a ont avait avaient aura sera peut peux pourrait doit dois faut "
    "vaut valent coûte coûtent fait font y se s' s’ possède compte reste dit va vit gagne naquit "
    "mourut reçoit dépasse roule";
static const char french_pronouns[] =
    "je j' j’ tu il elle ils elles on nous vous ce c' c’ cela ça moi toi lui me m' m’ te t' t’ "
    "n' n’ ne leur y est-ce celui celle ceux celles quelque si";
static const char spanish_verbs[] =
    "es son era eran fue fueron está están tiene tienen tenía ha han había hay puede podría debo debe se "
    "cuesta cuestan vale valen sale salen va van nació murió ganó gana hace hacen posee vive viven pesa "
    "consume conviene llueve prefieres recomiendas incluye cobra reinó tengo emplea recibe "
    "sabes supera murieron dura pintó";

static const char english_degrees[] =
    "more less fewer better worse rather earlier later sooner first most least best worst last superior inferior "
    "bigger smaller larger taller shorter longer higher lower older elder younger newer faster slower quicker cheaper "
    "dearer pricier costlier heavier lighter stronger weaker harder softer easier tougher safer healthier richer "
    "poorer wealthier warmer colder hotter cooler wetter drier dryer deeper shallower wider narrower broader thicker "
    "thinner brighter darker louder quieter cleaner dirtier nicer prettier smarter wiser sweeter saltier spicier "
    "tastier fresher closer nearer farther further greater busier denser fatter finer flatter fuller happier sadder "
    "kinder looser tighter milder simpler rarer stricter rougher smoother sharper steeper stiffer sturdier bulkier "
    "greener fitter hardier riskier friendlier deadlier noisier";
static const char english_verbs[] =
    "is are was were be been do does did has have had can could will would shall should may might must "
    "isn't aren't wasn't doesn't don't didn't can't cannot won't "
    "cost costs live lives lived weigh weighs use uses need needs contain contains offer offers last lasts "
    "consume consumes include includes get gets got make makes made give gives sell sells sold win wins won "
    "earn earns earned pay pays die died appear appeared come comes came start started end ended write wrote "
    "run runs ran score scored rank ranks receive receives produce produces reach reached become became "
    "fall falls taste tastes grow grows work works charge charges require requires provide provides";
static const char english_pronouns[] =
    "i you he she it we they me him us them this that these those there whether if one ones something "
    "anything someone anyone everyone nothing no any both her mine yours ours i'd i'm it's";
static const char english_prepositions[] =
    "in on at to for with from by about into over under between among through during after before against "
    "without since until near within across per like";

static const struct contrast_language contrast_languages[] = {
    {.language = LANGUAGE_EN,
     .lists = {[WORD_OR] = "or",
               [WORD_AND] = "and &",
               [WORD_THAN] = "than",
               [WORD_ASKER] = "what which who whom whose where when why how what's who's",
               [WORD_DEGREE] = english_degrees,
               [WORD_SAME] = "same identical equal equally alike similar similarities respectively",
               [WORD_VERB] = english_verbs,
               [WORD_PRONOUN] = english_pronouns,
               [WORD_ARTICLE] = "a an the my our your his its their",
               [WORD_INNER] = "of",
               [WORD_PREPOSITION] = english_prepositions,
               [WORD_ADVERB] =
                   ("really still also too very much many so just now please ever actually usually even only "
                    "generally always often well not then typically either as")},
     .differences = "differ distinguish",
     .comparing = "compar",
     .choosing = "choos choice prefer recommend buy pick better decid torn",
     .attributes = "inhabitants capitals currencies populations old tall heavy",
     .advantages = "advantage disadvantage downside upside benefit drawback pros cons",
     .times = ("year month week day yesterday today before ever usual expected planned allowed average normal last now "
               "possible necessary needed predicted first second rest other others round half once twice previous "
               "opposite limit permits allows "
               "requires suggests says indicates claims"),
     .beside = ("compared_to compared_with in_comparison_to in_comparison_with by_comparison_with as_opposed_to "
                "in_contrast_to relative_to unlike vs versus v"),
     .weak_beside = "instead_of rather_than",
     .between = "between",
     .own = "that those",
     .begin = "",
     .end = "?",
     .what = "What is ",
     .verb_first = true},
    {.language = LANGUAGE_DE,
     .lists = {[WORD_OR] = "oder bzw beziehungsweise",
               [WORD_AND] = "und sowie &",
               [WORD_THAN] = "als",
               [WORD_ASKER] = german_askers,
               [WORD_DEGREE] = "mehr weniger lieber eher zuerst zuletzt mehrere anders",
               [WORD_SAME] = german_equal,
               [WORD_VERB] = german_verbs,
               [WORD_PRONOUN] = german_pronouns,
               [WORD_ARTICLE] = "der die das den dem des ein eine einen einem einer eines mein meine meinen kein keine",
               [WORD_INNER] = "von vom am im an für",
               [WORD_PREPOSITION] = german_prepositions,
               [WORD_ADVERB] = german_adverbs},
     .differences = "unterschied unterscheid ähnel",
     .comparing = "vergleich",
     .choosing = "schwank entscheid wähl auswähl empfehl empfiehl bevorzug kaufen nehmen sollte soll lieber eher",
     .attributes = "einwohner hauptstädte währungen alt",
     .advantages = "vorteil nachteil warum wieso weshalb",
     .times = ("vorjahr vorher früher sonst geplant erwartet gestern heute jetzt jahr monat woche üblich zuvor andere "
               "anderen zweite zweiten letztes letzten normal gedacht erlaubt umgekehrt gegenteil"),
     .beside = ("im_unterschied_zu im_unterschied_zum im_vergleich_zu im_vergleich_zum im_vergleich_zur "
                "im_vergleich_mit verglichen_mit im_gegensatz_zu "
                "im_gegensatz_zum im_gegensatz_zur vs versus"),
     .weak_beside = "gegenüber statt anstatt anstelle_von",
     .partners = "von vom mit zu zum zur gegen",
     .between = "zwischen",
     .own = "die der das den dem",
     .begin = "",
     .end = "?",
     .what = "Was ist ",
     .nouns_have_capitals = true,
     .verb_first = true},
    {.language = LANGUAGE_FR,
     .lists = {[WORD_OR] = "ou",
               [WORD_AND] = "et &",
               [WORD_THAN] = "que qu' qu’",
               [WORD_ASKER] = french_askers,
               [WORD_DEGREE] = french_degrees,
               [WORD_SAME] = french_equal,
               [WORD_VERB] = french_verbs,
               [WORD_PRONOUN] = french_pronouns,
               [WORD_ARTICLE] = "le la les l' l’ un une des mon ma mes notre votre son sa ses ce cet cette ces",
               [WORD_INNER] = "de du d' d’ aux",
               [WORD_PREPOSITION] = "à À au en dans pour par sur sous avec sans chez entre vers contre parmi depuis",
               [WORD_ADVERB] = "plutôt bien donc alors très pas toujours tout déjà encore"},
     .differences = "différ distingu diffèr ressembl",
     .comparing = "compar préfér préfèr",
     .choosing = "choisi préfér préfèr hésit acheter dois devrais conseill recommand plutôt",
     .attributes = "habitants capitales monnaies superficies mesurent",
     .advantages = "avantage inconvénient pourquoi",
     .times =
         "avant an année ans mois semaine hier aujourd'hui autrefois prévu d'habitude ailleurs jamais jésus-christ "
         "dernière inverse contraire deuxième second",
     .beside = ("comparé_à comparée_à comparé_au "
                "comparée_au comparés_à "
                "contrairement_à contrairement_au à_la_différence_de à_la_différence_du vs versus"),
     .weak_beside = ("face_à face_au face_aux par_rapport_à par_rapport_au par_rapport_aux plutôt_que plutôt_qu' "
                     "plutôt_qu’ au_lieu_de au_lieu_d' au_lieu_d’ au_lieu_du"),
     .partners = "avec à au aux de du d' d’",
     .between = "entre",
     .own = "celui celle ceux celles",
     .begin = "",
     .end = " ?",
     .what = "Qu'est-ce que "},
    {.language = LANGUAGE_ES,
     .lists =
         {[WORD_OR] = "o u",
          [WORD_AND] = "y e &",
          [WORD_THAN] = "que como",
          [WORD_ASKER] = "qué cuál cuáles quién quiénes quien cuándo dónde cómo cuánto cuánta cuántos cuántas cual",
          [WORD_DEGREE] = spanish_degrees,
          [WORD_SAME] = "mismo misma mismos mismas iguales igual común respectivamente parecen semejanzas similitudes",
          [WORD_VERB] = spanish_verbs,
          [WORD_PRONOUN] = "yo tú él ella ellos ellas usted me te lo le nos esto eso esta este algo alguien mí ti si",
          [WORD_ARTICLE] = "el la los las un una unos unas mi mis su sus",
          [WORD_INNER] = "de del",
          [WORD_PREPOSITION] = "a al en por para con sin sobre entre hacia desde según hasta contra frente respecto",
          [WORD_ADVERB] = "bien muy no ya también solo tal vez ahora siempre"},
     .differences = "diferenc difier distingu parec",
     .comparing = "compar prefer",
     .choosing = "eleg elij prefer recom recomiend dud compr debo deberí escog quedo conviene",
     .attributes = "habitantes capitales monedas superficies miden",
     .advantages = "ventaj desventaj inconvenient",
     .times =
         ("antes año años mes semana ayer hoy nunca ahora previsto permitido costumbre siempre cristo pasado revés "
          "contrario segundo"),
     .beside = ("en_comparación_con comparado_con comparada_con comparados_con a_diferencia_de a_diferencia_del "
                "al_contrario_que vs versus"),
     .weak_beside = "frente_a frente_al respecto_a respecto_al respecto_de en_vez_de en_lugar_de",
     .partners = "con a al de del",
     .between = "entre",
     .own = "el la los las lo al",
     .begin = "¿",
     .end = "?",
     .what = "¿Qué es ",
     .late_subject = true},
};

/* ---- words ------------------------------------------------------------------------------------------------------- */

static bool word_is(struct text word, const char *listed, size_t length)
{
    return word.length == length && strncasecmp(word.bytes, listed, length) == 0;
}

/* `list` has words between single blanks. */
static bool word_in(struct text word, const char *list)
{
    char first = word.length ? (char)(word.bytes[0] | 0x20) : '\0';
    for (const char *end; *list; list = end + (*end == ' ')) {
        end = strchrnul(list, ' ');
        if ((*list | 0x20) == first && word_is(word, list, (size_t)(end - list)))
            return true;
    }
    return false;
}

bool contrast_word_in(const struct contrast_words *words, size_t at, const char *list)
{
    return at < words->tokens.count && !words->tokens.list[at].quoted &&
           word_in(tokens_between(&words->tokens, at, at + 1), list);
}

bool contrast_word_begins(const struct contrast_words *words, size_t at, const char *stems)
{
    struct text word = at < words->tokens.count ? tokens_between(&words->tokens, at, at + 1) : text_of("");
    char first = word.length ? (char)(word.bytes[0] | 0x20) : '\0';
    for (const char *end; *stems; stems = end + (*end == ' ')) {
        end = strchrnul(stems, ' ');
        size_t length = (size_t)(end - stems);
        if ((*stems | 0x20) == first && word.length >= length && strncasecmp(word.bytes, stems, length) == 0)
            return true;
        if (word.length > length && strncmp(stems, "unterschied", length) == 0 && /* "Altersunterschied" */
            memmem(word.bytes, word.length, stems, length))
            return true;
    }
    return false;
}

bool contrast_word_is_number(const struct contrast_words *words, size_t at)
{
    if (at >= words->tokens.count)
        return false;
    char c = words->tokens.text.bytes[words->tokens.list[at].begin];
    return !words->tokens.list[at].quoted && ((c >= '0' && c <= '9') || contrast_word_in(words, at, numbers));
}

size_t contrast_words_match(const struct contrast_words *words, size_t at, const char *phrases)
{
    char first =
        at < words->tokens.count ? (char)(words->tokens.text.bytes[words->tokens.list[at].begin] | 0x20) : '\0';
    while (*phrases) {
        size_t end = (size_t)(strchrnul(phrases, ' ') - phrases), from = 0, count = 0;
        bool same = *phrases == first || (*phrases & 0x80);
        while (same && from < end) {
            size_t length = strcspn(phrases + from, "_ ");
            same = at + count < words->tokens.count &&
                   word_is(tokens_between(&words->tokens, at + count, at + count + 1), phrases + from, length);
            from += length + 1;
            count++;
        }
        if (same)
            return count;
        phrases += end + (phrases[end] == ' ');
    }
    return 0;
}

size_t contrast_words_find(const struct contrast_words *words, size_t from, size_t to, enum word_class class)
{
    while (from < to && words->class[from] != class)
        from++;
    return from;
}

bool contrast_words_begin(const struct contrast_words *words, const char *stems)
{
    for (size_t at = 0; at < words->tokens.count; at++)
        if (contrast_word_begins(words, at, stems))
            return true;
    return false;
}

bool contrast_words_have(const struct contrast_words *words, size_t from, size_t to, enum word_class class)
{
    return contrast_words_find(words, from, to, class) < to;
}

/* "more than 65 years" and "plus de cent" are amounts. */
bool contrast_words_compare(const struct contrast_words *words)
{
    for (size_t at = 0; at < words->tokens.count; at++) {
        bool amount = at + 2 < words->tokens.count &&
                      (contrast_word_is_number(words, at + 1) || contrast_word_is_number(words, at + 2)) &&
                      (words->class[at + 1] == WORD_THAN || words->class[at + 1] == WORD_INNER);
        if (words->class[at] == WORD_DEGREE && !amount &&
            !contrast_word_in(words, at, "aussi autant tan tanto tanta tantos tantas mehrere"))
            return true;
    }
    return false;
}

/* German comparatives have an ending of their own: "größer", "ältere". */
static bool word_is_german_degree(struct text word)
{
    static const char *const endings[] = {"er", "ere", "eren", "erer", "eres", "erem", NULL};
    static const char others[] =
        "aber immer hier unter über wieder leider dieser jeder jeden unser unsere weder bisher "
        "sicher oder einer anderer andere anderen besonder außer immer hinter deren ihrer seiner "
        "meiner keiner verändern ändern erinnern feiern guter alter großer";
    return word.length > 4 && split_match_before(word, word.length, endings) && !word_in(word, others);
}

/* "iPhone" */
static bool word_has_inner_capital(struct text word)
{
    for (size_t i = 1; i < word.length && i < 4; i++)
        if (word.bytes[i] >= 'A' && word.bytes[i] <= 'Z')
            return true;
    return false;
}

/* "Édouard" begins with a capital letter, "élevé" and "älter" do not. */
static bool word_has_capital(struct text word)
{
    const unsigned char *c = (const unsigned char *)word.bytes;
    return word.length && ((c[0] >= 'A' && c[0] <= 'Z') || (c[0] >= '0' && c[0] <= '9') ||
                           (c[0] == 0xC3 && word.length > 1 && c[1] < 0x9F) || c[0] == '\'' ||
                           (c[0] >= 0x80 && c[0] != 0xC3) || word_has_inner_capital(word));
}

static enum word_class word_class(const struct contrast_words *words, size_t at)
{
    const struct token *token = &words->tokens.list[at];
    struct text word = tokens_between(&words->tokens, at, at + 1);
    bool english = words->row->language == LANGUAGE_EN && at > 0 && !token[-1].stopped; /* "The Hague", "May" */
    bool letter = at > 0 && (word.length == 1 || english) && word_has_capital(word) &&
                  !(words->row->language == LANGUAGE_EN && word.bytes[0] == 'I' &&
                    word_in(word, english_pronouns)); /* "formulaire A" */
    for (size_t class = 0; !token->quoted && !letter && class < WORD_LISTS; class ++)
        if (word_in(word, words->row->lists[class]))
            return (enum word_class) class;
    if (!token->quoted && (contrast_word_begins(words, at, words->row->differences) ||
                           contrast_word_begins(words, at, words->row->comparing)))
        return WORD_STEM;
    if (token->quoted || word_has_capital(word))
        return WORD_NAME;
    return words->row->language == LANGUAGE_DE && word_is_german_degree(word) ? WORD_DEGREE : WORD_CONTENT;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static void words_add(struct tokens *tokens, struct token token, size_t begin, size_t end, bool last)
{
    token.begin = begin;
    token.end = end;
    token.stopped = token.stopped && last;
    if (begin < end && tokens->count < TOKENS_MAX)
        tokens->list[tokens->count++] = token;
}

/* The bytes of "l' l’", "d' d’", "qu' qu’" at the beginning of a word. */
static size_t word_elision(struct text word)
{
    size_t letters = 0;
    while (letters < word.length && letters < 3 &&
           ((word.bytes[letters] | 0x20) >= 'a' && (word.bytes[letters] | 0x20) <= 'z'))
        letters++;
    bool elides = letters == 1 ? strchr("ldsnjcmt", word.bytes[0] | 0x20) != NULL
                               : letters == 2 && strncasecmp(word.bytes, "qu", 2) == 0;
    size_t mark = split_match_any(word, letters, (const char *const[]){"'", "’", NULL});
    return elides && mark && letters + mark < word.length ? letters + mark : 0;
}

/* The begin of "-il", "-t-elle" behind a verb, else the length. */
static size_t word_inversion(struct text word)
{
    static const char *const pronouns[] = {"-t-il", "-t-elle", "-t-ils", "-t-elles", "-t-on", "-il",
                                           "-elle", "-ils",    "-elles", "-on",      "-ce",   "-vous",
                                           "-tu",   "-je",     "-moi",   "-nous",    NULL};
    return word.length - split_match_before(word, word.length, pronouns);
}

/* "¿Es", "l'or" and "est-elle" become two words each; the verb and its pronoun get their classes here. */
static void words_take_apart(struct contrast_words *words, const struct tokens *read)
{
    struct tokens *tokens = &words->tokens;
    bool french = words->row->language == LANGUAGE_FR;
    tokens->text = read->text;
    tokens->count = 0;
    for (size_t i = 0; i < read->count; i++) {
        struct token token = read->list[i];
        struct text word = split_part(read->text, token.begin, token.end);
        size_t begin = token.begin + split_match_any(word, 0, (const char *const[]){"¿", "¡", NULL});
        word = split_part(read->text, begin, token.end);
        size_t elision = french && !word_in(word, "qu'est-ce aujourd'hui d'habitude") ? word_elision(word) : 0;
        words_add(tokens, token, begin, begin + elision, false);
        word = split_part(word, elision, word.length);
        token.quoted = token.quoted || split_match_any(word, 0, (const char *const[]){"«", "\"", "“", "„", NULL});
        size_t inversion = french && !word_in(word, "est-ce qu'est-ce") ? word_inversion(word) : word.length;
        words_add(tokens, token, begin + elision, begin + elision + inversion, inversion == word.length);
        if (inversion < word.length) {
            words_add(tokens, token, begin + elision + inversion, token.end, true);
            words->class[tokens->count - 1] = WORD_PRONOUN;
        }
    }
}

bool contrast_words_read(struct contrast_words *words, struct text question, enum language language)
{
    struct tokens read;
    words->row = NULL;
    for (size_t i = 0; i < sizeof contrast_languages / sizeof contrast_languages[0]; i++)
        if (contrast_languages[i].language == language)
            words->row = &contrast_languages[i];
    tokens_read(question, &read);
    if (!words->row || read.count == TOKENS_MAX)
        return false;
    memset(words->class, WORD_LISTS, sizeof words->class);
    words_take_apart(words, &read);
    for (size_t i = 0; i < words->tokens.count; i++) {
        bool pronoun = words->class[i] == WORD_PRONOUN;
        if (pronoun && i)
            words->class[i - 1] = WORD_VERB; /* "roule" of "roule-t-il" */
        words->class[i] = pronoun ? WORD_PRONOUN : word_class(words, i);
    }
    return words->tokens.count < TOKENS_MAX;
}
