import * as oidc from 'openid-client';
import { merchantFetch } from './http.js';

const DEADLINE_SECONDS = 4;
const SIGNATURES = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];

/**
 * What the gateway is to a Resource's merchant: an OpenID Connect client that signs with the Resource's key. Addresses
 * are those that the Console was told; the merchant's discovery documents are not read.
 */
export class MerchantClients {
  #configurations = new WeakMap();

  constructor(clock) {
    this.clock = clock;
  }

  /** The openid-client configuration for a Resource, made anew when the gateway's clock was moved. */
  for(resource) {
    const known = this.#configurations.get(resource);
    if (known?.offset === this.clock.offsetSeconds) return known.configuration;
    const configuration = this.#create(resource);
    this.#configurations.set(resource, { configuration, offset: this.clock.offsetSeconds });
    return configuration;
  }

  #create({ merchant, keys }) {
    const { kid, privateKey } = keys.current;
    const configuration = new oidc.Configuration(
      { ...merchant.addresses, id_token_signing_alg_values_supported: SIGNATURES },
      merchant.clientId,
      { [oidc.clockSkew]: this.clock.offsetSeconds, [oidc.clockTolerance]: 30 },
      oidc.PrivateKeyJwt({ key: privateKey, kid }),
    );
    configuration.timeout = DEADLINE_SECONDS;
    configuration[oidc.customFetch] = merchantFetch(merchant.caFile);
    oidc.enableNonRepudiationChecks(configuration);
    if (merchant.addresses.issuer.startsWith('http:')) oidc.allowInsecureRequests(configuration);
    return configuration;
  }
}
