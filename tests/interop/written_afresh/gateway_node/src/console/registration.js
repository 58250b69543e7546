import { ApiError } from '../support/errors.js';

const GRANT_TYPES = ['authorization_code', 'refresh_token'];
// client_secret_basic can be registered and is turned away at the token endpoint.
const AUTH_METHODS = ['client_secret_post', 'client_secret_basic'];
const NAME_LIMIT = 2000;
const REDIRECT_URI_LIMIT = 4000;

function refuse(code, message) {
  return new ApiError(422, code, message);
}

function optionalList(body, name, allowed, fallback) {
  const value = body[name] ?? fallback;
  if (!Array.isArray(value) || !value.every((item) => allowed.includes(item))) {
    throw refuse('invalid_client_metadata', `${name} has to be a list of: ${allowed.join(', ')}.`);
  }
  return value;
}

// Characters of RFC 3986; no user information, no fragment.
const REDIRECT_URI = /^https:\/\/[A-Za-z0-9._~%:[\]-]+([/?][A-Za-z0-9._~:/?@!$&'()*+,;=%[\]-]*)?$/;

function isRedirectUri(value) {
  if (typeof value !== 'string' || value.length > REDIRECT_URI_LIMIT) return false;
  return REDIRECT_URI.test(value) && URL.canParse(value);
}

/** Checks a registration (RFC 7591) and returns what is kept of it. */
export function readRegistration(body) {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw refuse('invalid_client_metadata', 'The body has to be a JSON object.');
  }
  const redirectUris = body.redirect_uris;
  if (!Array.isArray(redirectUris) || redirectUris.length === 0 || !redirectUris.every(isRedirectUri)) {
    throw refuse('invalid_redirect_uri', 'redirect_uris has to be a list of HTTPS addresses without fragment.');
  }
  const name = body.client_name ?? new URL(redirectUris[0]).hostname;
  if (typeof name !== 'string' || name.length > NAME_LIMIT) {
    throw refuse('invalid_client_metadata', 'client_name has to be a short text.');
  }
  const authMethod = body.token_endpoint_auth_method ?? 'client_secret_post';
  if (!AUTH_METHODS.includes(authMethod)) {
    throw refuse('invalid_client_metadata', 'token_endpoint_auth_method has to be client_secret_post.');
  }
  return {
    name: name.toWellFormed(),
    redirectUris: [...redirectUris],
    grantTypes: optionalList(body, 'grant_types', GRANT_TYPES, GRANT_TYPES),
    responseTypes: optionalList(body, 'response_types', ['code'], ['code']),
    authMethod,
  };
}
