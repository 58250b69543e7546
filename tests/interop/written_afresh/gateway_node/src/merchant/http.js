import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';

const CONNECT_MS = 2000;
const SILENCE_MS = 3000;
const ANSWER_LIMIT = 256 * 1024;

const agents = new Map();

/** The connections to servers that the certificates in this file vouch for; null means the usual authorities. */
function connectionsFor(caFile) {
  const ca = caFile ? readFileSync(caFile, 'utf8') : undefined;
  if (!agents.has(ca)) {
    agents.set(
      ca,
      new Agent({
        connect: { ca, timeout: CONNECT_MS },
        headersTimeout: SILENCE_MS,
        bodyTimeout: SILENCE_MS,
        maxResponseSize: ANSWER_LIMIT,
      }),
    );
  }
  return agents.get(ca);
}

/**
 * A `fetch` towards a merchant: follows no redirects, unpacks nothing, and reads short answers only, because a
 * merchant may be broken or hostile.
 */
export function merchantFetch(caFile) {
  const dispatcher = connectionsFor(caFile);
  return async (url, options) => {
    const headers = Object.fromEntries(new Headers(options.headers));
    const answer = await request(url, {
      dispatcher,
      method: options.method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body: options.body === undefined || options.body === null ? null : String(options.body),
      signal: options.signal,
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    if (answer.headers['content-encoding'] !== undefined) throw new Error('the merchant packs its answers');
    return new Response(answer.statusCode === 204 ? null : body, {
      status: answer.statusCode,
      headers: Object.entries(answer.headers).flatMap(([name, value]) => [value].flat().map((item) => [name, item])),
    });
  };
}
