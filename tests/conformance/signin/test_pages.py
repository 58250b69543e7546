"""Pages: which forms a page has, and what submitting one of them sends."""

import pytest

from gateproof.conformance.signin.markup import read_page
from gateproof.conformance.signin.page import Refresh
from gateproof.conformance.signin.submission import submit
from gateproof.conformance.wire.exchange import Answer

URL = "https://gw.example/a/login?x=1#frag"


def page(html, *headers, content_type="text/html", status=200):
    body = html if isinstance(html, bytes) else html.encode()
    return read_page(
        URL, Answer(status=status, headers=(("Content-Type", content_type), *headers), body=body)
    )


def names(form):
    return [control.name for control in form.controls]


def sent(html, press=0):
    (form, *_) = page(html).forms
    submission = submit(form, form.buttons[press] if form.buttons else None)
    return submission.body.decode() if submission.method == "POST" else submission.url.partition("?")[2]


@pytest.mark.parametrize(
    ("html", "owned"),
    [
        pytest.param("<form><input name=a></form><input name=b>", [["a"]], id="plain"),
        pytest.param(
            "<!-- <form><input name=no></form> --><form><input name=a></form>", [["a"]], id="comment"
        ),
        pytest.param(
            "<template><form><input name=no></form></template><form><input name=a>", [["a"]], id="template"
        ),
        pytest.param(
            "<script>'<form><input name=no></form>'</script><form><input name=a>", [["a"]], id="script"
        ),
        pytest.param("<noscript><form><input name=a></form></noscript>", [["a"]], id="noscript"),
        pytest.param(
            "<textarea><form><input name=no></textarea><form><input name=a>", [["a"]], id="textarea"
        ),
        pytest.param(
            "<table><form><tr><td><input name=a></td></tr></form></table>", [["a"]], id="form in a table"
        ),
        pytest.param(
            "<table><form><input name=a><tr><td><input name=b></form></table>", [["a", "b"]], id="fostered"
        ),
        pytest.param(
            "<div><form></div><input name=a></form><input name=b>", [["a"]], id="closed by a parent"
        ),
        pytest.param("<form><div></form><input name=a></div>", [["a"]], id="end tag before its time"),
        pytest.param("<form><input name=a><form><input name=b></form>", [["a", "b"]], id="nested"),
        pytest.param("<form id=f><input name=a></form><input name=b form=f>", [["a", "b"]], id="by its id"),
        pytest.param(
            "<form><input name=a><input name=b form=none></form>", [["a"]], id="of a form that is not"
        ),
        pytest.param("<form><input name=a disabled><input name=b></form>", [["b"]], id="disabled"),
        pytest.param(
            "<form><fieldset disabled><legend><input name=a></legend><input name=b></fieldset></form>",
            [["a"]],
            id="disabled fieldset",
        ),
        pytest.param("<form></form><form method=dialog><input name=a></form>", [], id="nothing to send"),
        pytest.param("<form><input name=a><p><input name=b", [["a"]], id="cut off"),
        pytest.param("<FORM><INPUT NAME=a><button name=x type=button></FORM>", [["a"]], id="idle button"),
    ],
)
def test_a_page_has_the_forms_that_a_browser_sees(html, owned):
    assert [names(form) for form in page(html).forms] == owned


@pytest.mark.parametrize(
    ("attributes", "action"),
    [
        ("", "https://gw.example/a/login?x=1"),
        ('action=""', "https://gw.example/a/login?x=1"),
        ('action="go?y=2&amp;z=3#f"', "https://gw.example/a/go?y=2&z=3"),
        ('action="/go"', "https://gw.example/go"),
        ('action="?only"', "https://gw.example/a/login?only"),
        ('action="https://other.example/"', "https://other.example/"),
    ],
)
def test_a_form_goes_to_its_action(attributes, action):
    (form,) = page(f"<form method=POST {attributes}><input name=a></form>").forms

    submission = submit(form, None)

    assert (submission.method, submission.url) == ("POST", action)


