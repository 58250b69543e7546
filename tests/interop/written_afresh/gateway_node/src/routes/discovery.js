import { ApiError } from '../support/errors.js';

export const CORE_KEYS_PATH = '/keys/core.json';

function discoveryDocument(config, resource) {
  return {
    issuer: config.issuer,
    authorization_endpoint: `${resource.authorizationServer}/oauth2/auth`,
    token_endpoint: `${config.coreUrl}/oauth2/token`,
    jwks_uri: `${config.coreUrl}${CORE_KEYS_PATH}`,
    agent_registration_endpoint: `${config.baseUrl}/api/register`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['EdDSA'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: ['openid', ...resource.scopes],
    authorization_response_iss_parameter_supported: true,
  };
}

export function resourceOf(projects, request) {
  const resource = projects.resource(request.params.resourceId);
  if (!resource) throw new ApiError(404, 'resource_unknown', 'There is no such Resource.');
  return resource;
}

/** Discovery documents and key sets of Resources, on the base host. */
export function discoveryRoutes(server, { config, projects }) {
  server.get('/:resourceId/.well-known/openid-configuration', { exposeHeadRoute: true }, async (request) =>
    discoveryDocument(config, resourceOf(projects, request)),
  );
  server.get('/:resourceId/jwks.json', { exposeHeadRoute: true }, async (request) =>
    resourceOf(projects, request).keys.publicSet(),
  );
}
