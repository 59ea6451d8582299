"""Many HTTP clients in one thread, cheap enough not to be what is measured."""

import contextlib
import itertools
import selectors
import socket
import time

PATIENCE = 60


class Client:
    """Asks over one connection, which stays open, one request after the other."""

    def __init__(self, address, requests):
        host, _, port = address.rpartition(":")
        self.address, self.requests = (host, int(port)), requests
        self.socket = None

    def open(self):
        self.close()
        self.socket = socket.create_connection(self.address, PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.socket

    def close(self):
        if self.socket is not None:
            self.socket.close()

    def send(self):
        self.received = b""
        self.began = time.perf_counter()
        # A connection that is broken already says so when the answer is read.
        with contextlib.suppress(OSError):
            self.socket.sendall(next(self.requests))

    def receive(self):
        """The status once the answer is complete; 0 where the connection broke."""
        try:
            part = self.socket.recv(1 << 16)
        except OSError:
            return 0
        if not part:
            return 0
        self.received += part
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return None
        lines = head.lower().split(b"\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
        return int(lines[0].split()[1]) if len(body) >= length else None


def request_of(address, path, body):
    """The bytes of a POST of JSON."""
    head = f"POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def run_clients(address, requests, count, is_over):
    """Has clients ask until it is over and returns status and seconds of each request; a status of 0 is a connection
    that broke or a server that was silent for a minute. Each client begins with another request."""
    selector = selectors.DefaultSelector()
    answers = []
    for number in range(count):
        own = itertools.islice(itertools.cycle(requests), 7 * number % len(requests), None)
        client = Client(address, own)
        selector.register(client.open(), selectors.EVENT_READ, client)
        client.send()
    while selector.get_map():
        ready = selector.select(PATIENCE)
        if not ready:
            ready = [(key, None) for key in selector.get_map().values()]
        for key, event in ready:
            client = key.data
            status = 0 if event is None else client.receive()
            if status is None:
                continue
            answers.append((status, time.perf_counter() - client.began))
            is_last = is_over()
            if is_last or status == 0:
                selector.unregister(client.socket)
                client.close()
            if not is_last:
                if status == 0:
                    selector.register(client.open(), selectors.EVENT_READ, client)
                client.send()
    selector.close()
    return answers