def test_base_moves_relative_actions_only():
    html = (
        "<base href='/base/'><form method=post action=go><input name=a></form>"
        "<form method=post><input name=b></form>"
    )
    first, second = page(html).forms

    assert submit(first, None).url == "https://gw.example/base/go"
    assert submit(second, None).url == "https://gw.example/a/login?x=1"


def test_a_get_form_replaces_the_query():
    (form,) = page("<form action='go?old=1'><input name=a value='b c'></form>").forms

    assert submit(form, None).url == "https://gw.example/a/go?a=b+c"


@pytest.mark.parametrize(
    ("controls", "body"),
    [
        ("<input type=hidden name=t value='a&amp;b=\u00e9'>", "t=a%26b%3D%C3%A9"),
        ("<input type=checkbox name=a><input type=checkbox name=b checked>", "b=on"),
        ("<input type=checkbox name=c value=1 checked>", "c=1"),
        ("<input type=radio name=r value=1><input type=radio name=r value=2 checked>", "r=2"),
        ("<select name=s><option>A<option value=b>B</select>", "s=A"),
        ("<select name=s><option>A<option value=b selected>B</select>", "s=b"),
        ("<select name=s><option disabled>A<option>B</select>", "s=B"),
        ("<select name=s multiple><option selected>A<option>B<option selected>C</select>", "s=A&s=C"),
        ("<textarea name=t>\none\ntwo &lt;input name=x&gt;<input name=y></textarea>",
         "t=one%0D%0Atwo+%3Cinput+name%3Dx%3E%3Cinput+name%3Dy%3E"),
        ("<input name=a value='<form <input >'>", "a=%3Cform+%3Cinput+%3E"),
        ("<input value=nameless><input name=a value=1>", "a=1"),
        ("<input type=file name=f>", "f="),
        ("<input type=hidden name=_charset_>", "_charset_=utf-8"),
        ("<input name=a value=1><button name=go value=yes>Yes</button><button name=go value=no>No</button>",
         "a=1&go=yes"),
        ("<button name=go value=yes>Yes</button><input name=a value=1>", "go=yes&a=1"),
        ("<input type=submit name=go value='Sign in'>", "go=Sign+in"),
        ("<input type=image name=i alt=Go>", "i.x=0&i.y=0"),
        ("<button>Yes</button><input name=a value=1>", "a=1"),
    ],
)  # fmt: skip
def test_controls_send_what_they_hold(controls, body):
    assert sent(f"<form method=post>{controls}</form>") == body


def test_a_button_goes_before_its_form():
    html = (
        "<form action=a><input name=x value=1>"
        "<button formaction=/b formmethod=post formenctype=text/plain>Go</button></form>"
    )
    (form,) = page(html).forms

    submission = submit(form, form.buttons[0])

    assert (submission.method, submission.url) == ("POST", "https://gw.example/b")
    assert (submission.content_type, submission.body) == ("text/plain", b"x=1\r\n")


def test_multipart_forms_are_sent_in_parts():
    html = (
        "<form method=post enctype=multipart/form-data>"
        "<input name=a value='1\u00e9'><input type=file name=f></form>"
    )
    (form,) = page(html).forms

    submission = submit(form, None)
    boundary = submission.content_type.partition("boundary=")[2].encode()

    first, second, end = submission.body.split(b"--" + boundary)[1:]
    assert first == '\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\u00e9\r\n'.encode()
    assert b'name="f"; filename=""' in second
    assert end == b"--\r\n"


