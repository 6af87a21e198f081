/**
 * Verdaccio loads this file by its name, because it accepts plugins from files only. The plugin itself comes from the
 * configuration (see verdaccio-server.ts), so that it belongs to the calling service and is the module that the service
 * uses.
 */
export default function agentgymPlugin(config: { create: () => object }): object {
  return config.create()
}
