"""The terms of a text, the groups of a query, and passages."""

from __future__ import annotations

import sqlite3
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.text.terms import MAX_GROUPS, MAX_TERM, MAX_TERMS, analyse, passages, query_groups, word_terms

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
# Letters and joints in the proportions of chat, from many scripts: st.text() alone rarely makes a word.
CHAT = st.text(
    st.sampled_from(
        list("aaeeiioonnrtsdlABZ019 .,'’-_+#@&:/éäßıøñ中国猫がパัทที่한국أةيمनीлаёйσά👍🏽🇩🇪\u200d\u200c\u0301")
    ),
    max_size=60,
)


def found(document: str, query: str) -> bool:
    """Whether a search for `query` in an index that holds only `document` has something to go by."""
    analysed = analyse(document)
    return any(term in analysed.terms for group in query_groups(query, [analysed.language]) for term in group)


def terms(text: str, language: str | None = None) -> list[str]:
    return list(analyse(text, language).terms)


class TestEnglish:
    def test_stems_without_function_words_in_order_and_with_repetition(self) -> None:
        analysed = analyse("The dogs were running, and a dog runs.")
        assert analysed.language == "en"
        assert analysed.terms == ("dog", "run", "dog", "run")

    @pytest.mark.parametrize("text", ["who is it?", "I do", "What did you do?", "don't"])
    def test_a_text_of_function_words_only_keeps_them(self, text: str) -> None:
        assert terms(text)
        assert found(text, text)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Mel's car", "mel cars"),
            ("café", "cafe"),
            ("CAFÉ", "cafe\u0301"),
            ("résumés", "resumes"),
            ("Mel’s", "Mel's"),
            ("Straße", "STRASSE"),
            ("ﬁles", "files"),
            ("co\u00adoperate", "cooperate"),
            ("ＡＢＣ１２", "abc12"),
        ],
    )
    def test_two_spellings_are_one_term(self, one: str, other: str) -> None:
        assert terms(one, "en") == terms(other, "en")

    @pytest.mark.parametrize("word", ["home", "work", "name", "like", "computer"])
    def test_words_of_matter_are_kept(self, word: str) -> None:
        assert len(terms(f"it is my {word}")) == 1

    def test_contractions_are_function_words(self) -> None:
        assert terms("I'm sure they don't, it's what we've said and she'll agree") == ["sure", "said", "agre"]


