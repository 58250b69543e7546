import { createHash } from 'node:crypto';

const STYLE = 'body{font-family:sans-serif;max-width:32em;margin:4em auto;padding:0 1em}button{margin-right:1em}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  // Without form-action: browsers apply it to the redirect to the agent, too.
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Text for a page: markup is escaped, invisible characters are taken out. */
export function escapeHtml(text) {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ').replace(/[&<>"']/g, (character) => ENTITIES.get(character));
}

function page(title, content) {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><h1>${escapeHtml(title)}</h1>
${content}
</body>
</html>
`;
}

export function messagePage(title, message) {
  return page(title, `<p>${escapeHtml(message)}</p>`);
}

export function approvalPage({ id, formToken, request, resource, session }) {
  const scopes = request.scopes.filter((scope) => scope !== 'openid');
  return page(
    'Let this agent act for you?',
    `<p>You are signed in as <b>${escapeHtml(session.user.name)}</b>.</p>
<p>The agent <b>${escapeHtml(request.agent.name)}</b> at <b>${escapeHtml(new URL(request.redirectUri).host)}</b>
asks to use <b>${escapeHtml(resource.indicator)}</b> for you:</p>
<ul>${scopes.map((scope) => `<li>${escapeHtml(scope)}</li>`).join('')}</ul>
<form method="post" action="approval">
<input type="hidden" name="id" value="${escapeHtml(id)}">
<input type="hidden" name="form_token" value="${escapeHtml(formToken)}">
<button type="submit" name="decision" value="approve">Approve</button>
<button type="submit" name="decision" value="decline">Decline</button>
</form>`,
  );
}
