"""One download: which addresses, which answers, how much and how long. No test leaves this machine."""

import gzip
import shutil
import socket
import ssl
import subprocess
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from vqaudit.errors import ImageError
from vqaudit.items.fetching_addresses import not_public, public_addresses
from vqaudit.items.fetching_connection import Wire
from vqaudit.items.fetching_http import MAX_BYTES, Unanswered, download

_spec = spec_from_file_location("picture_site", Path(__file__).with_name("picture_site.py"))
site_module = module_from_spec(_spec)
_spec.loader.exec_module(site_module)
PUBLIC, answer, drip, serve = (getattr(site_module, name) for name in ("PUBLIC", "answer", "drip", "serve"))

URL = "http://pictures.test/a.png"


# Addresses


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::7f00:1"),
        *("64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1"),
        *("", "localhost"),
    ],
)
def test_what_is_not_public_is_refused(address: str) -> None:
    assert not_public(address) is not None
    with pytest.raises(ImageError, match="only public ones are fetched from"):
        public_addresses("pictures.test", 443, resolve=lambda host, port: [PUBLIC, address])


@pytest.mark.parametrize("address", ["8.8.8.8", PUBLIC, "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_what_is_public_is_kept(address: str) -> None:
    assert public_addresses("pictures.test", 443, resolve=lambda host, port: [address]) == (address,)


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "10.1", "0", "127.0.0.0x1", "1.2.3.256", "①②⑦.1"],
)
def test_addresses_in_disguise_are_refused_before_anybody_resolves_them(host: str) -> None:
    def resolve(host, port):
        raise AssertionError(host)

    with pytest.raises(ImageError, match="is a number"):
        public_addresses(host, 80, resolve=resolve)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost.", "ⓛocalhost", "①②⑦.⓪.⓪.①"])
def test_this_machine_is_not_asked_though_it_would_answer(host: str, png) -> None:
    with serve({"/a.png": answer(png())}) as site:
        with pytest.raises(ImageError, match="loopback address"):
            download(f"http://{host}:{site.port}/a.png")
        assert not site.asked


def test_an_address_in_brackets_is_refused_too() -> None:
    for host in ("[::1]", "[::ffff:127.0.0.1]", "[fe80::1]"):
        with pytest.raises(ImageError, match=r"address; only public"):
            download(f"http://{host}/a.png")


def test_the_connection_goes_to_the_address_that_was_checked_whatever_the_name_is_by_then(png) -> None:
    """DNS rebinding: the second answer is this machine; nobody asks for it."""
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    with serve({"/a.png": answer(png())}) as site:
        assert download(URL, wire=site.wire(resolve=lambda host, port: next(answers))).data == png()
        assert site.connections == [(PUBLIC, 80)]
        assert next(answers) == ["127.0.0.1"]
        rebound = site.wire(resolve=lambda host, port: ["127.0.0.1"])
        with pytest.raises(ImageError, match=r"pictures\.test is at 127.0.0.1, a loopback address"):
            download(URL, wire=rebound)
        assert site.asked["/a.png"] == 1


def test_another_address_is_tried_where_the_first_does_not_answer(png) -> None:
    with serve({"/a.png": answer(png())}) as site:

        def connect(address, timeout):
            if address[0] == "2606:4700::1111":
                raise OSError("no route")
            return site.connect(address, timeout)

        wire = site.wire(resolve=lambda host, port: ["2606:4700::1111", PUBLIC], connect=connect)
        assert download(URL, wire=wire).data == png()


# URLs and redirects


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://me:secret@pictures.test/a.png", "user name or a password"),
        ("https://good.test\\@evil.test/a.png", "user name or a password"),
        ("ftp://pictures.test/a.png", "not 'ftp'"),
        ("file:///etc/hosts", "not 'file'"),
        ("https:///a.png", "names no host"),
        ("http://pictures.test:99999/", "not a usable URL"),
        ("http://[::1/", "not a usable URL"),
        ("http://a..b/", "no host's name"),
    ],
)
def test_urls_that_are_refused_open_no_connection(url: str, words: str) -> None:
    def connect(address, timeout):
        raise AssertionError(address)

    with pytest.raises(ImageError, match=words) as caught:
        download(url, wire=Wire(resolve=lambda host, port: [PUBLIC], connect=connect))
    assert "secret" not in str(caught.value)


def moved(to: str, status: str = "302 Found") -> bytes:
    return answer(status=status, Location=to)


def test_redirects_are_followed_and_checked_each(png) -> None:
    names = {"pictures.test": PUBLIC, "cdn.test": "1.1.1.1", "inside.test": "10.0.0.7"}
    pages = {
        "/a.png": moved("//cdn.test/b.png"),
        "/b.png": moved("c.png?x=1", "308 Permanent Redirect"),
        "/c.png?x=1": answer(png()),
        "/inside.png": moved("http://inside.test/"),
        "/metadata.png": moved("http://169.254.169.254/latest/meta-data/"),
        "/disguised.png": moved("http://2130706433/"),
        "/file.png": moved("file:///etc/hosts"),
        "/user.png": moved("http://a:b@cdn.test/b.png"),
        "/nowhere.png": answer(status="302 Found"),
        "/round.png": moved("/round.png"),
    }
    with serve(pages) as site:
        wire = site.wire(resolve=lambda host, port: [names.get(host, host)])
        found = download(URL, wire=wire)
        assert (found.data, found.origins) == (png(), ("http://pictures.test", "http://cdn.test"))
        assert site.connections == [(PUBLIC, 80), ("1.1.1.1", 80), ("1.1.1.1", 80)]
        for path, words in (
            ("inside", "inside.test is at 10.0.0.7, a private address"),
            ("metadata", "link-local address"),
            ("disguised", "is a number"),
            ("file", "not 'file'"),
            ("user", "user name or a password"),
            ("nowhere", "without saying where to"),
            ("round", "more than 3 redirects"),
        ):
            with pytest.raises(ImageError, match=words):
                download(f"http://pictures.test/{path}.png", wire=wire)
        assert site.asked["/round.png"] == 4


