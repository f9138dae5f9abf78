"""A secret that was found is one wherever it is repeated, and many of them do not take the square of their number."""

from __future__ import annotations

import time

from everword.log.secret_policy import MOST_REPEATED, SecretPolicy, find_all, masked
from everword.secrets import mask_text


def test_a_repeated_secret_is_masked_without_the_words_that_gave_it_away() -> None:
    text = "my password is tr0ub4dor; tr0ub4dor was easy, tr0ub4dors are not it"
    assert mask_text(text, find_all(text)) == (
        "my password is [secret: password]; [secret: password] was easy, tr0ub4dors are not it"
    )
    policy = SecretPolicy().after_texts([text])
    assert policy.mask("It was tr0ub4dor.") == "It was [secret: password]."


def test_what_holds_another_secret_is_masked_as_a_whole() -> None:
    earlier = {"hunter2": "password", "hunter2 hunter2": "passphrase"}
    assert masked("say hunter2 hunter2 now, or hunter2", earlier) == (
        "say [secret: passphrase] now, or [secret: password]"
    )


def test_many_secrets_take_time_in_proportion_to_their_text() -> None:
    def seconds(count: int) -> float:
        text = "\n".join(f"password is a{number}b!c{number * 7}" for number in range(count))
        begun = time.process_time()
        assert len(find_all(text)) == count
        return time.process_time() - begun

    fewer = min(seconds(1_000) for _ in range(3))
    assert min(seconds(4_000) for _ in range(3)) < 8 * fewer


def test_only_so_many_secrets_of_before_are_looked_for() -> None:
    texts = [f"password is a{number}b!c{number * 7}" for number in range(2 * MOST_REPEATED)]
    policy = SecretPolicy().after_texts(texts)
    assert len(policy.earlier) == MOST_REPEATED
    last = texts[-1].removeprefix("password is ")
    assert policy.mask(f"again {last}") == "again [secret: password]"
