/** Credential redemption, on the base host. */
export function redemptionRoutes(server, { redemption }) {
  server.post('/api/credentials/token', async (request) =>
    redemption.redeem({
      authorization: request.headers.authorization,
      proxyToken: request.headers['x-proxy-token'],
      body: request.body,
    }),
  );
}
