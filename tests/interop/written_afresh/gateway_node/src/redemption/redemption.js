import { ApiError } from '../support/errors.js';

export const REDEMPTION_SCOPE = 'ext_token:read';

/** Credential redemption: a gateway access token and a Proxy token for the user's merchant token. */
export class Redemption {
  constructor({ projects, proxyTokens, accessTokens, vault }) {
    Object.assign(this, { projects, proxyTokens, accessTokens, vault });
  }

  async redeem({ authorization, proxyToken, body }) {
    this.requireHeaders(authorization, proxyToken);
    const indicator = this.readResource(body);
    const proxyClient = this.proxyClient(proxyToken);
    const grant = await this.userGrant(authorization);
    this.requireSameProject(grant, proxyClient);
    const resource = this.findResource(proxyClient.projectId, indicator, grant);
    const entry = await this.vault.redeem({
      projectId: proxyClient.projectId,
      subject: grant.subject,
      resource,
      login: grant.user.login,
    });
    // The merchant may have taken its time: a revocation meanwhile counts.
    this.proxyClient(proxyToken);
    return this.answer(entry);
  }

  requireHeaders(authorization, proxyToken) {
    if (!authorization) throw new ApiError(400, 'authorization_missing', 'The header Authorization is missing.');
    if (!proxyToken) throw new ApiError(400, 'proxy_token_missing', 'The header X-Proxy-Token is missing.');
  }

  readResource(body) {
    const resource = body && typeof body === 'object' && !Array.isArray(body) ? body.resource : undefined;
    if (typeof resource !== 'string') throw new ApiError(400, 'resource_missing', 'The body has to name a resource.');
    return resource;
  }

  proxyClient(proxyToken) {
    const client = this.proxyTokens.verify(proxyToken);
    if (!client) throw new ApiError(401, 'proxy_token_invalid', 'The Proxy token is not valid.');
    return client;
  }

  async userGrant(authorization) {
    const token = /^bearer +([^ ]+)$/i.exec(authorization)?.[1];
    const verified = token && (await this.accessTokens.verify(token));
    if (!verified) throw new ApiError(401, 'user_token_invalid', 'The user token is not a valid access token.');
    if (!verified.scopes.includes(REDEMPTION_SCOPE)) {
      throw new ApiError(401, 'scope_missing', `The user token lacks the scope ${REDEMPTION_SCOPE}.`);
    }
    return verified.grant;
  }

  requireSameProject(grant, proxyClient) {
    if (grant.projectId !== proxyClient.projectId) {
      throw new ApiError(401, 'wrong_project', 'The two tokens belong to different Projects.');
    }
  }

  /** The Resource with exactly this indicator, if it is the one that the user token is for. */
  findResource(projectId, indicator, grant) {
    const resource = this.projects.resourceByIndicator(projectId, indicator);
    if (!resource || resource.id !== grant.resourceId) {
      throw new ApiError(404, 'resource_unknown', 'There is no such resource for this user token.');
    }
    return resource;
  }

  answer({ accessToken, expiresAt, scope }) {
    return {
      access_token: accessToken,
      ...(expiresAt !== null && { expires_at: new Date(expiresAt * 1000).toISOString() }),
      ...(scope !== null && { scopes: scope }),
    };
  }
}
