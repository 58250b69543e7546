import { REDEMPTION_SCOPE } from '../redemption/redemption.js';
import { TokenError } from '../support/errors.js';

function invalidClient(description = 'The client is not known, or its secret is wrong.') {
  return new TokenError('invalid_client', description, 401);
}

/** ID and secret of an Authorization header of the scheme Basic (RFC 6749 section 2.3.1). */
export function readBasic(authorization) {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '')?.[1];
  if (!encoded) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) return undefined;
  try {
    return { id: decodeURIComponent(text.slice(0, colon)), secret: decodeURIComponent(text.slice(colon + 1)) };
  } catch {
    return undefined;
  }
}

/** The grants of the token endpoint. */
export class TokenEndpoint {
  #grantTypes = new Map([
    ['authorization_code', (form, authorization) => this.exchangeCode(form, authorization)],
    ['refresh_token', (form, authorization) => this.refresh(form, authorization)],
    ['client_credentials', (form, authorization) => this.issueProxyToken(form, authorization)],
  ]);

  constructor({ projects, agents, grants, accessTokens, proxyTokens }) {
    Object.assign(this, { projects, agents, grants, accessTokens, proxyTokens });
  }

  async answer(form, authorization) {
    this.requireSingleFields(form);
    const grantType = this.required(form, 'grant_type');
    const handler = this.#grantTypes.get(grantType);
    if (!handler) throw new TokenError('unsupported_grant_type', 'There is no such grant.');
    return handler(form, authorization);
  }

  requireSingleFields(form) {
    if (new Set(form.keys()).size !== [...form.keys()].length) {
      throw new TokenError('invalid_request', 'A field is there more than once.');
    }
  }

  required(form, name) {
    const value = form.get(name);
    if (!value) throw new TokenError('invalid_request', `The field ${name} is missing.`);
    return value;
  }

  /** Agents authenticate with ID and secret in the form, and in no other way. */
  authenticateAgent(form, authorization) {
    if (authorization !== undefined) throw invalidClient('Agents authenticate with client_secret_post.');
    const agent = this.agents.authenticate(form.get('client_id') ?? '', form.get('client_secret') ?? '');
    if (!agent) throw invalidClient();
    return agent;
  }

  async exchangeCode(form, authorization) {
    const agent = this.authenticateAgent(form, authorization);
    const grant = this.grants.useCode(this.required(form, 'code'), agent, {
      redirectUri: this.required(form, 'redirect_uri'),
      verifier: this.required(form, 'code_verifier'),
    });
    return this.tokens(grant, agent, this.grantedScopes(grant, agent));
  }

  async refresh(form, authorization) {
    const agent = this.authenticateAgent(form, authorization);
    if (!agent.grantTypes.includes('refresh_token')) {
      throw new TokenError('unauthorized_client', 'The agent has not registered for refresh tokens.');
    }
    const grant = this.grants.useRefreshToken(this.required(form, 'refresh_token'), agent);
    return this.tokens(grant, agent, this.narrowedScopes(form, this.grantedScopes(grant, agent)));
  }

  /** What the user has granted, and the scope for redemption unless it is withheld from this agent. */
  grantedScopes(grant, agent) {
    const scopes = grant.scopes.filter((scope) => scope !== REDEMPTION_SCOPE);
    return agent.redemptionWithheld ? scopes : [...scopes, REDEMPTION_SCOPE];
  }

  narrowedScopes(form, granted) {
    const wanted = (form.get('scope') ?? '').split(' ').filter(Boolean);
    if (wanted.length === 0) return granted;
    if (!wanted.every((scope) => granted.includes(scope))) {
      throw new TokenError('invalid_scope', 'The scope is wider than what was granted.');
    }
    return granted.filter((scope) => wanted.includes(scope));
  }

  async tokens(grant, agent, scopes) {
    const refreshToken = this.grants.issueRefreshToken(grant);
    return {
      access_token: await this.accessTokens.issue(grant, agent, scopes),
      token_type: 'Bearer',
      expires_in: this.accessTokens.lifetimeSeconds,
      id_token: await this.accessTokens.issueIdToken(grant, agent),
      refresh_token: refreshToken,
      scope: scopes.join(' '),
    };
  }

  /** Proxy clients authenticate with HTTP Basic, and in no other way. */
  async issueProxyToken(form, authorization) {
    const credentials = readBasic(authorization);
    const client = credentials && this.projects.authenticateProxyClient(credentials.id, credentials.secret);
    if (!client) throw invalidClient();
    return this.proxyTokens.issue(client);
  }
}
