/**
 * Verdaccio loads this file by its name, because it accepts plugins only from files. The plugin itself comes from the
 * configuration (see verdaccio-server.ts), so that it is the service's own instance.
 */
export default function agentgymPlugin(config: { create: () => object }): object {
  return config.create()
}