# Answers


def test_what_is_sent_is_plain(png, monkeypatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serve({"/ein%20Bild.png?k=%C3%A4%20b": answer(png(), Set_Cookie="a=b")}) as site:
        url = "http://pictures.test/ein Bild.png?k=ä b#part"
        for _ in range(2):
            assert download(url, wire=site.wire()).data == png()
    lines = {line.partition(":")[0].lower() for line in site.heads[1].splitlines()[1:] if line}
    assert lines == {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert "Host: pictures.test\r\n" in site.heads[1]


def test_too_large_is_refused_from_the_header_and_while_it_comes() -> None:
    counted = []

    def endless(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            line.sendall(b"100000\r\n" + bytes(0x100000) + b"\r\n")

    pages = {"/said": answer(Content_Length=MAX_BYTES + 1), "/endless": endless}
    with serve(pages) as site:
        for path in pages:
            with pytest.raises(ImageError, match="more than 32 MiB"):
                download(f"http://pictures.test{path}", wire=site.wire(), count=counted.append)
    assert MAX_BYTES < sum(counted) < MAX_BYTES + 2**20
    assert site.asked == {"/said": 1, "/endless": 1}


def test_a_packed_answer_is_not_unpacked() -> None:
    bomb = gzip.compress(bytes(10 * 2**20))
    with serve({"/a.png": answer(bomb, Content_Encoding="gzip")}) as site, pytest.raises(ImageError, match="packed"):
        download(URL, wire=site.wire())
    assert site.asked["/a.png"] == 1


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", b"", b"HTTP/1.1 200 OK\r\nX: "])
def test_a_drip_of_bytes_ends_at_the_deadline(head: bytes) -> None:
    began = time.monotonic()
    words = r"no whole answer in time \(3 tries\)"
    with serve({"/a.png": drip(head + bytes(4000), seconds=0.02)}) as site, pytest.raises(Unanswered, match=words):
        download(URL, wire=site.wire(seconds=0.4))
    assert time.monotonic() - began < 4.0
    assert site.asked["/a.png"] == 3
    assert site.slept == [1.0, 2.0]


def test_no_answer_is_asked_for_again_and_an_answer_is_not(png) -> None:
    pages = {"/busy": answer(status="503 Busy"), "/gone": answer(status="404 Not Found"), "/hang": lambda line: None}
    with serve(pages) as site:
        with pytest.raises(Unanswered, match=r"status 503 \(3 tries\)"):
            download("http://pictures.test/busy", wire=site.wire())
        with pytest.raises(Unanswered, match="cannot be reached or broke off"):
            download("http://pictures.test/hang", wire=site.wire())
        with pytest.raises(ImageError, match="answered with status 404"):
            download("http://pictures.test/gone", wire=site.wire())
        assert site.asked == {"/busy": 3, "/hang": 3, "/gone": 1}

        def settle(seconds: float) -> None:
            site.pages["/busy"] = answer(png())

        assert download("http://pictures.test/busy", wire=site.wire(sleep=settle)).data == png()

    def nobody(host, port):
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(Unanswered, match="Name or service not known"):
        download(URL, wire=site.wire(resolve=nobody))


def test_a_body_that_ends_early_is_no_picture_and_an_open_line_is_no_delay(png) -> None:
    def keeps_open(line: socket.socket) -> None:
        line.sendall(answer(png(), Connection="keep-alive"))
        time.sleep(4)

    pages = {
        "/cut": answer(png()[:-9], Content_Length=len(png())),
        "/open": keeps_open,
        "/old": answer(png(), Content_Length=None),
    }
    with serve(pages) as site:
        with pytest.raises(Unanswered, match=r"broke off after [\d,]+ of [\d,]+ bytes"):
            download("http://pictures.test/cut", wire=site.wire())
        began = time.monotonic()
        assert download("http://pictures.test/open", wire=site.wire()).data == png()
        assert time.monotonic() - began < 3.0
        assert download("http://pictures.test/old", wire=site.wire()).data == png()


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("needs the command openssl to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    pair = folder / "cert.pem", folder / "key.pem"
    made = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    named = ("-subj", "/CN=pictures.test", "-addext", "subjectAltName=DNS:pictures.test")
    files = ("-out", str(pair[0]), "-keyout", str(pair[1]))
    subprocess.run(["openssl", *made, *named, *files], check=True, capture_output=True)
    return pair


def test_https_holds_the_certificate_against_the_name(certificate, png) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*certificate)
    pages = {"/a.png": answer(png()), "/down.png": moved("http://pictures.test/a.png")}
    with serve(pages, tls=server) as site:
        trusting = site.wire(tls=lambda: ssl.create_default_context(cafile=str(certificate[0])))
        found = download("https://pictures.test/a.png", wire=trusting)
        assert (found.data, found.origins) == (png(), ("https://pictures.test",))
        assert site.connections == [(PUBLIC, 443)]
        with pytest.raises(ImageError, match=r"certificate of pictures\.test does not hold"):
            download("https://pictures.test/a.png", wire=site.wire())
        with pytest.raises(ImageError, match=r"certificate of other\.test does not hold"):
            download("https://other.test/a.png", wire=trusting)
        with pytest.raises(ImageError, match="redirects from https to http"):
            download("https://pictures.test/down.png", wire=trusting)
