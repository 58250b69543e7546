import * as oidc from 'openid-client';

/** The merchant did not sign the user in: declined by the user, or failed. */
export class SignInFailed extends Error {
  constructor(declined) {
    super('the merchant did not sign the user in');
    this.name = 'SignInFailed';
    this.declined = declined;
  }
}

function authenticationMethods(claims) {
  const amr = claims.amr;
  const usable = Array.isArray(amr) && amr.length > 0 && amr.every((item) => typeof item === 'string');
  return usable ? amr : ['pwd'];
}

/** Sign-in of users with the merchant's identity provider, by OpenID Connect's code flow with PKCE and nonce. */
export class SignIn {
  constructor(clients, log) {
    this.clients = clients;
    this.log = log;
  }

  callbackUrl(resource) {
    return `${resource.authorizationServer}/oauth2/callback`;
  }

  /** Where the browser is to go, and what has to be remembered until it comes back. */
  async begin(resource) {
    const secrets = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const url = oidc.buildAuthorizationUrl(this.clients.for(resource), {
      redirect_uri: this.callbackUrl(resource),
      scope: 'openid profile email',
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, secrets };
  }

  /** Who has signed in, by the merchant's redirect. */
  async finish(resource, secrets, query) {
    try {
      const callback = new URL(this.callbackUrl(resource));
      callback.search = query.toString();
      const tokens = await oidc.authorizationCodeGrant(this.clients.for(resource), callback, {
        expectedState: secrets.state,
        expectedNonce: secrets.nonce,
        pkceCodeVerifier: secrets.verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      return {
        login: claims.sub,
        name: typeof claims.preferred_username === 'string' ? claims.preferred_username : claims.sub,
        email: typeof claims.email === 'string' ? claims.email : undefined,
        amr: authenticationMethods(claims),
      };
    } catch (error) {
      this.log.warn({ kind: error.name, code: error.code }, 'sign-in at the merchant failed');
      throw new SignInFailed(error.error === 'access_denied');
    }
  }
}
