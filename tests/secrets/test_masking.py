"""What is masked in a text of ours (G10): every credential, in any place and form, and nothing that a reader needs."""

from __future__ import annotations

import json
import logging
import pickle
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.config import Secret, Settings
from everword.errors import ConfigError, InvalidInput, StoreUnwritable
from everword.masking import STARS, MaskingFormatter, mask_credentials, masked_logger

PLANTED = "pl4nted"
PLACES = [
    "postgresql://al:{}@host/db",
    "postgresql://al:{}@at@host:5432/db",
    "postgresql://al:a@{}@host,other:5433/db?sslmode=require",
    "postgresql://al:a/b:{}?c#d@host/db",
    "postgresql://al:%40{}%2F@host/db",
    "postgresql://:{}@host/db",
    "postgresql+psycopg://al@server:{}@host/db",
    "postgresql://al@host/db?password={}",
    "postgresql://al@host/db?sslmode=require&password={}&user=al",
    "postgresql://al@host/db?sslpassword={}",
    "host=h password={} port=1",
    "host=h password='a {} \\' b' port=1",
    'host=h password="a {} b" port=1',
    "host=h password=a\\ {} port=1",
    "https://{}@host/v1",
    "https://al:{}@host/v1",
    "https://host/v1?token={}",
    "https://host/v1?a=b&api_key={}#x",
    "https://host/v1?key={}",
    "https://host/v1?sig={}&x=1",
    "https%3A%2F%2Fhost%2F%3Fpassword%3D{}",
    "EVERWORD_CHAT_KEY={}",
    "{{'Authorization': 'Bearer {}'}}",
    '{{"password": "a \\" {}", "user": "al"}}',
    "Authorization: Basic {}",
    "[(b'authorization', b'Bearer {}')]",
    "Cookie: everword_session=a; other={}",
    "X-API-Key: {}",
    "Bearer abc1{}",
]
TOKENS = {
    "everword key": "rk_0123456789abcdef_" + "aB3-_" * 8,
    "OpenAI key": "sk-proj-" + "aB3" * 10,
    "Stripe key": "sk_live_" + "aB3" * 6,
    "GitHub token": "ghp_" + "aB3" * 12,
    "GitLab token": "glpat-" + "aB3" * 8,
    "AWS key id": "AKIA" + "ABCD1234" * 2,
    "Google key": "AIza" + "aB3-_" * 7,
    "Slack token": "xoxb-1234-5678-" + "aB3" * 6,
    "Hugging Face token": "hf_" + "aB3" * 12,
    "SendGrid key": "SG." + "aB3" * 8 + "." + "aB3" * 12,
    "npm token": "npm_" + "aB3" * 12,
    "PyPI token": "pypi-" + "aB3" * 20,
    "Telegram token": "123456789:AA" + "aB3-_" * 7,
    "Discord token": "MTIz" + "aB3d" * 5 + ".GaBcDe." + "aB3-_" * 6,
    "JSON web token": "eyJhbGciOi.eyJzdWIiOi.aB3-_aB3",
}
PLAIN = [
    "postgresql://al@host:5432/db: the server went away (Connection refused); nothing was written, try again",
    "model at http://localhost:11434/v1 cannot be reached; check the address and that the server runs",
    "write postgresql://user:password@host/database",
    "chat_key: is empty; token: must be set; password: wrong",
    "tokenizer=estimate max_tokens=4096 prompt_tokens=12",
    "a Basic understanding of Bearer authentication",
    "message 0193ad1c-5f0e-7cc3-98c4-dc0c0c07398f of 'chat' in space 'default' cannot be read",
    "root 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "send `Authorization: Bearer KEY` with every request; send `Authorization: Bearer …`",
    "5 monkeys=5 keyboards; author=al",
    "at 12:30:45 on 2024-05-01, 10:32 - mail a@b.example",
]


