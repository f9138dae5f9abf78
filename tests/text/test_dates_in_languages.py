"""Times in twelve languages, by the calendars of their packs (G14). The day is Wednesday, 15 May 2024."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from everword.text.dates import days_of, next_after, spans

NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)
DAYS = {
    "yesterday": ("2024-05-14", "2024-05-14"),
    "before yesterday": ("2024-05-13", "2024-05-13"),
    "tomorrow": ("2024-05-16", "2024-05-16"),
    "last week": ("2024-05-06", "2024-05-12"),
    "next week": ("2024-05-20", "2024-05-26"),
    "next month": ("2024-06-01", "2024-06-30"),
    "last year": ("2023-01-01", "2023-12-31"),
    "three days ago": ("2024-05-12", "2024-05-12"),
    "in two weeks": ("2024-05-29", "2024-05-29"),
    "since 2017": ("2017-01-01", "2024-05-15"),
    "24 March": ("2024-03-24", "2024-03-24"),
    "5 August 2021": ("2021-08-05", "2021-08-05"),
    "September 2022": ("2022-09-01", "2022-09-30"),
    "next Friday": ("2024-05-17", "2024-05-17"),
}
TIMES = {
    "yesterday": """Gestern war ich im Kino | Ayer fui al cine con ella | Hier je suis allé au ciné
        | Ontem fui ao cinema | Ieri sono andato al cinema | Вчера я был в кино | Dün sinemaya gittim
        | ذهبت أمس إلى السينما | कल मैं सिनेमा गया था | 我昨天去看电影了 | 昨日は映画を見ました
        | 어제 영화를 봤어요 | kal main cinema gaya tha | embare7 ana kont fel cinema""",
    "before yesterday": """Vorgestern kam sie an | anteayer llegó mi hermana | avant-hier elle est arrivée
        | позавчера она приехала""",
    "tomorrow": """Morgen früh fliege ich | Mañana por la mañana viajo a Roma | Demain matin je pars
        | Amanhã de manhã eu viajo | Domani mattina parto per Roma | Завтра утром я улетаю
        | Yarın sabah uçuyorum | سأسافر غدا إلى روما | 明天早上我要飞 | 明日の朝に出発します
        | 내일 아침에 출발해요""",
    "last week": """Letzte Woche war ich krank | la semana pasada estuve mala | la semaine dernière j'étais malade
        | semana passada eu fiquei doente | la settimana scorsa ero malato | на прошлой неделе я болел
        | geçen hafta hastaydım | كنت مريضا الأسبوع الماضي | पिछले हफ्ते मैं बीमार था | 上周我生病了
        | 先週は病気でした | 지난주에 아팠어요""",
    "next week": """nächste Woche habe ich frei | la semana que viene tengo libre
        | la semaine prochaine je suis libre | na semana que vem estou livre
        | la prossima settimana sono libero | на следующей неделе я свободен | haftaya izinliyim ben
        | الأسبوع القادم عندي إجازة | अगले हफ्ते मेरी छुट्टी है | 下个星期我放假 | 来週は休みです
        | 다음 주에 쉬어요""",
    "next month": """nächsten Monat ziehen wir um | el mes que viene nos mudamos | le mois prochain on déménage
        | no próximo mês vamos mudar | il mese prossimo traslochiamo | в следующем месяце мы переезжаем
        | gelecek ay taşınıyoruz biz | سننتقل الشهر المقبل | अगले महीने हम घर बदलेंगे | 下个月我们搬家
        | 来月引っ越します | 다음 달에 이사해요""",
    "last year": """letztes Jahr war ich dort | el año pasado estuve allí | l'année dernière j'y étais
        | no ano passado eu estive lá | l'anno scorso ero lì | в прошлом году я был там
        | geçen yıl oradaydım ben | كنت هناك العام الماضي | पिछले साल मैं वहाँ था | 去年我在那里
        | 去年そこにいました | 작년에 거기 있었어요""",
    "three days ago": """vor drei Tagen ist es passiert | pasó hace tres días | c'est arrivé il y a trois jours
        | aconteceu há três dias | è successo tre giorni fa | это было три дня назад
        | üç gün önce oldu bu | حدث ذلك قبل ثلاثة أيام | यह तीन दिन पहले हुआ | 三天前发生的
        | 3日前に起きました | 3일 전에 일어났어요""",
    "in two weeks": """in zwei Wochen ist es so weit | dentro de dos semanas me voy | dans deux semaines je pars
        | daqui a duas semanas eu vou | tra due settimane parto | через две недели я уезжаю
        | iki hafta sonra gidiyorum ben | سأسافر بعد أسبوعين | दो हफ्ते बाद मैं जाऊँगा | 两周后我走
        | 2週間後に行きます | 2주 후에 가요""",
    "since 2017": """ich wohne seit 2017 hier | vivo aquí desde 2017 | j'habite ici depuis 2017
        | moro aqui desde 2017 | abito qui dal 2017 | я живу здесь с 2017 года
        | 2017'den beri burada yaşıyorum | أعيش هنا منذ 2017 | मैं 2017 से यहाँ हूँ
        | 我从2017年开始住在这里 | 2017年からここに住んでいます | 2017년부터 여기 살아요""",
    "24 March": """am 24. März war Probe | el 24 de marzo hubo ensayo | le 24 mars il y avait répétition
        | dia 24 de março teve ensaio | il 24 marzo c'era la prova | 24 марта была репетиция
        | 24 Mart'ta prova vardı | كان التدريب يوم 24 مارس | 24 मार्च को अभ्यास था | 3月24日我们排练了
        | 3月24日に練習がありました | 3월 24일에 연습이 있었어요""",
    "5 August 2021": """sie wurde am 5. August 2021 geboren | nació el 5 de agosto de 2021
        | elle est née le 5 août 2021 | ela nasceu em 5 de agosto de 2021 | è nata il 5 agosto 2021
        | она родилась 5 августа 2021 года | 5 Ağustos 2021'de doğdu o | ولدت في 5 أغسطس 2021
        | वह 5 अगस्त 2021 को पैदा हुई | 她2021年8月5日出生 | 彼女は2021年8月5日に生まれました
        | 2021년 8월 5일에 태어났어요""",
    "September 2022": """im September 2022 begann es | empezó en septiembre de 2022 | ça a commencé en septembre 2022
        | começou em setembro de 2022 | è iniziato a settembre 2022 | это началось в сентябре 2022 года
        | Eylül 2022'de başladı bu iş | بدأ ذلك في سبتمبر 2022 | यह सितंबर 2022 में शुरू हुआ
        | 2022年9月开始的 | 2022年9月に始まりました | 2022년 9월에 시작했어요""",
    "next Friday": """nächsten Freitag komme ich | el próximo viernes vengo yo | vendredi prochain je viens
        | na próxima sexta eu venho | venerdì prossimo vengo io | в следующую пятницу я приду
        | cuma günü geliyorum ben | سآتي يوم الجمعة القادم | 这周五我来 | 今週の金曜日に行きます
        | 이번 주 금요일에 갈게요""",
}
EACH = [(name, text.strip()) for name, texts in TIMES.items() for text in texts.split("|")]


@pytest.mark.parametrize(("name", "text"), EACH)
@pytest.mark.checklist("G14")
def test_a_time_is_read_in_each_language(name: str, text: str) -> None:
    first, last = (date.fromisoformat(day) for day in DAYS[name])
    assert [
        span.text for span in spans(text, NOW) if (first, last) in (days_of(span), days_of(next_after(span, NOW)))
    ], spans(text, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "Guten Morgen zusammen",
        "Ich habe immer Hunger",
        "tengo dos hermanos y una gata",
        "Non ci vado mai, te lo giuro",
        "quarta posizione in classifica, bravo",
        "у меня две кошки",
        "मैं निकल रही हूँ",
        "毎週水曜はジムです",
        "cuma günleri evden çalışıyorum",
        "我有两只猫",
        "猫が二匹います",
        "고양이 두 마리가 있어요",
        "मेरी दो बिल्लियाँ हैं",
        "عندي قطتان في البيت",
    ],
)
def test_what_is_no_time_gives_none(text: str) -> None:
    assert spans(text, NOW) == ()


def test_a_span_names_the_words_of_the_text() -> None:
    span = spans("Wir sind — glaube ich — übernächste Woche in Köln", NOW)[0]
    assert span.text == "übernächste Woche"
    assert (span.start.date(), days_of(span)) == (date(2024, 5, 27), (date(2024, 5, 27), date(2024, 6, 2)))
