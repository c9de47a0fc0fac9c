from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.log.cluster import Cluster
from streamgauge.log.security import to_java, to_librdkafka
from streamgauge.model.errors import UserError


def test_a_plain_cluster_needs_only_the_address() -> None:
    assert Cluster("127.0.0.1:1").spark_options() == {"kafka.bootstrap.servers": "127.0.0.1:1"}


def test_a_login_becomes_jaas_for_spark() -> None:
    cluster = Cluster(
        "host:1",
        {
            "security.protocol": "sasl_ssl",
            "sasl.mechanisms": "scram-sha-512",
            "sasl.username": "me",
            "sasl.password": 'p"w\\',
            "ssl.ca.location": "/ca.pem",
        },
    )
    assert cluster.spark_options() == {
        "kafka.bootstrap.servers": "host:1",
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="me" password="p\\"w\\\\";',
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": "/ca.pem",
    }


def test_java_names_are_understood_by_our_clients() -> None:
    java = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": 'x.PlainLoginModule required username="me" password="se\\"cret";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
        "ssl.endpoint.identification.algorithm": "",
    }
    assert to_librdkafka(java) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "me",
        "sasl.password": 'se"cret',
        "ssl.ca.location": "/ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
    }
    assert to_java(java)["ssl.endpoint.identification.algorithm"] == ""


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_login_survives_the_way_to_java_and_back(name: str, secret: str) -> None:
    given_settings = {"sasl.mechanism": "PLAIN", "sasl.username": name, "sasl.password": secret}
    assert to_librdkafka(to_java(given_settings)) == given_settings


def test_a_client_certificate_is_given_to_spark_as_text(tmp_path: Path) -> None:
    for name in ("certificate", "key"):
        (tmp_path / name).write_text(f"-----BEGIN {name}-----")
    java = to_java(
        {
            "ssl.certificate.location": str(tmp_path / "certificate"),
            "ssl.key.location": str(tmp_path / "key"),
            "ssl.key.password": "secret",
        }
    )
    assert java == {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "-----BEGIN certificate-----",
        "ssl.keystore.key": "-----BEGIN key-----",
        "ssl.key.password": "secret",
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"enable.ssl.certificate.verification": "false"}, "'enable.ssl.certificate.verification' has no counterpart"),
        ({"sasl.mechanism": "GSSAPI", "sasl.username": "a", "sasl.password": "b"}, "'GSSAPI' with a username"),
        ({"sasl.username": "a", "sasl.password": "b"}, "'not set' with a username"),
        ({"ssl.truststore.location": "/a.jks"}, "a Java trust store cannot be read"),
        ({"ssl.keystore.location": "/a.jks", "ssl.keystore.type": "JKS"}, "only a PKCS12 key store"),
        ({"sasl.jaas.config": "nothing"}, "no username and password"),
        ({"ssl.key.location": "/absent"}, "cannot read /absent"),
    ],
)
def test_what_cannot_be_mapped_says_so(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        to_java(settings)
    assert raised.value.way_out
