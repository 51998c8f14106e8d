"""A store of objects on this machine, which speaks S3's protocol.

    PYTHONPATH=tests/python python -m objectstores.server

Writes its URL, and serves until its input ends.
"""

from __future__ import annotations

import logging
import sys

from objectstores.faulty import Faults, FaultyStore

BUCKET = "bucket"


def s3a_settings(endpoint: str, *, prefix: str = "") -> dict[str, str]:
    """Return what Hadoop has to know of a server, the names with something before them."""
    settings = {
        "endpoint": endpoint,
        "endpoint.region": "us-east-1",
        "access.key": "any",
        "secret.key": "any",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        # What the client does not try again reaches Spark and the store.
        "attempts.maximum": "2",
        "retry.limit": "2",
        "retry.interval": "50ms",
        "retry.throttle.limit": "2",
        "retry.throttle.interval": "50ms",
    }
    return {f"{prefix}fs.s3a.{name}": value for name, value in settings.items()}


def serve() -> tuple[FaultyStore, dict[str, object]]:
    """Start a store, and what stands before it; return that, and how Python gets past it."""
    # Not everywhere where its settings are asked for.
    import boto3
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = server.get_host_and_port()
    options: dict[str, object] = {
        "key": "any",
        "secret": "any",
        "client_kwargs": {
            "endpoint_url": f"http://{address[0]}:{address[1]}",
            "region_name": "us-east-1",
        },
    }
    boto3.client(
        "s3",
        aws_access_key_id="any",
        aws_secret_access_key="any",  # noqa: S106 - of no use anywhere
        endpoint_url=f"http://{address[0]}:{address[1]}",
        region_name="us-east-1",
    ).create_bucket(Bucket=BUCKET)
    store = FaultyStore(address, Faults(0, 0))
    store.start()
    return store, options


def main() -> None:
    """Run the command."""
    store, _ = serve()
    sys.stdout.write(f"{store.url}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
