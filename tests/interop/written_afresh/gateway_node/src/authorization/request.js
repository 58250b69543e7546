import { PageError, RedirectError } from '../support/errors.js';

const SINGLE = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'prompt',
];

function only(query, name) {
  const values = query.getAll(name);
  return values.length === 1 && values[0] !== '' ? values[0] : null;
}

/** The agent and its redirect URI. Until both are known, nothing is sent to any agent. */
function readAgent(query, agents) {
  const agent = agents.find(only(query, 'client_id'));
  if (!agent) throw new PageError(403, 'Unknown agent', 'The agent that sent you here is not registered.');
  const redirectUri = only(query, 'redirect_uri');
  if (!agent.redirectUris.includes(redirectUri)) {
    throw new PageError(403, 'Unknown address', 'The agent that sent you here has not registered its address.');
  }
  return { agent, redirectUri };
}

/** Scopes of the request that are granted: openid and those of the Resource. Others are left out. */
export function readScopes(text, resource) {
  const wanted = text.split(' ').filter(Boolean);
  return [...new Set(wanted)].filter((scope) => scope === 'openid' || resource.scopes.includes(scope));
}

/** Checks an authorization request. */
export function readAuthorizationRequest(query, resource, agents) {
  const { agent, redirectUri } = readAgent(query, agents);
  const request = { agent, redirectUri, state: only(query, 'state') };
  const refuse = (error, description) => new RedirectError(request, error, description);

  for (const name of SINGLE) {
    if (query.getAll(name).length > 1) throw refuse('invalid_request', `${name} is there more than once`);
  }
  if (request.state === null) throw refuse('invalid_request', 'state is missing');
  const responseType = only(query, 'response_type');
  if (responseType === null) throw refuse('invalid_request', 'response_type is missing');
  if (responseType !== 'code') throw refuse('unsupported_response_type', 'response_type has to be code');
  if (only(query, 'code_challenge_method') !== 'S256') {
    throw refuse('invalid_request', 'code_challenge_method has to be S256');
  }
  const challenge = only(query, 'code_challenge') ?? '';
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) throw refuse('invalid_request', 'code_challenge is not one of S256');

  const scopes = readScopes(only(query, 'scope') ?? '', resource);
  const ofResource = scopes.some((scope) => scope !== 'openid');
  if (!scopes.includes('openid') || (resource.scopes.length > 0 && !ofResource)) {
    throw refuse('invalid_scope', 'scope has to name openid and a scope of the resource');
  }
  const prompt = (only(query, 'prompt') ?? '').split(' ');
  return { ...request, challenge, scopes, nonce: only(query, 'nonce'), prompt };
}

/** The address that brings the browser back to the agent. */
export function redirectTo(request, issuer, parameters) {
  const answer = { ...parameters, ...(request.state !== null && { state: request.state }), iss: issuer };
  const query = Object.entries(answer).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${request.redirectUri}${request.redirectUri.includes('?') ? '&' : '?'}${query.join('&')}`;
}
