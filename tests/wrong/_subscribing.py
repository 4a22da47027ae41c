"""A client that hears of resources too, each by a stream of its own. By itself it breaks nothing."""

from __future__ import annotations

from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.subscription import Subscription

from tests.wrong._client import Client

__all__ = ["ResourceStream", "Subscribes"]


class ResourceStream(Subscription):
    """The listen stream of one resource."""

    uri = ""

    def filter(self):
        return {"notifications": {"resourceSubscriptions": [self.uri]}}


class Subscribes(Client):
    """Gives the verb `subscribe_resource`."""

    stream_type = ResourceStream

    class connection_type(Connection):
        def __init__(self, *parts):
            super().__init__(*parts)
            self.streams = []

    class notices_type(Notices):
        async def hear(self, connection, frame):
            await super().hear(connection, frame)
            for stream in connection.streams:
                if frame.method == "notifications/subscriptions/acknowledged":
                    stream.acknowledged(frame)
                elif frame.method == "notifications/cancelled":
                    stream.cancelled(frame)

    def verbs(self):
        return {"subscribe_resource": self.subscribe_resource}

    async def subscribe_resource(self, uri):
        """Hear of one resource, on the connection that is in use now."""
        with self.verb("subscribe_resource") as life:
            connection = await life.dialler.connected()
            stream = self.stream_type(connection.settings, connection.exchange)
            stream.uri = uri
            connection.streams.append(stream)
            await stream.begin()
