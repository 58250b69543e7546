import { readRegistration } from '../console/registration.js';

export function registrationAnswer(agent, secret) {
  return {
    client_id: agent.clientId,
    client_id_issued_at: agent.issuedAt,
    client_secret: secret,
    client_secret_expires_at: 0,
    client_name: agent.name,
    redirect_uris: agent.redirectUris,
    grant_types: agent.grantTypes,
    response_types: agent.responseTypes,
    token_endpoint_auth_method: agent.authMethod,
    verification_method: 'none',
  };
}

/** Dynamic client registration, on the base host. */
export function registrationRoutes(server, services) {
  server.post('/api/register', async (request, reply) => {
    const { agent, secret } = services.agents.register(services.readRegistration(request.body));
    return reply.code(201).send(services.registrationAnswer(agent, secret));
  });
}

export const registrationPolicies = { readRegistration, registrationAnswer };