class TestNamesAndNumbers:
    @pytest.mark.parametrize(
        ("document", "queries"),
        [
            ("released in 2023", ["2023"]),
            ("it costs 3.5 dollars", ["3.5", "3", "5"]),
            ("Python 3.11.4 is out", ["3.11", "3.11.4", "Python 3"]),
            ("v3.11", ["3.11"]),
            ("at 10:30am", ["10:30", "10:30 am", "10", "30"]),
            ("at 10am", ["10 am", "10am"]),
            ("1,000 people", ["1000", "1,000"]),
            ("on March 15th", ["March 15", "15", "15th"]),
            ("on 2023-05-07", ["2023-05-07", "2023"]),
            ("in the 90s", ["90s", "90"]),
            ("٢٠٢٣", ["2023"]),
            ("getUserName fails", ["getUserName", "getusername", "user name", "username user"]),
            ("HTTPServer2 is slow", ["server", "httpserver2"]),
            ("max_cache_size", ["cache size", "max_cache_size", "cache"]),
            ("src/everword/main.py", ["main.py", "everword", "main"]),
            ("see https://www.example.com/blog/foo-bar?x=1", ["example.com", "foo bar", "blog"]),
            ("jane.doe@example.com", ["jane.doe@example.com", "jane", "doe", "example"]),
            ("ask @alex about #MyTag", ["alex", "@alex", "#MyTag", "mytag", "tag"]),
            ("a well-known e-mail", ["known", "well-known", "email", "mail", "e-mail"]),
            ("wi-fi", ["wifi", "wi-fi"]),
            ("the U.S.A. at 5 p.m.", ["USA", "U.S.A.", "pm"]),
            ("R&D at AT&T", ["R&D", "AT&T", "att"]),
            ("O'Brien", ["obrien", "O'Brien", "brien"]),
            ("node.js", ["nodejs", "node.js", "node"]),
            ("Istanbul'da", ["Istanbul"]),
            ("iPhone15", ["iphone", "iPhone 15", "iphone15", "phone"]),
        ],
    )
    def test_is_found_by_what_people_type(self, document: str, queries: list[str]) -> None:
        for query in queries:
            assert found(document, query), query

    @pytest.mark.parametrize(
        ("name", "term"),
        [("c++", "cplusplus"), ("C#", "csharp"), (".NET", "dotnet"), ("F#", "fsharp"), ("C++20", "cplusplus")],
    )
    def test_languages_named_by_a_sign_are_not_their_letter(self, name: str, term: str) -> None:
        assert term in terms(f"I write {name} daily")
        assert not found(f"I write {name} daily", "c f")
        assert found(f"I write {name} daily", name)
        assert not found("I write c daily", name)

    def test_whole_versions_tell_texts_apart(self) -> None:
        assert set(terms("3.11")) - set(terms("3.12 and 4.11")) == {"3p11"}

    def test_emoji_are_terms(self) -> None:
        assert terms("😀") == ["u1f600"]
        assert terms("nice ❤️👍🏽 🇩🇪") == ["nice", "u2764", "u1f44d", "u1f1e9u1f1ea"]
        assert found("see you 👍", "👍🏽")
        assert terms("👨\u200d👩\u200d👧") == ["u1f468", "u1f469", "u1f467"]

    def test_a_trade_mark_sign_is_no_letter(self) -> None:
        assert terms("Foo™") == ["foo"]


class TestLanguages:
    @pytest.mark.parametrize(
        ("document", "query"),
        [
            ("Ich habe zwei Häuser in München gekauft", "Haus"),
            ("Ich habe zwei Häuser in München gekauft", "Haeuser"),
            ("J'ai acheté des chevaux à l'hôtel", "hotel"),
            ("Mis hermanas viven en Málaga", "hermana"),
            ("Le mie sorelle abitano nell'appartamento", "appartamento"),
            ("Minhas irmãs moram em São Paulo", "sao paulo"),
            ("Mijn zussen wonen in Utrecht", "zus"),
            ("Mina bilar står på gatan i Malmö", "bilarna"),
            ("İstanbul'da üç kitap aldım çünkü ucuzdu", "kitaplar"),
            ("Moje książki są w domu", "książka"),
            ("Мои собаки живут в доме", "собака"),
            ("Ёлка стоит у нас дома", "елка"),
            ("Οι άνθρωποι είναι στην Αθήνα", "ανθρωπος"),
            ("ذهبت إلى المدرسة", "مدرسه"),
            ("مَدْرَسَةٌ كبيرة", "مدرسة"),
            ("أحمد في البيت", "احمد"),
            ("من کتاب‌ها را می‌خواهم", "کتاب"),
            ("من كتاب را دارم", "کتاب"),
            ("मेरी लड़कियाँ यहाँ हैं", "लड़की"),
            ("שָׁלוֹם חבר", "שלום"),
            ("l'intel·ligència és aquí amb nosaltres", "intelligència"),
        ],
    )
    def test_another_form_of_the_word_finds_it(self, document: str, query: str) -> None:
        assert found(document, query)

    def test_function_words_go_by_language(self) -> None:
        assert terms("Die Hunde und der Hund") == ["hund", "hund"]
        assert "die" in terms("They die young, and that is all there is")

    def test_a_word_in_another_script_is_treated_by_its_own(self) -> None:
        assert terms("собаки", "en") == terms("собака", "en")
        assert terms("我喜欢running", "zh")[-1] == "run"

    def test_a_language_we_have_no_stemmer_for_keeps_its_words_whole(self) -> None:
        assert terms("running dogs", "xx") == ["running", "dogs"]

    def test_turkish_capitals_are_the_same_word(self) -> None:
        assert terms("IŞIK", "tr") == terms("ışık", "tr")


