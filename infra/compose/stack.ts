import { execFile, execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryRoot } from '../checks/repository-files.ts'

const run = promisify(execFile)

/** Services whose public images have stand-ins here, by the variable that names the image. */
export const standIns = {
  POSTGRES_IMAGE: 'postgres',
  STORAGE_IMAGE: 'storage',
  PROXY_IMAGE: 'proxy',
  PROMETHEUS_IMAGE: 'prometheus',
} as const

export type Stack = {
  folder: string
  /** Runs Docker Compose; resolves to what it prints. */
  compose(...words: string[]): Promise<string>
  secret(name: string, value?: string): string
}

/**
 * The folder of compose.yaml as its README has it, with the images loaded into the engine and named in `.env`.
 * `images`: as infra/images/build.sh wrote them; `programs`: as build-stand-ins.sh did.
 */
export async function prepareStack(
  folder: string,
  { images, programs, settings }: { images: string; programs: string; settings: Record<string, string> },
): Promise<Stack> {
  for (const path of ['infra/compose', 'infra/observability', 'infra/images/worker-seccomp.json'])
    cpSync(join(repositoryRoot, path), join(folder, path), { recursive: true })
  const own = join(folder, 'infra/compose')
  execFileSync('sh', [join(own, 'make-secrets.sh')])

  execFileSync('docker', ['import', join(programs, 'programs.tar'), 'stand-in/programs'], { stdio: 'pipe' })
  cpSync(join(programs, 'weed'), join(own, 'stand-ins/weed'))
  const named = { ...settings }
  for (const [variable, target] of Object.entries(standIns)) {
    named[variable] = `stand-in/${target}`
    const words = ['build', '--quiet', '--file', 'Containerfile', '--target', target, '--tag', named[variable], '.']
    const env = { ...process.env, DOCKER_BUILDKIT: '0' }
    execFileSync('docker', words, { cwd: join(own, 'stand-ins'), stdio: 'pipe', env })
  }
  for (const image of ['server', 'worker']) {
    const loaded = execFileSync('docker', ['load', '--input', join(images, `${image}.tar`)], { encoding: 'utf8' })
    named[`AGENTGYM_${image.toUpperCase()}_IMAGE`] = /Loaded image: (\S+)/.exec(loaded)?.[1] ?? ''
  }
  writeFileSync(
    join(own, '.env'),
    Object.entries(named)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )

  return {
    folder: own,
    compose: async (...words) =>
      (await run(join(programs, 'docker-compose'), words, { cwd: own, maxBuffer: 1e8 })).stdout,
    secret: (name, value) => {
      const file = join(own, 'secrets', name)
      if (value !== undefined) writeFileSync(file, value)
      return readFileSync(file, 'utf8')
    },
  }
}

export type MailServer = {
  port: number
  /** The latest message to an address that has a link, as it was sent; undefined before it has come. */
  linkTo(address: string): URL | undefined
  close(): void
}

/** Takes every message, as a company's mail server does. */
export async function startMailServer(): Promise<MailServer> {
  const messages: { to: string; text: string }[] = []
  const server = createServer((socket) => {
    let [buffered, to, isData] = ['', '', false]
    socket.setEncoding('utf8').on('error', () => {})
    socket.write('220 mail\r\n')
    socket.on('data', (text: string) => {
      buffered += text
      for (;;) {
        const end = isData ? buffered.indexOf('\r\n.\r\n') : buffered.indexOf('\r\n')
        if (end < 0) return
        const part = buffered.slice(0, end)
        buffered = buffered.slice(end + (isData ? 5 : 2))
        if (isData) {
          messages.push({ to, text: part })
          isData = false
          socket.write('250 taken\r\n')
        } else if (/^DATA$/i.test(part)) {
          isData = true
          socket.write('354 go on\r\n')
        } else {
          to = /^RCPT TO:<([^>]*)>/i.exec(part)?.[1] ?? to
          socket.write(/^QUIT$/i.test(part) ? '221 bye\r\n' : '250 ok\r\n')
        }
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  return {
    port: (server.address() as { port: number }).port,
    linkTo: (address) => {
      // Quoted-printable: lines are broken, and "=" is "=3D".
      const texts = messages.filter(({ to }) => to === address).map(({ text }) => text.replaceAll('=\r\n', ''))
      const link = /https:\/\/\S+token=\S+/.exec(texts.at(-1)?.replaceAll('=3D', '=') ?? '')?.[0]
      return link === undefined ? undefined : new URL(link)
    },
    close: () => void server.close(),
  }
}
