import { randomUUID } from 'node:crypto';
import { fingerprint, randomSecret, sameSecret } from '../support/secrets.js';
import { KeyRing } from '../tokens/keys.js';

const RESOURCE_KEY_ALGORITHM = 'ES384';

/** What operators have set up in the Console: Projects with their Resources and Proxy clients. */
export class Projects {
  #projects = new Map();
  #resources = new Map();
  #proxyClients = new Map();

  constructor(config) {
    this.config = config;
  }

  createProject({ name, agentPolicy = 'approve' }) {
    const project = { id: `prj-${randomUUID()}`, name, agentPolicy, resources: new Map() };
    this.#projects.set(project.id, project);
    return project;
  }

  project(id) {
    return this.#projects.get(id);
  }

  deleteProject(id) {
    for (const resource of this.#projects.get(id)?.resources.values() ?? []) this.#resources.delete(resource.id);
    for (const client of this.#proxyClients.values()) if (client.projectId === id) client.active = false;
    this.#projects.delete(id);
  }

  async createResource(project, { indicator, scopes, merchant }) {
    const id = randomUUID();
    const resource = {
      id,
      projectId: project.id,
      indicator,
      scopes,
      merchant,
      keys: await KeyRing.create(RESOURCE_KEY_ALGORITHM),
      authorizationServer: `${this.config.baseUrl}/${id}`,
      jwksUri: `${this.config.baseUrl}/${id}/jwks.json`,
    };
    this.#resources.set(id, resource);
    project.resources.set(indicator, resource);
    return resource;
  }

  resource(id) {
    return this.#resources.get(id);
  }

  /** The Resource of a Project that has exactly this indicator. */
  resourceByIndicator(projectId, indicator) {
    return this.#projects.get(projectId)?.resources.get(indicator);
  }

  createProxyClient(project) {
    const secret = randomSecret();
    const client = {
      id: `proxy-${randomUUID()}`,
      projectId: project.id,
      secretFingerprint: fingerprint(secret),
      active: true,
    };
    this.#proxyClients.set(client.id, client);
    return { client, secret };
  }

  proxyClient(id) {
    return this.#proxyClients.get(id);
  }

  /** The active Proxy client with this ID and secret. */
  authenticateProxyClient(id, secret) {
    const client = this.#proxyClients.get(id);
    const matches = sameSecret(client?.secretFingerprint ?? '', fingerprint(secret));
    return client && matches && client.active ? client : undefined;
  }

  /** The protected resource metadata file that operators download. */
  metadataFile(resource) {
    const document = {
      resource: 'https://put-the-address-of-your-service-here.example',
      authorization_servers: [resource.authorizationServer],
      scopes_supported: resource.scopes,
      bearer_methods_supported: ['header'],
    };
    return JSON.stringify(document, null, 2);
  }
}
