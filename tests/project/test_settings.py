"""Settings: arguments before environment before file before default; the unknown and the wrong are refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from everword import ConfigError, Memory, Settings
from everword.config import PREFIX, Secret


def load(folder: Path, environ: dict[str, str] | None = None, **given: object) -> Settings:
    return Settings.load(environ=environ or {}, folder=folder, **given)


def test_the_nearest_source_wins(tmp_path: Path) -> None:
    (tmp_path / "everword.toml").write_text('store = "file.db"\nspace = "file"\nlease_seconds = 5\n')
    settings = load(tmp_path, {"EVERWORD_STORE": "env.db", "EVERWORD_SPACE": "env"}, space="argument")
    assert (settings.space, settings.store, settings.lease_seconds) == ("argument", "env.db", 5)
    assert settings.busy_seconds == Settings().busy_seconds
    assert load(tmp_path, space=None).space == "file"


def test_settings_cannot_be_changed_later() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().store = "elsewhere"  # type: ignore[misc]


def test_the_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('space = "other"')
    assert load(tmp_path, {"EVERWORD_CONFIG": str(tmp_path / "other.toml")}).space == "other"
    with pytest.raises(ConfigError, match="does not exist"):
        load(tmp_path, {"EVERWORD_CONFIG": str(tmp_path / "missing.toml")})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stoer = 'x'", "no setting 'stoer'"),
        ("space = 3", "space must be text"),
        ("lease_seconds = 'soon'", "lease_seconds must be a whole number"),
        ("lease_seconds = 0", "at least 1"),
        ("followers = 'perhaps'", "true or false"),
        ("embedder = 'magic'", "one of static, minilm, multilingual, endpoint"),
        ("store = ''", "store is empty"),
        ("store = ", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_the_reason(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "everword.toml").write_text(text)
    with pytest.raises(ConfigError, match=says) as error:
        load(tmp_path)
    assert "everword.toml" in str(error.value)


@pytest.mark.parametrize(("word", "meant"), [("1", True), ("off", False), ("TRUE", True), ("no", False)])
def test_truth_in_the_environment(tmp_path: Path, word: str, meant: bool) -> None:
    assert load(tmp_path, {"EVERWORD_FOLLOWERS": word}).followers is meant


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="EVERWORD_BUSY_SECONDS: busy_seconds must be a whole number"):
        load(tmp_path, {"EVERWORD_BUSY_SECONDS": "long"})


def test_an_unknown_argument_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no setting 'colour'"):
        Memory(str(tmp_path / "a.db"), colour="red")


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    settings = load(tmp_path, {"EVERWORD_EMBEDDER_KEY": "sk-very-secret"})
    assert settings.embedder_key == "sk-very-secret"
    assert isinstance(settings.embedder_key, Secret)
    for shown in (
        repr(settings),
        f"{settings.embedder_key}",
        f"{settings.embedder_key!r}",
        str([settings.embedder_key]),
    ):
        assert "sk-very" not in shown


def test_every_setting_is_on_the_generated_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    for field in dataclasses.fields(Settings):
        assert f"`{field.name}`" in page
        assert PREFIX + field.name.upper() in page


# -- the name of before


@pytest.mark.parametrize("name", ["STORE", "CONFIG", "TELEGRAM_TOKEN"])
def test_a_variable_with_the_prefix_of_before_is_refused_with_its_name_of_today(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"RECOLLECT_{name} is now called EVERWORD_{name}"):
        load(tmp_path, {f"RECOLLECT_{name}": "x"})


def test_variables_of_another_program_that_begin_alike_are_not_ours(tmp_path: Path) -> None:
    assert load(tmp_path, {"RECOLLECT_SOMETHING_ELSE": "x"}) == load(tmp_path)


def test_a_file_of_settings_under_the_name_of_before_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "recollect.toml").write_text('space = "file"')
    with pytest.raises(ConfigError, match=r"recollect\.toml must now be called everword\.toml"):
        load(tmp_path)
    (tmp_path / "recollect.toml").rename(tmp_path / "everword.toml")
    assert load(tmp_path).space == "file"


def test_no_empty_memory_is_begun_beside_a_default_store_of_before(tmp_path: Path) -> None:
    (tmp_path / "recollect.db").touch()
    with pytest.raises(ConfigError, match=r"Change recollect\.db to everword\.db .* EVERWORD_STORE=recollect\.db"):
        load(tmp_path)
    assert load(tmp_path, {"EVERWORD_STORE": "recollect.db"}).store == "recollect.db"
    (tmp_path / "recollect.db").rename(tmp_path / "everword.db")
    assert load(tmp_path).store == "everword.db"
