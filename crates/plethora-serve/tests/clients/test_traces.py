"""OpenTelemetry: spans of the server are what its own classes read, in the trace of a client that has one."""

import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from conftest import served
from google.protobuf.json_format import ParseDict
from opentelemetry.propagate import inject
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import TracerProvider


@pytest.fixture
def collector():
    """The requests that a collector gets, and its address."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            requests.append((self.path, self.headers["content-type"], json.loads(body)))
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield requests, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def test_a_request_is_a_span_of_its_clients_trace(folder, collector):
    requests, endpoint = collector
    tracer = TracerProvider().get_tracer("test")
    with served(folder / "wide-tree", "--otlp-endpoint", endpoint) as address:
        with tracer.start_as_current_span("client") as client:
            headers = {"content-type": "application/json"}
            inject(headers)
            asked = json.dumps({"documents": ["Glass furnaces"]}).encode()
            url = f"{address}/v1/models/wide-tree/predict"
            urllib.request.urlopen(urllib.request.Request(url, asked, headers)).read()
    # It sends what waits before it ends.
    path, media_type, body = requests[0]
    assert (path, media_type) == ("/v1/traces", "application/json")
    # JSON of OTLP has ids in hexadecimal where protobuf's own has base64; the classes know only that.
    spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
    (told,) = [dict(span) for span in spans]
    ids = {key: int(told.pop(key), 16) for key in ("traceId", "spanId", "parentSpanId")}
    body["resourceSpans"][0]["scopeSpans"][0]["spans"] = [told]
    read = ParseDict(body, ExportTraceServiceRequest())
    span = read.resource_spans[0].scope_spans[0].spans[0]
    context = client.get_span_context()
    assert ids["traceId"] == context.trace_id and ids["parentSpanId"] == context.span_id and ids["spanId"]
    assert span.kind == Span.SPAN_KIND_SERVER
    assert span.name == "POST /v1/models/{id}/predict"
    assert client.start_time <= span.start_time_unix_nano <= span.end_time_unix_nano <= client.end_time
    attributes = {item.key: item.value for item in span.attributes}
    assert attributes["http.response.status_code"].int_value == 200
    assert attributes["url.path"].string_value == "/v1/models/wide-tree/predict"
    resource = {item.key: item.value.string_value for item in read.resource_spans[0].resource.attributes}
    assert resource["service.name"] == "plethora"