class TestScriptsWithoutSpaces:
    @pytest.mark.parametrize(
        ("document", "query"),
        [
            ("我住在北京", "北京"),
            ("我住在北京", "京"),
            ("今天我们去吃火锅", "火锅好吃吗"),
            ("私は猫が好きです", "猫"),
            ("私は猫が好きです", "猫は好き？"),
            ("昨日コンピューターを買った", "コンピューター"),
            ("ฉันอยู่ที่กรุงเทพมหานคร", "กรุงเทพ"),
            ("ຂ້ອຍຢູ່ວຽງຈັນ", "ວຽງຈັນ"),
            ("ខ្ញុំរស់នៅភ្នំពេញ", "ភ្នំពេញ"),
            ("ကျွန်တော်ရန်ကုန်မှာနေပါတယ်", "ရန်ကုန်"),
            ("학교에서 만났어요", "학교"),
            ("집에서 쉬었다", "집"),
            ("我用Python写代码", "python"),
            ("会议在2023年", "2023"),
        ],
    )
    def test_a_part_of_a_run_finds_it(self, document: str, query: str) -> None:
        assert found(document, query)

    def test_a_character_more_or_less_is_not_a_match(self) -> None:
        assert not found("我住在北京", "上海")
        assert not found("学校里有很多人", "北京天安门")

    def test_marks_stay_with_their_letter(self) -> None:
        for term in terms("ที่นี่ กรุงเทพ ភ្នំពេញ"):
            assert not unicodedata.category(term[0]).startswith("M")

    def test_pairs_overlap_and_single_ideographs_are_indexed(self) -> None:
        assert terms("北京市") == ["北京", "京市", "北", "京", "市"]
        assert query_groups("北京市", ["zh"]) == [("北京",), ("京市",)]


class TestTerms:
    def test_a_long_word_is_cut_and_still_told_from_its_like(self) -> None:
        one, other = terms("x" * 200 + "a"), terms("x" * 200 + "b")
        assert len(one[0]) == len(other[0]) == MAX_TERM
        assert one != other
        assert one == terms("x" * 200 + "a")

    def test_a_text_has_a_bounded_number_of_terms(self) -> None:
        assert len(terms("word " * 50_000)) == MAX_TERMS

    def test_the_order_of_texts_before_does_not_matter(self) -> None:
        before = terms("Running dogs in Zürich")
        for number in range(21_000):  # more words than stems are remembered
            analyse(f"filler{number}", "en")
        assert terms("Running dogs in Zürich") == before

    def test_threads_agree(self) -> None:
        texts = [f"running{n} Häuser{n % 7} générations{n} mit der und le les" for n in range(400)]
        alone = [analyse(text + "!", "de").terms for text in texts]
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda text: analyse(text + "!", "de").terms, texts))
        assert together == alone

    @settings(deadline=None, max_examples=sample(60))
    @given(st.one_of(ANY_TEXT, CHAT), st.sampled_from([None, "en", "de", "tr", "ar", "ru", "zh", "xx"]))
    def test_every_term_is_letters_digits_and_marks(self, text: str, language: str | None) -> None:
        for term in analyse(text, language).terms:
            assert 0 < len(term) <= MAX_TERM
            assert all(unicodedata.category(c)[0] in "LNM" for c in term)

    @settings(deadline=None, max_examples=sample(60))
    @given(st.lists(st.one_of(ANY_TEXT, CHAT), min_size=1, max_size=5))
    def test_full_text_search_keeps_every_term_whole(self, texts: list[str]) -> None:
        database = sqlite3.connect(":memory:")
        tokenizer = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
        database.execute(f'create virtual table t using fts5(x, tokenize="{tokenizer}")')
        database.execute("create virtual table v using fts5vocab(t, 'row')")
        expected = {term for text in texts for term in analyse(text).terms}
        for text in texts:
            database.execute("insert into t values (?)", (" ".join(analyse(text).terms),))
        assert {term for (term,) in database.execute("select term from v")} == expected
        database.close()

    @settings(deadline=None, max_examples=sample(60))
    @given(st.one_of(ANY_TEXT, CHAT))
    def test_a_word_that_was_indexed_finds_its_document(self, text: str) -> None:
        analysed = analyse(text)
        for word in text.split():
            indexed = analyse(word, analysed.language).terms
            if indexed and set(indexed) <= set(analysed.terms):
                groups = query_groups(word, [analysed.language])
                assert any(term in analysed.terms for group in groups for term in group), word

    @settings(deadline=None)
    @given(
        st.lists(st.text(st.sampled_from("bcdfghklmnprstvzaeiou"), min_size=6, max_size=12), min_size=1, max_size=8),
        st.sampled_from(["en", "de", "fr", "fi", "und"]),
    )
    def test_a_plain_word_always_finds_its_document(self, words: list[str], language: str) -> None:
        indexed = analyse(" ".join(words), language).terms
        for word in words:
            assert any(term in indexed for group in query_groups(word, [language]) for term in group)


