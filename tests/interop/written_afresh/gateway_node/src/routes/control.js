import { sameSecret } from '../support/secrets.js';
import { readMerchant } from '../merchant/merchant.js';

class ControlError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function found(value, what) {
  if (value === undefined) throw new ControlError(404, `unknown ${what}`);
  return value;
}

/** What an operator does in the Console, by program. */
export function controlActions({ config, clock, log, coreKeys, projects, policy, agents }) {
  const project = (args) => found(projects.project(args.project_id), 'project_id');
  const actions = {
    describe: () => ({
      name: 'agent-authorization-gateway',
      version: '1.0.0',
      actions: Object.keys(actions),
      clock_offset_s: clock.offsetSeconds,
    }),
    create_project({ name, agent_policy: agentPolicy }) {
      return { project_id: projects.createProject({ name, agentPolicy }).id };
    },
    delete_project(args) {
      projects.deleteProject(project(args).id);
      return {};
    },
    set_agent_policy(args) {
      project(args).agentPolicy = args.agent_policy;
      return {};
    },
    async create_resource(args) {
      const { indicator, scopes } = args;
      if (projects.resourceByIndicator(project(args).id, indicator)) {
        throw new ControlError(422, 'the Project has a Resource with this indicator');
      }
      const merchant = readMerchant(args.merchant);
      const resource = await projects.createResource(project(args), { indicator, scopes, merchant });
      return { resource_id: resource.id, jwks_uri: resource.jwksUri };
    },
    create_proxy_client(args) {
      const { client, secret } = projects.createProxyClient(project(args));
      return { client_id: client.id, client_secret: secret };
    },
    revoke_proxy_client(args) {
      const client = projects.proxyClient(args.client_id);
      if (client?.projectId !== args.project_id) throw new ControlError(404, 'unknown client_id');
      client.active = false;
      return {};
    },
    approve_agent(args) {
      policy.approve(project(args), found(agents.find(args.client_id), 'client_id').clientId);
      return {};
    },
    withhold_redemption_scope(args) {
      found(agents.find(args.client_id), 'client_id').redemptionWithheld = true;
      return {};
    },
    advance_clock({ seconds }) {
      clock.advance(seconds);
      return {};
    },
    async rotate_keys() {
      await coreKeys.rotate();
      return {};
    },
    logs: () => ({ text: log.drain() }),
    resource_metadata(args) {
      const resource = found(projects.resource(args.resource_id), 'resource_id');
      if (resource.projectId !== args.project_id) throw new ControlError(404, 'unknown resource_id');
      return { document: projects.metadataFile(resource) };
    },
  };
  return actions;
}

/** The control API, on an address of its own. */
export function controlRoutes(server, services) {
  const { controlUrl, controlToken } = services.config;
  const actions = new Map(Object.entries(controlActions(services)));

  server.get(controlUrl.pathname, async () => ({ ready: true }));
  server.post(controlUrl.pathname, async (request, reply) => {
    if (controlToken && !sameSecret(request.headers.authorization ?? '', `Bearer ${controlToken}`)) {
      return reply.code(401).send({ refused: 'the control token is missing' });
    }
    const action = actions.get(request.body?.action);
    if (!action) return reply.code(501).send({ refused: 'there is no such action' });
    try {
      return await action(request.body);
    } catch (error) {
      if (error instanceof TypeError) return reply.code(422).send({ refused: error.message });
      if (error instanceof ControlError) return reply.code(error.status).send({ refused: error.message });
      throw error;
    }
  });
}
