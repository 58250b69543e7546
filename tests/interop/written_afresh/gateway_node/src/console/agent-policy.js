/** Which agents a Project lets in. A decision is made when an agent first comes to a Project, and stays. */
export class AgentPolicy {
  #states = new Map();

  #key(projectId, clientId) {
    return JSON.stringify([projectId, clientId]);
  }

  /** State of the agent in the Project, decided now if the Project has not met it yet. */
  admit(project, agent) {
    const key = this.#key(project.id, agent.clientId);
    if (!this.#states.has(key)) this.#states.set(key, project.agentPolicy === 'hold' ? 'pending' : 'approved');
    return this.#states.get(key);
  }

  approve(project, clientId) {
    this.#states.set(this.#key(project.id, clientId), 'approved');
  }
}
