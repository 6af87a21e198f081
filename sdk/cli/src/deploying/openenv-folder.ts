import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { escapeMarkdown, type ScenarioPackage } from '@agentgym/contract'
import { type BundledScenario, bundleEnvServer } from './bundle-env-server.ts'
import { containerFile, containerMachine } from './deployment-folder.ts'
import { replaceFolder } from './replace-folder.ts'

export type OpenEnvFolder = BundledScenario & {
  /** The manifest and the probe, by path. */
  files: readonly { path: string; text: string }[]
  baseImage: string
}

/** Where OpenEnv expects a server. */
const PORT = 8_000

/**
 * Writes a scenario as OpenEnv's tools expect an environment, and returns what is in the folder. It is also the build context of its
 * image, which downloads nothing but the base image. The same scenario and the same version of this command give the same bytes.
 */
export async function writeOpenEnvFolder(
  folder: string,
  { scenario, readme, files, baseImage }: OpenEnvFolder,
): Promise<string[]> {
  const { package: manifest } = scenario
  const texts = [
    ...files,
    { path: 'Dockerfile', text: dockerfile(manifest, baseImage) },
    { path: 'README.md', text: readmeOf(manifest) },
    ...pythonPackage(manifest),
  ]
  await replaceFolder(folder, 'openenv.yaml', async (unfinished) => {
    for (const { path, text } of texts) {
      await mkdir(dirname(join(unfinished, path)), { recursive: true })
      await writeFile(join(unfinished, path), text)
    }
    await bundleEnvServer(join(unfinished, 'server'), { scenario, readme }, containerMachine)
  })
  return [...texts.map(({ path }) => path), 'server/']
}

function dockerfile({ name, version }: ScenarioPackage, baseImage: string): string {
  return containerFile({
    comment: `Serves ${name}@${version} to clients of OpenEnv on port ${PORT}. Nothing is downloaded but the base image.
# Processors: ${containerMachine.processors.join(', ')}. OpenEnv's clients send no key, so everyone may play who reaches the port: publish it on
# 127.0.0.1, or in a network of your own, or set AGENTGYM_ENV_KEY when the container starts. AGENTGYM_MAX_SESSIONS and
# AGENTGYM_SESSION_TIMEOUT (seconds) bound what clients hold.`,
    ...{ baseImage, source: 'server', port: PORT, health: '/healthz' },
    variables: { AGENTGYM_WITHOUT_KEY: '1', AGENTGYM_MAX_SESSIONS: '64', AGENTGYM_SESSION_TIMEOUT: '1800' },
  })
}

function readmeOf({ name, version, agentgym }: ScenarioPackage): string {
  const plain = plainName(name)
  return `# ${escapeMarkdown(agentgym.title)}

${escapeMarkdown(agentgym.summary)}

The scenario \`${name}@${version}\` of AgentGym as an environment of OpenEnv.

\`\`\`sh
docker build --tag ${plain} .
docker run --rm --publish 127.0.0.1:${PORT}:${PORT} --read-only --tmpfs /tmp --cap-drop ALL ${plain}
openenv validate --url http://127.0.0.1:${PORT}
\`\`\`

\`\`\`python
from openenv import GenericEnvClient

with GenericEnvClient(base_url="http://127.0.0.1:${PORT}").sync() as env:
    print(env.reset(seed=1).observation["task"])
\`\`\`
`
}

/** What \`openenv push\` looks for beside the server: a package whose client is OpenEnv's own. */
function pythonPackage({ name, version, agentgym }: ScenarioPackage): OpenEnvFolder['files'] {
  const plain = plainName(name)
  const module = `${plain.replace(/[^a-z0-9]+/g, '_')}_env`
  const words = plain.split(/[^a-z0-9]+/)
  const type = `${words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')}Env`
  const client = /^[A-Z]/.test(type) ? type : `Env${type}`
  const summary = JSON.stringify(agentgym.summary.replace(/[\p{Cc}]+/gu, ' '))
  return [
    { path: '__init__.py', text: `from .client import ${client}\n\n__all__ = ["${client}"]\n` },
    {
      path: 'client.py',
      text: `from openenv import GenericEnvClient


class ${client}(GenericEnvClient):
    """Client of ${name}@${version}. Actions and observations are dicts, as GET /schema describes them."""
`,
    },
    {
      path: 'pyproject.toml',
      text: `[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "openenv-${plain}"
version = ${JSON.stringify(version.replace(/[-+].*$/, ''))}
description = ${summary}
requires-python = ">=3.10"
dependencies = ["openenv>=0.10,<0.11"]

[tool.setuptools]
packages = ["${module}"]
package-dir = { "${module}" = "." }
`,
    },
  ]
}

function plainName(name: string): string {
  return name.replace(/^@[^/]*\//, '')
}
