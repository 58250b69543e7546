import { createGateway, listen } from './app.js';
import { readConfig } from './config.js';

const gateway = await createGateway(readConfig());
await listen(gateway);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await Promise.all(Object.values(gateway.servers).map((server) => server.close()));
    process.exit(0);
  });
}
