"""One set of security settings in two dialects: librdkafka's (our clients) and Java's (Spark's)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from streamgauge.model.errors import UserError

_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_SAME_IN_BOTH = frozenset(
    {
        "security.protocol",
        "sasl.mechanism",
        "ssl.endpoint.identification.algorithm",
        "ssl.key.password",
        "client.id",
        "client.rack",
    }
)
_PEM_FILES = {"ssl.certificate.location": "ssl.keystore.certificate.chain", "ssl.key.location": "ssl.keystore.key"}
_FOR_OUR_CLIENTS_ONLY = frozenset({"broker.address.family", "socket.keepalive.enable", "debug", "log_level"})


def to_librdkafka(given: Mapping[str, str]) -> dict[str, str]:
    """The settings as our clients take them, whichever dialect they were written in."""
    settings = dict(given)
    _rename_mechanism(settings)
    if jaas := settings.pop("sasl.jaas.config", None):
        _login_from_jaas(jaas, settings)
    if location := settings.pop("ssl.truststore.location", None):
        if settings.pop("ssl.truststore.type", "JKS").upper() != "PEM":
            raise UserError(
                "a Java trust store cannot be read by every client here",
                "Export its certificates to a PEM file and set ssl.ca.location to it",
            )
        settings["ssl.ca.location"] = location
    if settings.get("ssl.endpoint.identification.algorithm") == "":
        settings["ssl.endpoint.identification.algorithm"] = "none"
    if settings.pop("ssl.keystore.type", "PKCS12").upper() != "PKCS12":
        raise UserError(
            "only a PKCS12 key store can be read by every client here",
            "Convert it, or set ssl.certificate.location and ssl.key.location to PEM files",
        )
    return settings


def to_java(given: Mapping[str, str]) -> dict[str, str]:
    """The settings as Java clients take them; what has no Java counterpart raises a UserError."""
    left = to_librdkafka(given)
    java = {key: left.pop(key) for key in sorted(_SAME_IN_BOTH & left.keys())}
    for key in _FOR_OUR_CLIENTS_ONLY & left.keys():
        del left[key]
    if "security.protocol" in java:
        java["security.protocol"] = java["security.protocol"].upper()
    if java.get("ssl.endpoint.identification.algorithm") == "none":
        java["ssl.endpoint.identification.algorithm"] = ""
    if "sasl.username" in left or "sasl.password" in left:
        name, secret = left.pop("sasl.username", ""), left.pop("sasl.password", "")
        java["sasl.jaas.config"] = _jaas(java.get("sasl.mechanism", ""), name, secret)
    if "ssl.ca.location" in left:
        java |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": left.pop("ssl.ca.location")}
    if "ssl.keystore.location" in left:
        java |= {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": left.pop("ssl.keystore.location")}
        if "ssl.keystore.password" in left:
            java["ssl.keystore.password"] = left.pop("ssl.keystore.password")
    if _PEM_FILES.keys() & left.keys():
        java["ssl.keystore.type"] = "PEM"
        java |= {_PEM_FILES[key]: _pem(left.pop(key), key) for key in _PEM_FILES if key in left}
    if left:
        raise UserError(
            f"the Kafka setting '{min(left)}' has no counterpart in Spark's Kafka client",
            "Leave it out, or give Spark its own with --set kafka.NAME=VALUE",
        )
    return java


def _rename_mechanism(settings: dict[str, str]) -> None:
    if (plural := settings.pop("sasl.mechanisms", None)) is not None:
        settings.setdefault("sasl.mechanism", plural)
    if "sasl.mechanism" in settings:
        settings["sasl.mechanism"] = settings["sasl.mechanism"].upper()


def _login_from_jaas(jaas: str, settings: dict[str, str]) -> None:
    found = dict(re.findall(r'(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"', jaas))
    if found.keys() != {"username", "password"}:
        raise UserError(
            "sasl.jaas.config has no username and password in quotation marks", "Set sasl.username and sasl.password"
        )
    for key, value in found.items():
        settings[f"sasl.{key}"] = re.sub(r"\\(.)", r"\1", value)


def _jaas(mechanism: str, name: str, secret: str) -> str:
    if mechanism not in _LOGIN_MODULES:
        raise UserError(
            f"sasl.mechanism '{mechanism or 'not set'}' with a username cannot be given to Spark",
            f"Set sasl.mechanism to one of {', '.join(_LOGIN_MODULES)}",
        )
    quoted = (value.replace("\\", "\\\\").replace('"', '\\"') for value in (name, secret))
    return '{} required username="{}" password="{}";'.format(_LOGIN_MODULES[mechanism], *quoted)


def _pem(path: str, key: str) -> str:
    try:
        return Path(path).read_text()
    except OSError as error:
        raise UserError(f"{key}: cannot read {path}: {error.strerror}", "Correct the path in --kafka-config") from None
