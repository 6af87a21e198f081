/**
 * What Verdaccio loads by its name, for it takes plugins from files only: the plugin itself comes by the configuration
 * (see verdaccio-server.ts), so that it belongs to the service that asked, and is the module that the service uses.
 */
export default function agentgymPlugin(config: { create: () => object }): object {
  return config.create()
}
