"""Odd input in well-formed HTTP below 64 kB: no client should send it, but every server may receive it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
# The rule applies up to 64 kB; this leaves room for the head of the request.
LARGE = 60_000
# Every server accepts a head of this size.
LONG = 4_000

SURROGATE = "\ud800"
# Names that every object of a language has, or that have no meaning, or a special one, for a database.
SPECIAL_NAMES = (
    *("__proto__", "constructor", "toString", "hasOwnProperty", "__class__"),
    *("null", "undefined", "NaN", "$where", "%", "*"),
)
TEXTS: Mapping[str, str] = {
    "empty": "",
    "white space": " \t\r\n ",
    "NUL": "a\x00b",
    "control characters": "\x01\x08\x1b\x7f\x85",
    "lone surrogate": f"a{SURROGATE}b",
    "beyond the first plane": "\U0001f600\U0010ffff",
    "right-to-left override": "\u202egateway\u202c",
    "combining marks": "e" + "\u0301" * 200,
    "format string": "%s%n%x{0}{{7*7}}${jndi:x}$(id)`id`",
    "quote and comment": "' OR '1'='1'; --",
    "markup": "<script>alert(1)</script>]]>&amp;&#0;",
    "path": "../../../../etc/passwd",
    "line end": "a\r\nSet-Cookie: b=c",
    "number": "-1e999",
    "long": "x" * LONG,
    **{f"the name {name}": name for name in SPECIAL_NAMES},
}
URIS: Mapping[str, str] = {
    "open bracket": "https://[",
    "half an IPv6 address": "https://[::1/cb",
    "zone": "https://[fe80::1%25eth0]/cb",
    "port of letters": "https://agent.example:port/cb",
    "port too large": "https://agent.example:99999999/cb",
    "no host": "https:///cb",
    "scheme alone": "https:",
    "slashes alone": "//",
    "space": "https://agent example/cb",
    "percent garbage": "https://%zz/%",
    "NUL": "https://agent.example/\x00",
    "lone surrogate": f"https://agent.example/{SURROGATE}",
    "not ASCII": "https://\u00e4gent.example/\u00e4",
    "empty label": "https://agent..example/cb",
    "label too long": f"https://{'a' * 300}.example/cb",
    "bad punycode": "https://xn--\u00e4.example/cb",
    "user and password": "https://user:pass@agent.example/cb",
    "line end": "https://agent.example/\r\nLocation: x",
    "too many numbers": "https://1.2.3.4.5.6.7/cb",
    "long": "https://agent.example/" + "a" * LONG,
}
VALUES: Mapping[str, Any] = {
    "null": None,
    "true": True,
    "zero": 0,
    "negative": -1,
    "large number": 10**400,
    "fraction": 1e-300,
    "empty string": "",
    "empty array": [],
    "empty object": {},
    "array of null": [None],
    "array of arrays": [[["a"]]],
    "array of objects": [{"a": None}],
    "object": {"toString": {"a": [1]}, "__proto__": {"a": 1}, "constructor": None},
    "nested": json.loads("[" * 100 + "]" * 100),
    "many": ["a"] * 5_000,
    "large string": "a" * LARGE,
}

# Bodies that do not match their media type or are extreme.
BODIES: Mapping[str, bytes] = {
    "nothing": b"",
    "white space": b" \r\n\t ",
    "null": b"null",
    "true": b"true",
    "a number": b"-0.0",
    "a number beyond a double": b"1e400",
    "not a number": b'{"resource": NaN, "redirect_uris": NaN}',
    "infinity": b"[Infinity, -Infinity]",
    "a string": b'"redirect_uris"',
    "an empty array": b"[]",
    "an array of objects": b'[{"redirect_uris": []}]',
    "an empty object": b"{}",
    "1000 arrays deep": b"[" * 1000 + b"]" * 1000,
    "1000 objects deep": b'{"a":' * 1000 + b"1" + b"}" * 1000,
    "30000 arrays deep": b"[" * 30_000 + b"]" * 30_000,
    "9000 objects deep, never closed": b'{"a":' * 9_000,
    "a member 1000 arrays deep": b'{"redirect_uris":' + b"[" * 1000 + b"]" * 1000 + b"}",
    "cut off": b'{"client_name": "a", "redirect_uris": ["https',
    "rubbish behind it": b'{"resource": "a"} x',
    "two documents": b"{}{}",
    "single quotes": b"{'resource': 'a'}",
    "a comment": b"{} // nothing",
    "a byte order mark": b'\xef\xbb\xbf{"resource": "a"}',
    "UTF-16": '{"resource": "a"}'.encode("utf-16"),
    "UTF-32": '{"resource": "a"}'.encode("utf-32"),
    "octets that are no UTF-8": b'{"client_name": "\xff\xfe\x80", "resource": "\xff"}',
    "overlong UTF-8": b'{"resource": "\xc0\x80\xe0\x80\xaf"}',
    "a surrogate in UTF-8": b'{"resource": "\xed\xa0\x80"}',
    "an escaped lone surrogate": b'{"resource": "\\ud800", "client_name": "\\udfff"}',
    "a raw NUL": b'{"resource": "a\x00b"}',
    "an escaped NUL": b'{"resource": "a\\u0000b", "client_name": "a\\u0000b"}',
    "doubled members": b'{"resource": "a", "resource": ["b"], "redirect_uris": 1, "redirect_uris": null}',
    "an empty name": b'{"": "", "resource": "a"}',
    "a name of a prototype": b'{"__proto__": {"resource": "a"}, "constructor": {"prototype": 1}}',
    "an integer of 5000 digits": b'{"resource": ' + b"1" * 5_000 + b"}",
    "an exponent of 5000 digits": b'{"resource": 1e' + b"1" * 5_000 + b"}",
    "a long string": b'{"resource": "' + b"a" * LARGE + b'"}',
    "5000 members": b"{" + b",".join(b'"m%d": 1' % place for place in range(5_000)) + b"}",
    "a form": b"resource=a&redirect_uris=https%3A%2F%2Fagent.example%2Fcb",
    "percent garbage": b"grant_type=%zz&code=%&client_id=%ff%fe&=&&&=a",
    "5000 fields": b"&".join(b"f%d=1" % place for place in range(5_000)),
    "5000 empty fields": b"&" * 5_000,
    "XML": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    "random octets": bytes(range(256)) * 8,
}
MEDIA_TYPES: Mapping[str, str] = {
    "another charset": f"{JSON}; charset=utf-7",
    "no such charset": f"{JSON}; charset=nonsense",
    "an empty charset": f"{JSON}; charset=",
    "a form of another charset": f"{FORM}; charset=nonsense",
    "an open parameter": f"{JSON};",
    "an open quote": f'{JSON}; charset="utf-8',
    "JSON of a kind": "application/vnd.gateway+json",
    "plain text": "text/plain",
    "XML": "application/xml",
    "multipart without a boundary": "multipart/form-data",
    "multipart with an empty boundary": "multipart/form-data; boundary=",
    "multipart with a boundary": "multipart/form-data; boundary=x",
    "a semicolon": ";",
    "a slash": "/",
    "two types": f"{JSON}, text/html",
    "letters beyond ASCII": "application/\xe4\xff",
    "long": "application/" + "x" * LONG,
    "many parameters": JSON + "".join(f"; p{place}=1" for place in range(200)),
}
HEADERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Accept of nothing": (("Accept", ""),),
    "Accept garbage": (("Accept", "a/b/c;q=x,,;*/*;q=9"),),
    "Accept of another type": (("Accept", "image/png"),),
    "Accept-Language garbage": (("Accept-Language", ";;q=--,*-*-*;q=1e9"),),
    "Accept-Charset of none": (("Accept-Charset", "nonsense;q=0"),),
    "Accept-Encoding refusing all": (("Accept-Encoding", "identity;q=0, *;q=0"),),
    "cookies that are none": (("Cookie", '=; ;;; a; b=="; c=\x80\xff; $Version=9'),),
    "many cookies": (("Cookie", "; ".join(f"c{place}={place}" for place in range(300))),),
    "a Range": (("Range", "bytes=99999999999999999999-1,-0,a-b"),),
    "conditions": (("If-None-Match", '"a'), ("If-Modified-Since", "yesterday"), ("If-Match", "*,")),
    "a content that says it is compressed": (("Content-Encoding", "gzip"),),
    "an encoding that nobody has": (("Content-Encoding", "nonsense"),),
    "Authorization alone": (("Authorization", ""),),
    "Authorization without credentials": (("Authorization", "Bearer"),),
    "Authorization of a strange scheme": (("Authorization", 'Digest a="b", c=d, "'),),
    "Authorization beyond ASCII": (("Authorization", "Bearer \xe4\xff\x80"),),
    "Basic that is no base64": (("Authorization", "Basic ====%%%"),),
    "Basic that is no UTF-8": (("Authorization", "Basic //79/A=="),),
    "Basic without a colon": (("Authorization", "Basic YWJj"),),
    "Basic with a NUL": (("Authorization", "Basic YQA6AGI="),),
    "two Authorizations": (("Authorization", "Bearer a"), ("Authorization", "Basic YTpi")),
    "Basic of a prototype": (("Authorization", "Basic X19wcm90b19fOl9fcHJvdG9fXw=="),),
    "Basic of a constructor": (("Authorization", "Basic Y29uc3RydWN0b3I6Y29uc3RydWN0b3I="),),
    "Basic of a lone surrogate": (("Authorization", "Basic YTrtoIA="),),
    "Basic of an escaped NUL": (("Authorization", "Basic YSUwMDphJTAw"),),
    "a long Authorization": (("Authorization", "Bearer " + "a" * LONG),),
    "forwarding garbage": (
        ("Forwarded", 'for="[;proto=;host=",,'),
        ("X-Forwarded-For", "a, , 999.999.999.999, [::"),
        ("X-Forwarded-Host", "a b:c:d"),
        ("X-Forwarded-Proto", "gopher,"),
        ("X-Forwarded-Port", "-1"),
    ),
    "another Origin": (("Origin", "null"), ("Access-Control-Request-Method", "\xff")),
    "a Referer that is none": (("Referer", "http://[::"),),
    "a method of another name": (("X-HTTP-Method-Override", "\xffBREW"),),
    "tracing garbage": (("traceparent", "00-zz-zz-zz"), ("X-Request-Id", "\xff" * 200)),
    "many headers": tuple((f"X-H{place}", str(place)) for place in range(60)),
    "an empty User-Agent": (("User-Agent", ""),),
    "Expect of something else": (("Expect", "tea"),),
}
# Raw octets for a path segment.
ODD_SEGMENTS: Mapping[str, bytes] = {
    "nothing": b"",
    "a dot": b"%2e",
    "two dots": b"%2e%2e",
    "two dots in the plain": b"..",
    "an encoded slash": b"a%2fb",
    "an encoded backslash": b"..%5c..",
    "a NUL": b"a%00b",
    "a line end": b"a%0d%0ab",
    "percent garbage": b"%zz",
    "half an escape": b"a%",
    "octets that are no UTF-8": b"%ff%fe",
    "overlong UTF-8": b"%c0%ae",
    "a surrogate": b"%ed%a0%80",
    "encoded twice": b"%252e%252e",
    "Unicode": b"%e4%bd%a0%f0%9f%98%80",
    "a semicolon": b"a;b=c",
    "quotes": b"'%22%60",
    "a brace": b"%7b%7b7*7%7d%7d",
    "a space": b"%20",
    "a star": b"*",
    **{f"the name {name}": quote(name, safe="$*").encode() for name in SPECIAL_NAMES},
    "long": b"a" * LONG,
}
ODD_QUERIES: Mapping[str, bytes] = {
    "nothing": b"",
    "an equals sign": b"=",
    "ampersands": b"&&&&",
    "no values": b"client_id&redirect_uri&state",
    "percent garbage": b"client_id=%zz&state=%",
    "octets that are no UTF-8": b"client_id=%ff%fe&redirect_uri=%ff&state=%80",
    "a surrogate": b"client_id=%ed%a0%80&state=%ed%a0%80",
    "a NUL": b"client_id=a%00b&redirect_uri=%00&state=%00",
    "brackets": b"client_id[]=a&client_id[b][c]=d&state[__proto__][x]=1",
    "question marks": b"client_id=a?b?c=d",
    "400 parameters": b"&".join(b"a=%d" % place for place in range(400)),
    "one name 300 times": b"&".join(b"state=a" for _ in range(300)),
    "a semicolon": b"client_id=a;state=b",
    "a plus sign": b"+=+&client_id=+",
    "a long name": b"a" * LONG + b"=b",
}
METHODS = ("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "BREW")


def segment(value: Any) -> str:
    """A value encoded as a segment of a JWT."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode("ascii")
