import { Authorization } from './authorization/authorization.js';
import { Browsers } from './authorization/browsers.js';
import { AgentPolicy } from './console/agent-policy.js';
import { Agents } from './console/agents.js';
import { Projects } from './console/projects.js';
import { Users } from './console/users.js';
import { MerchantClients } from './merchant/client.js';
import { MerchantGrants } from './merchant/grants.js';
import { SignIn } from './merchant/sign-in.js';
import { Redemption } from './redemption/redemption.js';
import { Vault } from './redemption/vault.js';
import { authorizationPolicies, authorizationRoutes } from './routes/authorization.js';
import { controlRoutes } from './routes/control.js';
import { discoveryRoutes } from './routes/discovery.js';
import { redemptionRoutes } from './routes/redemption.js';
import { registrationPolicies, registrationRoutes } from './routes/registration.js';
import { coreRoutes } from './routes/token.js';
import { Clock } from './support/clock.js';
import { createHttpServer } from './support/http-server.js';
import { LogSink } from './support/log.js';
import { AccessTokens } from './tokens/access-tokens.js';
import { Grants } from './tokens/grants.js';
import { KeyRing } from './tokens/keys.js';
import { ProxyTokens } from './tokens/proxy-tokens.js';
import { TokenEndpoint } from './tokens/token-endpoint.js';

const CORE_KEY_ALGORITHM = 'EdDSA';

/** Makes the servers and the services behind them. */
export async function createGateway(config) {
  const log = new LogSink();
  const base = createHttpServer({ tls: config.baseUrl.startsWith('https:') ? config.tls : null, log });
  const core = createHttpServer({ tls: config.coreUrl.startsWith('https:') ? config.tls : null, log });
  const control = createHttpServer({ tls: null, log });

  const clock = new Clock();
  const coreKeys = await KeyRing.create(CORE_KEY_ALGORITHM);
  const projects = new Projects(config);
  const agents = new Agents(clock);
  const policy = new AgentPolicy();
  const users = new Users();
  const browsers = new Browsers(clock, config.baseUrl.startsWith('https:'));
  const merchantClients = new MerchantClients(clock);
  const merchantGrants = new MerchantGrants(merchantClients, clock);
  const signIn = new SignIn(merchantClients, base.log);
  const vault = new Vault(merchantGrants, clock, base.log);
  const grants = new Grants(clock);
  const proxyTokens = new ProxyTokens(projects, clock);
  const accessTokens = new AccessTokens({ config, clock, keys: coreKeys, grants });
  const tokenEndpoint = new TokenEndpoint({ projects, agents, grants, accessTokens, proxyTokens });
  const redemption = new Redemption({ projects, proxyTokens, accessTokens, vault });
  const authorization = new Authorization({ clock, projects, policy, users, browsers, signIn, grants, vault });

  const services = {
    config, log, clock, coreKeys, projects, agents, policy, users, browsers, merchantClients, merchantGrants, signIn,
    vault, grants, proxyTokens, accessTokens, tokenEndpoint, redemption, authorization,
    ...registrationPolicies, ...authorizationPolicies,
  };
  discoveryRoutes(base, services);
  registrationRoutes(base, services);
  authorizationRoutes(base, services);
  redemptionRoutes(base, services);
  coreRoutes(core, services);
  controlRoutes(control, services);
  return { services, servers: { base, core, control } };
}

/** Starts to listen. The control comes last: when it answers, everything does. */
export async function listen({ services: { config }, servers: { base, core, control } }) {
  for (const [server, address] of [
    [base, config.baseUrl],
    [core, config.coreUrl],
    [control, config.controlUrl],
  ]) {
    const { hostname, port } = new URL(address);
    await server.listen({ host: hostname, port: Number(port) });
  }
}
