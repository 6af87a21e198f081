import { AgentGymError } from '@agentgym/contract'
import type { Command } from 'commander'
import type { MakeAction } from '../command-context.ts'
import { BASE_IMAGE, imageReference } from '../deploying/deployment-folder.ts'
import { portRange, wholeNumber } from '../option-values.ts'
import { envManifest, rewardRange } from './env-manifest.ts'
import { envServe } from './env-serve.ts'

export function addEnvCommands(program: Command, action: MakeAction): void {
  const env = program
    .command('env')
    .usage('COMMAND [options]')
    .description("serve scenarios as environments for other people's trainers")
  env
    .command('serve')
    .argument('<NAME...>', 'folder, name of a built-in scenario, or @scope/name[@range]')
    .description(
      'serve scenarios over OpenEnv and the vector protocol; clients send the key in AGENTGYM_ENV_KEY, if it is set',
    )
    .option('--host <ADDRESS>', 'address to listen on', '127.0.0.1')
    .option('--port <N>', 'port to listen on; 0 for any that is free', wholeNumber('port', portRange), 8000)
    .option(
      '--max-sessions <N>',
      'environments of all clients together',
      wholeNumber('max-sessions', { least: 1, greatest: 65_536 }),
      64,
    )
    .option(
      '--session-timeout <SECONDS>',
      'end a session that was not used for so long',
      wholeNumber('session-timeout', { least: 1, greatest: 604_800 }),
      1_800,
    )
    .option(
      '--allow-model <URL>',
      'let /rollouts call a language model at this address, though it is not public; can be repeated',
      addOrigin,
      [],
    )
    .option(
      '--without-key',
      'let everyone play who reaches the address, such as in a container, though AGENTGYM_ENV_KEY is not set',
    )
    .option('--exit-with-stdin', 'stop when standard input ends, as that of a program that started this')
    .action(action(envServe))
  env
    .command('manifest')
    .argument('<NAME>', 'folder, name of a built-in scenario, or @scope/name[@range]')
    .description(
      'write a scenario as an environment of OpenEnv: openenv.yaml, a probe, and a Dockerfile with its server',
    )
    .requiredOption('--out <DIR>', 'folder to write to')
    .option(
      '--reward-range <LOW,HIGH>',
      'range of one step (default: what random and oracle episodes show)',
      rewardRange,
    )
    .option(
      '--base-image <REF>',
      'image with Node.js 24 to build on, such as NAME@sha256:DIGEST',
      imageReference,
      BASE_IMAGE,
    )
    .action(action(envManifest))
}

function addOrigin(text: string, before: string[]): string[] {
  const url = URL.parse(text)
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return [...before, url.origin]
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--allow-model is ${JSON.stringify(text.slice(0, 200))}, which is no http or https address`,
    hint: 'Give an address, such as --allow-model http://127.0.0.1:8001.',
    data: { field: 'allow-model' },
  })
}
