import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import * as oidc from 'openid-client';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
const ASSERTION_SECONDS = 60;
const PASSING_ERRORS = ['temporarily_unavailable', 'server_error', 'slow_down'];

/** The merchant said no. */
export class MerchantRejected extends Error {
  constructor(code) {
    super('the merchant rejected the request');
    this.name = 'MerchantRejected';
    this.code = code;
  }
}

/** The merchant said nothing that can be understood. */
export class MerchantUnavailable extends Error {
  constructor(code) {
    super('the merchant could not be asked');
    this.name = 'MerchantUnavailable';
    this.code = code;
  }
}

/** The merchant's OAuth error, if its answer was one. */
async function oauthError(error) {
  if (error instanceof oidc.ResponseBodyError) return { status: error.status, code: error.error };
  if (error instanceof oidc.WWWAuthenticateChallengeError) {
    const body = await error.response.json().catch(() => null);
    if (typeof body?.error === 'string') return { status: error.response.status, code: body.error };
  }
  return null;
}

function readTokens(answer) {
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? null,
    expiresIn: answer.expires_in ?? null,
    scope: answer.scope ?? null,
  };
}

/** The grants by which the gateway gets merchant tokens. */
export class MerchantGrants {
  constructor(clients, clock) {
    this.clients = clients;
    this.clock = clock;
  }

  /** A merchant token for a user who has signed in and has approved an agent. */
  async provision(resource, login, agent) {
    const subjectToken = await this.subjectToken(resource, login, agent);
    try {
      return readTokens(
        await oidc.genericGrantRequest(this.clients.for(resource), TOKEN_EXCHANGE, {
          subject_token: subjectToken,
          subject_token_type: JWT_TYPE,
          requested_token_type: ACCESS_TOKEN_TYPE,
        }),
      );
    } catch (error) {
      const refusal = await oauthError(error);
      if (refusal && refusal.status < 500 && refusal.status !== 429 && !PASSING_ERRORS.includes(refusal.code)) {
        throw new MerchantRejected(refusal.code);
      }
      throw new MerchantUnavailable(error.code);
    }
  }

  /** A newer merchant token. Only invalid_grant says that the refresh token is no good. */
  async refresh(resource, refreshToken) {
    try {
      return readTokens(await oidc.refreshTokenGrant(this.clients.for(resource), refreshToken));
    } catch (error) {
      const refusal = await oauthError(error);
      if (refusal?.code === 'invalid_grant' && refusal.status < 500) throw new MerchantRejected(refusal.code);
      throw new MerchantUnavailable(error.code);
    }
  }

  /** What the gateway asserts to the merchant, signed with the Resource's own key: this user, by this agent. */
  async subjectToken({ merchant, keys }, login, agent) {
    const now = this.clock.seconds();
    const { kid, algorithm, privateKey } = keys.current;
    return new SignJWT({ act: { sub: agent.clientId, name: agent.name } })
      .setProtectedHeader({ alg: algorithm, kid, typ: 'JWT' })
      .setIssuer(merchant.clientId)
      .setSubject(login)
      .setAudience(merchant.addresses.issuer)
      .setIssuedAt(now)
      .setExpirationTime(now + ASSERTION_SECONDS)
      .setJti(randomUUID())
      .sign(privateKey);
  }
}
