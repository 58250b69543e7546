"""Gateways that disclose a credential."""

from __future__ import annotations

import base64
from urllib.parse import quote

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import altering_answers
from gateproof.reference.deviations.leaks import (
    REDEMPTION,
    TOKEN,
    access_token_in,
    basic_in_the_error,
    code_and_secret_of,
    code_to_a_help_page,
    debugged,
    form_in_the_error,
    id_token_on_refusal,
    in_a_comment,
    in_the_location,
    issuing,
    last_proxy_token_in_discovery,
    leaking_referrer,
    logging,
    member_logged,
    members_of,
    proxy_client_on_the_page,
    proxy_clients_in_discovery,
    proxy_token_in,
    redirecting_to_the_agent,
    refresh_token_in_a_cookie,
    refresh_token_in_errors,
    refused_redemption,
    spread,
    token_requests_sent_away,
    with_member,
    with_refresh_token,
    with_refresh_token_in_the_scopes,
)

DEFECTS = (
    defect(
        "refresh-token-in-redemption (SECRET-01): The redemption answer also contains the merchant refresh "
        "token.",
        redemption_answer=with_refresh_token,
    ),
    defect(
        "refresh-token-in-an-opaque-context (SECRET-01): The redemption answer has a member context that "
        "contains the merchant refresh token, base64url-encoded.",
        redemption_answer=with_refresh_token_in_the_scopes,
    ),
    defect(
        "refresh-token-in-the-410 (SECRET-01 SECRET-06): The error after a failed refresh contains the "
        "merchant refresh token.",
        around=refresh_token_in_errors(),
    ),
    defect(
        "refresh-token-in-a-cookie (SECRET-01 SECRET-06): The gateway sets a cookie in the browser that "
        "contains the merchant refresh token, base64-encoded.",
        around=altering_answers(refresh_token_in_a_cookie),
    ),
    defect(
        "merchant-token-in-a-refused-redemption (SECRET-02): A redemption that is refused with 404 has the "
        "merchant token in a member debug, base64-encoded.",
        around=access_token_in(
            refused_redemption,
            lambda answered, token: with_member(answered, "debug", base64.b64encode(token.encode()).decode()),
        ),
    ),
    defect(
        "merchant-token-beside-the-agents (SECRET-02 SECRET-06): The answer to a code exchange also "
        "contains the merchant token, in a member upstream.",
        around=access_token_in(
            issuing, lambda answered, token: with_member(answered, "upstream", {"t": token})
        ),
    ),
    defect(
        "merchant-token-in-a-debug-header (SECRET-02): The answer to a request for debugging has the "
        "merchant token in a header, in hexadecimal.",
        around=access_token_in(
            debugged, lambda answered, token: answered.with_header("x-debug-vault", token.encode().hex())
        ),
    ),
    defect(
        "merchant-token-in-the-redirect (SECRET-02 SECRET-07 SECRET-06): The redirect to the agent contains "
        "the merchant token in reverse order.",
        around=access_token_in(redirecting_to_the_agent, in_the_location),
    ),
    defect(
        "merchant-token-in-a-comment (SECRET-02 SECRET-06): The pages of the sign-in contain the merchant "
        "token in a comment, compressed.",
        around=access_token_in(lambda _, answered: b"</body>" in answered.body, in_a_comment),
    ),
    defect(
        "merchant-token-in-pieces (SECRET-02): Errors of the token endpoint contain the merchant token in "
        "pieces of six characters.",
        around=access_token_in(
            lambda asked, answered: asked.path.endswith(TOKEN) and answered.status == 400, spread
        ),
    ),
    defect(
        "half-the-merchant-token-in-an-etag (SECRET-02 SECRET-06): The ETag of the token answer to an agent "
        "is the last 20 characters of the merchant token.",
        around=access_token_in(
            issuing, lambda answered, token: answered.with_header("etag", f'"{token[-20:]}"')
        ),
    ),
    defect(
        "proxy-token-in-the-error (SECRET-03): The error of a refused redemption contains the Proxy token.",
        around=proxy_token_in(None, statuses=(400, 401, 404)),
    ),
    defect(
        "proxy-token-in-the-challenge (SECRET-03): A 401 has the Proxy token in a header, percent-encoded.",
        around=proxy_token_in("x-refused", statuses=(401,), write=lambda token: f"token={quote(token)}"),
    ),
    defect(
        "proxy-token-in-a-good-answer (SECRET-03): A successful redemption has the Proxy token in a header, "
        "base64-encoded together with a prefix.",
        around=proxy_token_in(
            "x-caller",
            statuses=(200,),
            write=lambda token: base64.b64encode(f"proxy {token}".encode()).decode(),
        ),
    ),
    defect(
        "proxy-token-in-discovery (SECRET-03): The discovery document contains the last used Proxy token, "
        "in hexadecimal.",
        around=last_proxy_token_in_discovery(),
    ),
    defect(
        "form-in-the-error (SECRET-04 REG-10): Errors of the token endpoint contain all fields of the form.",
        around=altering_answers(form_in_the_error),
    ),
    defect(
        "basic-in-the-error (SECRET-04): Errors repeat the Basic header of the request.",
        around=altering_answers(basic_in_the_error),
    ),
    defect(
        "proxy-clients-in-discovery (SECRET-04): The discovery document lists the IDs of the Proxy clients.",
        around=altering_answers(proxy_clients_in_discovery),
    ),
    defect(
        "proxy-clients-on-a-page (SECRET-04): The approve page contains the IDs of all Proxy clients in an "
        "attribute.",
        around=altering_answers(proxy_client_on_the_page),
    ),
    defect(
        "bearer-in-the-log (SECRET-05): Redemption logs the Authorization header.",
        around=logging(lambda asked, _: f"bearer {asked.headers.get('authorization', '')}", REDEMPTION),
    ),
    defect(
        "refused-bearer-in-the-log (SECRET-05): Redemption logs the Authorization header of requests that "
        "it refuses with 401, for example with an ID token.",
        around=logging(id_token_on_refusal, REDEMPTION),
    ),
    defect(
        "issued-access-token-in-the-log (SECRET-05 SECRET-08): The token endpoint logs the access tokens "
        "that it issues.",
        around=logging(member_logged("access_token"), TOKEN),
    ),
    defect(
        "issued-refresh-token-in-the-log (SECRET-08): The token endpoint logs the refresh tokens that it "
        "issues.",
        around=logging(member_logged("refresh_token"), TOKEN),
    ),
    defect(
        "id-token-in-the-log-encoded (SECRET-05): The token endpoint logs the ID tokens that it issues, "
        "base64-encoded.",
        around=logging(
            lambda _, answered: base64.b64encode(
                str(members_of(answered).get("id_token", "")).encode()
            ).decode(),
            TOKEN,
        ),
    ),
    defect(
        "bad-forms-in-the-log (SECRET-08): The token endpoint logs the whole form of requests that it "
        "refuses.",
        around=logging(code_and_secret_of, TOKEN),
    ),
    defect(
        "basic-in-the-log (SECRET-08): The token endpoint logs the Basic header of Proxy clients.",
        around=logging(lambda asked, _: asked.headers.get("authorization", ""), TOKEN),
    ),
    defect(
        "proxy-token-in-the-log (SECRET-08 SECRET-05): Redemption logs the Proxy token.",
        around=logging(lambda asked, _: f"proxy {asked.headers.get('x-proxy-token', '')}", REDEMPTION),
    ),
    defect(
        "merchant-token-in-the-log (SECRET-08): Redemption logs its answer, in hexadecimal.",
        around=logging(lambda _, answered: answered.body.hex() if answered.status == 200 else "", REDEMPTION),
    ),
    defect(
        "redirect-in-the-log (SECRET-08): The gateway logs the redirect to the agent with its code.",
        around=logging(lambda _, answered: answered.header("location"), "/sign-in/decision"),
    ),
    defect(
        "token-requests-sent-away (SECRET-07 CODE-02 CODE-03 CODE-04 CODE-05 CODE-06 CODE-08 CODE-11 "
        "CODE-15 ROBUST-04): The token endpoint redirects requests that it would refuse with 400 to another "
        "host, with 307.",
        around=altering_answers(token_requests_sent_away),
    ),
    defect(
        "callback-lets-its-address-out (SECRET-07 AUTHZ-15): The page at the callback has the referrer "
        "policy unsafe-url, so its URL with the merchant's code goes to other hosts.",
        around=altering_answers(leaking_referrer),
    ),
    defect(
        "code-to-a-help-page (SECRET-07): The answer to a refused exchange has a Location on another host, "
        "with the code in its query.",
        around=altering_answers(code_to_a_help_page),
    ),
)
