"""Pairs of logins that differ only slightly, and belong to two people."""

from __future__ import annotations

from collections.abc import Mapping

# A domain so long that the difference between two logins is beyond the length of many database columns.
_LONG_DOMAIN = ".".join(["far" * 20] * 3)

# Pairs of logins, made with a unique name or a unique number of fifteen digits. If both are e-mail addresses,
# both are valid by RFC 5321.
ALIKE: Mapping[str, tuple[str, str]] = {
    "another-domain": ("{name}@merchant.example", "{name}@elsewhere.example"),
    "another-last-letter": (f"{{name}}@{_LONG_DOMAIN}.exampla", f"{{name}}@{_LONG_DOMAIN}.example"),
    "another-case": ("anna.{name}@merchant.example", "Anna.{name}@merchant.example"),
    "all-in-upper-case": ("{name}anna", "{name}ANNA"),
    "part-before-the-at": ("{name}", "{name}@merchant.example"),
    "part-behind-the-at": ("{name}.example", "anna@{name}.example"),
    "blank-behind": ("{name}", "{name} "),
    "blank-before": ("{name}", " {name}"),
    "blank-inside": ("anna{name}", "anna {name}"),
    "two-blanks-inside": ("anna {name}", "anna  {name}"),
    "full-stop": ("anna{name}@merchant.example", "an.na{name}@merchant.example"),
    "tag": ("{name}@merchant.example", "{name}+orders@merchant.example"),
    "underscore": ("an_na{name}", "anxna{name}"),
    "composed-letter": ("caf\u00e9{name}", "cafe\u0301{name}"),
    "accent": ("rene{name}", "ren\u00e9{name}"),
    "sharp-s": ("strauss{name}", "strau\u00df{name}"),
    "full-width-letter": ("anna{name}", "\uff41nna{name}"),
    "letter-of-another-script": ("anna{name}", "\u0430nna{name}"),
    "kelvin-sign": ("karl{name}", "\u212aarl{name}"),
    "dotless-i": ("ida{name}", "\u0131da{name}"),
    "zero-width-space": ("anna{name}", "anna\u200b{name}"),
    # Equal if logins are parsed as numbers; the last pair is equal if numbers have 53 bits.
    "zeros-before-a-number": ("{number}", "00{number}"),
    "number-with-an-exponent": ("{number}", "{number}e0"),
    "last-digit-of-a-long-number": ("9{number}0", "9{number}1"),
}