@pytest.mark.parametrize("place", PLACES)
def test_a_password_is_masked_in_every_place(place: str) -> None:
    text = f"it failed: {place.format(PLANTED)} (try again)"
    masked = mask_credentials(text)
    assert PLANTED not in masked
    assert STARS in masked
    assert masked.startswith("it failed: ")
    assert mask_credentials(masked) == masked


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_of_a_well_known_format_is_masked(kind: str) -> None:
    for text in (TOKENS[kind], f"no luck with {TOKENS[kind]}.", f"/bot{TOKENS[kind]}/x", f"['{TOKENS[kind]}']"):
        assert TOKENS[kind][-8:] not in mask_credentials(text)


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_credential_stays_readable(text: str) -> None:
    assert mask_credentials(text) == text


@pytest.mark.parametrize(
    "secret", ["Zx9-one", "zx9 two/&=@:'\"\\ é", "zxninewithoutanynumber", "12345678:zx9" + "k" * 20]
)
def test_a_secret_that_we_were_given_is_masked_in_every_form(secret: str) -> None:
    Secret(secret)
    for form in (secret, quote(secret), quote(secret, safe=""), json.dumps(secret), repr(secret)):
        assert mask_credentials(f"no luck with {form}!").startswith("no luck with "), form
        assert form.strip("'\"") not in mask_credentials(f"no luck with {form}!")


@pytest.mark.parametrize("word", ["ollama", "none", "EMPTY", "postgres"])
def test_a_key_that_is_a_common_word_masks_no_word(word: str) -> None:
    Settings(store=f"postgresql://{word}:{word}@host/{word}", chat_key=Secret(word))
    assert mask_credentials(f"{word} cannot be reached") == f"{word} cannot be reached"


def test_the_password_of_a_setting_is_masked_in_the_parts_that_a_driver_makes_of_it() -> None:
    Settings(store="postgresql://al:f1rst-part@s3cond-part@host/db?password=th1rd-part")
    message = 'could not translate host name "s3cond-part@host"; f1rst-part; th1rd-part'
    assert "part" not in mask_credentials(message)


def test_errors_hold_no_credential_however_they_are_looked_at() -> None:
    url = f"postgresql://al:{PLANTED}@host/db"
    for error in (ConfigError(f"store: {url}"), InvalidInput("url", f"is {url}"), StoreUnwritable(url, url)):
        again = pickle.loads(pickle.dumps(error))
        assert PLANTED not in f"{error} {error!r} {error.args} {vars(error)} {again} {again!r}"


def test_settings_show_no_credential() -> None:
    shown = repr(Settings(store=f"postgresql://al:{PLANTED}@host/db", chat_key=Secret("zx9-in-settings")))
    assert PLANTED not in shown
    assert "zx9" not in shown
    assert "space='default'" in shown


def test_a_logger_of_ours_gives_no_credential_to_any_handler(caplog: pytest.LogCaptureFixture) -> None:
    logger = masked_logger("everword.test")
    try:
        raise ValueError(f"https://al:{PLANTED}@host/")
    except ValueError as error:
        logger.warning("it failed: %s", error, exc_info=True)
    logger.warning("password=%s", PLANTED)
    assert PLANTED not in caplog.text
    assert "ValueError: https://al:***@host/" in caplog.text
    assert logging.getLogger("everword.test").filters == logger.filters[:1]


def test_a_formatter_of_ours_masks_what_libraries_log() -> None:
    record = logging.LogRecord("httpx", logging.INFO, "", 0, "GET %s", (f"https://h/?token={PLANTED}",), None)
    assert MaskingFormatter().format(record) == "GET https://h/?token=***"


@settings(max_examples=sample(100))
@given(st.text(), st.sampled_from(PLACES), st.text())
def test_whatever_is_around_it_a_password_is_masked(before: str, place: str, after: str) -> None:
    assert PLANTED not in mask_credentials(f"{before} {place.format(PLANTED)} {after}")


@pytest.mark.parametrize(
    "unit",
    [
        "http://a:",
        "password=",
        "'password':'",
        "eyJ",
        "a-",
        "Authorization:",
        "M",
        "1",
        "_key",
        "a@",
        "sk-a.",
        "=",
        "\\",
    ],
)
def test_the_longest_texts_take_a_moment(unit: str) -> None:
    # Were any step quadratic, this would take minutes.
    mask_credentials(unit * (64_000 // len(unit)))