class TestQueryGroups:
    def test_a_word_stands_for_its_term_in_every_language_of_the_index(self) -> None:
        [group] = query_groups("Universitäten", ["de", "en"])
        assert set(group) >= {*terms("Universitäten", "de"), *terms("Universitäten", "en")}
        assert len(group) == len(set(group))

    def test_a_query_without_accents_finds_the_text_that_has_none_either(self) -> None:
        [group] = query_groups("générations", ["fr"])
        assert terms("generations", "fr")[0] in group

    def test_function_words_are_left_out_unless_there_is_nothing_else(self) -> None:
        assert query_groups("What is the name of my dog?", ["en"]) == [("name",), ("dog",)]
        assert query_groups("who is it", ["en"]) == [("who",), ("is",), ("it",)]

    def test_forms_of_one_word_are_one_group(self) -> None:
        assert query_groups("dog dogs DOG dog's", ["en"]) == [("dog",)]

    @pytest.mark.parametrize("query", ["", "   ", "?!", "***", '"""', "()^:-*", "\x00", "\ud800", "…", "\u0301"])
    def test_without_a_word_there_is_nothing_to_ask(self, query: str) -> None:
        assert query_groups(query, ["en"]) == []

    def test_operators_are_words_like_any_other(self) -> None:
        groups = query_groups('AND OR NOT NEAR(dog cat, 5) col:term* ^"first" -minus {a} +b \x00 \'; DROP', ["en"])
        assert [group[0] for group in groups] == [
            "near",
            "dog",
            "cat",
            "5",
            "col",
            "term",
            "first",
            "minus",
            "b",
            "drop",
        ]

    def test_a_long_query_is_cut_to_its_longest_words_in_order(self) -> None:
        short = [f"w{n}" for n in range(100)]
        long = [f"extraordinary{n}x" for n in range(MAX_GROUPS)]
        mixed = [word for pair in zip(short, long, strict=False) for word in pair] + short
        groups = query_groups(" ".join(mixed), [])
        assert [group[0] for group in groups] == long

    @pytest.mark.parametrize(
        "piece", ["hello world. ", "x", "中", "a.", "l'", "(", "😀", "aB", "\n", " ", "c++", "\u0301", "1,", "l·l"]
    )
    def test_five_megabytes_of_anything_are_taken(self, piece: str) -> None:
        text = piece * (5_000_000 // len(piece.encode()))
        assert len(query_groups(text, ["en", "de"])) <= MAX_GROUPS
        assert len(analyse(text).terms) <= MAX_TERMS

    @settings(deadline=None, max_examples=sample(60))
    @given(st.one_of(ANY_TEXT, CHAT), st.lists(st.sampled_from(["en", "de", "ar", "zh", "xx", "und"]), max_size=3))
    def test_any_input_gives_groups_of_distinct_terms(self, text: str, languages: list[str]) -> None:
        groups = query_groups(text, languages)
        assert len(groups) == len(set(groups)) <= MAX_GROUPS
        for group in groups:
            assert len(group) == len(set(group)) > 0
            assert all(unicodedata.category(c)[0] in "LNM" for term in group for c in term)
        assert groups == query_groups(text, list(reversed(languages)))


class TestPassages:
    @pytest.mark.parametrize("text", ["", " \n ", "Hello there.\n\n  How are you?  ", "我住在北京" * 10])
    def test_a_short_text_is_one_passage_as_it_is(self, text: str) -> None:
        assert passages(text) == [text]

    def test_cuts_between_paragraphs_first(self) -> None:
        paragraphs = [f"Paragraph {n} is about something. It has two sentences." for n in range(9)]
        assert passages("\n\n".join(paragraphs), words=10) == paragraphs

    def test_then_between_sentences_then_words_then_characters(self) -> None:
        assert (
            passages("One sentence here. Another one there. " * 2, words=4)
            == [
                "One sentence here.",
                "Another one there.",
            ]
            * 2
        )
        assert passages("alpha beta gamma delta", words=2) == ["alpha beta", "gamma delta"]
        assert passages("x" * 20, words=1) == ["x" * 6, "x" * 6, "x" * 6, "xx"]

    def test_small_paragraphs_share_a_passage(self) -> None:
        assert passages("one\n\ntwo\n\nthree\n\n" * 10, words=100) == ["one\n\ntwo\n\nthree\n\n" * 10]
        assert len(passages("one\n\ntwo\n\nthree\n\n" * 10, words=10)) < 10

    def test_scripts_without_spaces_are_cut_at_sentences_and_characters(self) -> None:
        sentence = "今天我们一起去吃火锅。"
        assert passages(sentence * 4, words=6) == [sentence] * 4
        assert max(map(len, passages("中" * 1_000, words=10))) == 20

    def test_letters_keep_their_marks(self) -> None:
        for passage in passages("ที่" * 300, words=5):
            assert not unicodedata.category(passage[0]).startswith("M")

    def test_five_megabytes_give_many_small_passages(self) -> None:
        found = passages("No line here ends before its time. " * 150_000)
        assert len(found) > 1_000
        assert max(map(len, found)) <= 320 * 6

    def test_a_long_text_of_nothing_has_no_passages(self) -> None:
        assert passages(" \n" * 10_000) == []

    @settings(deadline=None, max_examples=sample(60))
    @given(
        st.one_of(
            ANY_TEXT, CHAT, st.lists(CHAT, max_size=8).map("\n\n".join), st.lists(CHAT, max_size=8).map(". ".join)
        ),
        st.integers(1, 12),
    )
    def test_passages_are_small_and_miss_nothing(self, text: str, words: int) -> None:
        found = passages(text, words)
        assert "".join("".join(found).split()) == "".join(text.split())
        assert all(len(passage) <= 6 * words for passage in found)
        assert len(found) < 2 or all(passage.strip() == passage != "" for passage in found)


@pytest.mark.parametrize("word", ["running", "the", "Rome", "it's", "iPhone15", "3", "l'homme", "straße", "", "x" * 80])
@pytest.mark.parametrize("language", ["en", "de", "und"])
def test_the_terms_of_a_word_are_those_of_a_text(word: str, language: str) -> None:
    assert word_terms(word, language) == analyse(word, language).terms
