"""Which machines pictures may be fetched from: public addresses, and none that leads into somebody's own network.

Knows names and addresses. Connects to nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence

from vqaudit.errors import ImageError

__all__ = ["Resolve", "not_public", "public_addresses", "system_addresses"]

Resolve = Callable[[str, int], Sequence[str]]
"""Host and port -> its addresses as text; raises OSError where the name has none."""

_KINDS = (
    ("an unspecified", "is_unspecified"),
    ("a loopback", "is_loopback"),
    ("a link-local", "is_link_local"),
    ("a multicast", "is_multicast"),
    ("a private", "is_private"),
    ("a reserved", "is_reserved"),
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""RFC 6052: the last 32 bits are an IPv4 address, which is where the connection ends."""
_TUNNELS = tuple(map(ipaddress.IPv6Network, ("2001::/32", "2002::/16", "64:ff9b:1::/48", "fec0::/10")))
"""Teredo, 6to4, local NAT64 and site-local: what they lead to cannot be told from outside."""


def system_addresses(host: str, port: int) -> list[str]:
    """Returns the addresses that this machine's resolver knows, in the order in which it would try them.

    Raises:
        OSError: The name cannot be resolved.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def public_addresses(host: str, port: int, *, resolve: Resolve = system_addresses) -> tuple[str, ...]:
    """Returns a host's addresses, each of them public, for a connection to one of just these.

    Args:
        host: A name or an address, as in a URL.
        port: From 1 to 65535.
        resolve: Who knows the addresses of a name; asked once.

    Raises:
        ImageError: It is no host's name, or one of its addresses is not public.
        OSError: The name cannot be resolved.

    Example:
        >>> public_addresses("pictures.test", 443, resolve=lambda host, port: ["1.1.1.1"])
        ('1.1.1.1',)
    """
    addresses = tuple(resolve(_plain_name(host), port))
    if not addresses:
        raise OSError(f"{host} has no address")
    for address in addresses:
        if (what := not_public(address)) is not None:
            raise ImageError(f"{host} is at {address}, {what} address; only public ones are fetched from")
    return addresses


def not_public(address: str) -> str | None:
    """Returns why nothing is fetched from an address, in words; None for a public one.

    An IPv4 address that is written as IPv6 is judged as what it stands for.

    Example:
        >>> not_public("8.8.8.8"), not_public("::ffff:127.0.0.1"), not_public("169.254.169.254")
        (None, 'a loopback', 'a link-local')
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "an unreadable"
    if isinstance(ip, ipaddress.IPv6Address):
        if any(ip in network for network in _TUNNELS):
            return "a tunnel's or a site's own"
        ip = _as_ipv4(ip) or ip
    for words, attribute in _KINDS:
        if getattr(ip, attribute):
            return words
    return None if ip.is_global else "a shared or special"


def _as_ipv4(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped


def _plain_name(host: str) -> str:
    """Returns a host in ASCII; a number in disguise (`2130706433`, `0177.0.0.1`, `0x7f.1`) is refused.

    Resolvers read such numbers as addresses, each in its own way; browsers' rule (WHATWG URL, "ends in a number").
    """
    if ":" in host:
        return host  # an IPv6 address; what it is, the resolver says
    try:
        name = host.rstrip(".").encode("idna").decode("ascii")
    except UnicodeError:
        raise ImageError(f"{host!r} is no host's name") from None
    last = name.rpartition(".")[2].lower()
    if not name or last.isdigit() or last.startswith("0x"):
        try:
            ipaddress.IPv4Address(name)
        except ValueError:
            raise ImageError(f"the host {host!r} is a number; a name or a plain address is needed") from None
    return name