@pytest.mark.parametrize(
    ("body", "content_type", "title"),
    [
        ("<title>\u00e9</title>".encode(), "text/html", "\u00e9"),
        (b"<title>\xe9</title>", "text/html", "\u00e9"),
        (b"<title>\xe9</title>", "text/html; charset=ISO-8859-1", "\u00e9"),
        (b"<meta charset=windows-1252><title>\x80</title>", "text/html", "\u20ac"),
        (b"\xef\xbb\xbf<title>\xc3\xa9</title>", "text/html; charset=latin-1", "\u00e9"),
        (b"<title>\xc3\xa9</title>", "text/html; charset=no-such-thing", "\u00e9"),
        ("<title> a\n b </title>".encode("utf-16"), "text/html; charset=utf-16", "a b"),
    ],
)
def test_pages_are_read_in_their_encoding(body, content_type, title):
    assert page(body, content_type=content_type).title == title


def test_forms_are_sent_in_the_encoding_of_their_page():
    html = b"<form method=post><input name=a value=\xe9></form>"
    (form,) = page(html, content_type="text/html; charset=latin-1").forms

    assert submit(form, None).body == b"a=%E9"


@pytest.mark.parametrize(
    ("html", "target"),
    [
        ("<meta http-equiv=refresh content='0;url=/next'>", ("https://gw.example/next", 0)),
        ("<META HTTP-EQUIV=Refresh CONTENT=\"0; URL='next'\">", ("https://gw.example/a/next", 0)),
        (
            "<noscript><meta http-equiv=refresh content='0.0, /next'></noscript>",
            ("https://gw.example/next", 0),
        ),
        ("<meta http-equiv=refresh content='5;url=/next'>", ("https://gw.example/next", 5)),
        ("<meta http-equiv=refresh content='1.5'>", ("https://gw.example/a/login?x=1#frag", 1.5)),
        ("<meta http-equiv=refresh content='soon;url=/next'>", None),
        ("<!--<meta http-equiv=refresh content='0;url=/next'>-->", None),
    ],
)
def test_a_refresh_says_where_it_leads_and_when(html, target):
    refresh = page(html).refresh

    assert (refresh and (refresh.url, refresh.after_s)) == target


def test_a_refresh_header_counts():
    assert page("x", ("Refresh", "0; url=/next")).refresh == Refresh("https://gw.example/next")


def test_what_the_page_hides_is_no_button_and_no_field_to_fill_in():
    (form,) = page(
        "<form><input name=email style='display: none'><p hidden><input name=q></p>"
        "<input name=login><button hidden>Continue</button><button>Sign in</button></form>"
    ).forms

    assert [field.name for field in form.fields if field.hidden] == ["email", "q"]
    assert [button.text for button in form.buttons] == ["Sign in"]


def test_each_control_is_read_with_the_elements_around_it():
    (form,) = page(
        "<form><label>Outer<p><label><input name=a></label></p><input name=b></label>"
        "<fieldset disabled><legend><input name=c></legend><legend><input name=d></legend><input name=e>"
        "</fieldset><div style='visibility:hidden'><p><input name=f><input name=g></p></div>"
        "<input name=h></form>"
    ).forms

    fields = [(field.name, field.label, field.hidden) for field in form.fields]
    assert fields == [
        ("a", "", False), ("b", "Outer", False), ("c", "", False),
        ("f", "", True), ("g", "", True), ("h", "", False),
    ]  # fmt: skip


def test_links_are_read_but_those_that_lead_nowhere():
    links = page(
        "<a href='go?a=1'>Sign in</a><a href='#top'>Top</a><a href='javascript:x()'>X</a><a>None</a>"
        "<div hidden><a href=/trap>Approve</a></div>"
    ).links

    assert [(link.text, link.url) for link in links] == [("Sign in", "https://gw.example/a/go?a=1")]


def test_what_is_no_html_has_no_forms():
    shown = page('{"form": "<form><input name=a></form>"}', content_type="application/json", status=400)

    assert (shown.forms, shown.status) == ((), 400)
    assert "<form>" in shown.text


def test_text_is_what_a_person_reads():
    shown = page("<title>T</title><style>s</style><script>x</script><p>Hello <b>you</b><!-- not --></p>")

    assert (shown.title, shown.text) == ("T", "Hello you")
