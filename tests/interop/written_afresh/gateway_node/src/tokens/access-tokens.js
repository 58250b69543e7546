import { randomUUID } from 'node:crypto';
import { SignJWT, jwtVerify } from 'jose';

const LIFETIME_SECONDS = 1800;
const ACR = 'urn:agent-gateway:assurance:al2';

/** Gateway access tokens and ID tokens: JWTs of the core issuer. */
export class AccessTokens {
  constructor({ config, clock, keys, grants }) {
    Object.assign(this, { config, clock, keys, grants });
    this.lifetimeSeconds = LIFETIME_SECONDS;
  }

  async issue(grant, agent, scopes) {
    return this.sign('at+jwt', LIFETIME_SECONDS, {
      sub: grant.subject,
      aud: [grant.indicator],
      jti: randomUUID(),
      client_id: agent.clientId,
      scp: scopes,
      gid: grant.id,
      ext: this.extension(grant, agent),
    });
  }

  extension(grant, agent) {
    return {
      acr: ACR,
      amr: grant.user.amr,
      agent: {
        client_id: agent.clientId,
        domain: new URL(agent.redirectUris[0]).hostname,
        name: agent.name,
        verifications: [],
      },
      project_id: grant.projectId,
    };
  }

  async issueIdToken(grant, agent) {
    return this.sign('JWT', LIFETIME_SECONDS, {
      sub: grant.subject,
      aud: agent.clientId,
      auth_time: grant.user.authTime,
      preferred_username: grant.user.name,
      ...(grant.user.email && { email: grant.user.email }),
      ...(grant.nonce !== null && { nonce: grant.nonce }),
    });
  }

  async sign(type, lifetime, claims) {
    const now = this.clock.seconds();
    const { kid, algorithm, privateKey } = this.keys.current;
    return new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, kid, typ: type })
      .setIssuer(this.config.issuer)
      .setIssuedAt(now)
      .setExpirationTime(now + lifetime)
      .sign(privateKey);
  }

  /** Grant and scopes of a valid access token, or undefined. */
  async verify(token) {
    try {
      const { payload } = await jwtVerify(token, (header) => this.verificationKey(header), {
        algorithms: [this.keys.algorithm],
        issuer: this.config.issuer,
        typ: 'at+jwt',
        requiredClaims: ['exp', 'sub', 'aud'],
        currentDate: this.clock.date(),
      });
      const grant = this.grants.find(payload.gid);
      return grant && { grant, scopes: payload.scp };
    } catch {
      return undefined;
    }
  }

  verificationKey({ kid }) {
    const key = this.keys.byKid(kid);
    if (!key) throw new Error('unknown key');
    return key.publicKey;
  }
}
