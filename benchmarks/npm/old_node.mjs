// Lets @modelcontextprotocol/conformance start with Node 20: it imports `fs.globSync`, which Node 22 introduced,
// and uses it in its command `tier-check` alone. Load this file with `node --import`.
import * as fs from "node:fs";
import { register } from "node:module";

if (!("globSync" in fs)) {
  const source = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = undefined;';
  const url = `data:text/javascript,${encodeURIComponent(source)}`;
  const hooks = `export const resolve = (name, context, next) =>
    name === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/")
      ? { url: ${JSON.stringify(url)}, shortCircuit: true }
      : next(name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}
