/**
 * Programs in place of docker and kubectl, where no container engine and no cluster is: they keep their calls as JSON lines in
 * NAME.calls beside them, and start the server of the image that was built, as a container would.
 */
const shared = `
const { appendFileSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { spawn } = require('node:child_process')
const { basename, join } = require('node:path')
const words = process.argv.slice(2)
const at = (name) => join(__dirname, name)
appendFileSync(at(basename(__filename) + '.calls'), JSON.stringify(words) + '\\n')
function startServer(folder, key, log) {
  const out = openSync(log, 'w')
  const env = { HOST: '127.0.0.1', PORT: '0', AGENTGYM_AGENT_KEY: key }
  const child = spawn(process.execPath, [join(folder, 'server.mjs')], { env, detached: true, stdio: ['ignore', out, out] })
  child.unref()
  return child.pid
}
async function portIn(log) {
  for (;;) {
    const found = /"url":"http:[^"]*:(\\d+)"/.exec(readFileSync(log, 'utf8'))
    if (found) return found[1]
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
`

/** \`BROKEN\` in its environment: an image whose container ends at once. */
export const standInEngine = `${shared}
const name = words.includes('--name') ? words[words.indexOf('--name') + 1] : words.at(-1)
async function main() {
  switch (words[0]) {
    case 'build':
      return writeFileSync(at('image'), words.at(-1))
    case 'run':
      if (process.env.BROKEN) return
      return writeFileSync(at(name + '.pid'), String(startServer(readFileSync(at('image'), 'utf8'), process.env.AGENTGYM_AGENT_KEY, at(name + '.log'))))
    case 'port':
      return console.log('127.0.0.1:' + (process.env.BROKEN ? 9 : await portIn(at(words[1] + '.log'))))
    case 'inspect':
      return console.log(existsSync(at(name + '.pid')))
    case 'logs':
      return console.log('exec /usr/local/bin/node: exec format error')
    case 'rm':
      if (existsSync(at(name + '.pid'))) process.kill(Number(readFileSync(at(name + '.pid'), 'utf8')))
      return rmSync(at(name + '.pid'), { force: true })
  }
}
main()
`

export const standInKubectl = `${shared}
async function main() {
  const [, , verb] = words
  if (verb === 'get' && existsSync(at('secret'))) process.stdout.write(Buffer.from(readFileSync(at('secret'), 'utf8')).toString('base64'))
  if (verb === 'create') writeFileSync(at('secret'), JSON.parse(readFileSync(0, 'utf8')).stringData.key)
  if (verb === 'apply') readFileSync(0)
  if (verb === 'port-forward') {
    const pid = startServer(readFileSync(at('image'), 'utf8'), readFileSync(at('secret'), 'utf8'), at('pod.log'))
    process.on('SIGTERM', () => {
      process.kill(pid)
      process.exit(0)
    })
    console.log('Forwarding from 127.0.0.1:' + (await portIn(at('pod.log'))) + ' -> 4480')
    setInterval(() => {}, 1000)
  }
}
main()
`
