import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMail } from './mail.ts'

const message = {
  to: 'ann@example.com',
  subject: 'Grüße',
  text: 'A link:\n\nhttps://gym.example/x?token=agm_1\n\n.\nend',
}
const from = 'AgentGym <no-reply@gym.example>'
const silent = { info: () => {}, warn: () => {}, error: () => {} }

describe('openMail', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentgym-mail-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('writes a message into a file that only its owner reads', async () => {
    const mails = join(folder, 'mails')
    const mail = openMail({ transport: 'file', from, folder: mails, log: silent })
    await Promise.all([mail.send(message), mail.send(message)])
    const names = await readdir(mails)
    expect(names).toHaveLength(2)
    for (const name of names) {
      expect(name).toMatch(/^\d{4}-.*\.eml$/)
      expect((await stat(join(mails, name))).mode & 0o777).toBe(0o600)
      const text = await readFile(join(mails, name), 'utf8')
      expect(text).toContain('To: ann@example.com')
      expect(text).toContain('From: AgentGym <no-reply@gym.example>')
      expect(text).toContain('Subject: Grüße\n')
      expect(text.endsWith(`\n\n${message.text}\n`)).toBe(true)
    }
  })

  it('text of others adds no header', async () => {
    const mails = join(folder, 'injected')
    const hostile = 'Sold\r\nBcc: everyone@example.com\r\n\r\nbody'
    const injected = { ...message, subject: hostile, id: 'n-1', headers: { 'List-Unsubscribe': `<${hostile}>` } }
    await openMail({ transport: 'file', from, folder: mails, log: silent }).send(injected)
    const [name] = await readdir(mails)
    const written = await readFile(join(mails, name), 'utf8')
    const received = await withSmtpServer(async (port) => {
      await openMail({ transport: `smtp://127.0.0.1:${port}`, from, folder, log: silent }).send(injected)
    })
    for (const text of [written, received]) {
      expect(text).toContain('Message-ID: <n-1@gym.example>')
      expect(text).toContain('List-Unsubscribe:')
      expect(text).not.toMatch(/^bcc:/im)
    }
  })

  it('writes to the log if configured', async () => {
    const lines: unknown[] = []
    const log = { ...silent, info: (...line: unknown[]) => lines.push(line) }
    await openMail({ transport: 'console', from, folder, log }).send(message)
    expect(lines).toEqual([['mail', message]])
  })

  it('sends by SMTP', async () => {
    const received = await withSmtpServer(async (port) => {
      await openMail({ transport: `smtp://127.0.0.1:${port}`, from, folder, log: silent }).send(message)
    })
    expect(received).toContain('MAIL FROM:<no-reply@gym.example>')
    expect(received).toContain('RCPT TO:<ann@example.com>')
    expect(received).toContain('Subject: =?UTF-8?')
    expect(received).toContain('token')
  })

  it('sends no password without TLS', async () => {
    const received = await withSmtpServer(async (port) => {
      const mail = openMail({ transport: `smtp://user:pass%20word@127.0.0.1:${port}`, from, folder, log: silent })
      await expect(mail.send(message)).rejects.toThrow()
    })
    expect(received).not.toContain('AUTH')
  })

  it('prevents header and recipient injection', async () => {
    const received = await withSmtpServer(async (port) => {
      const mail = openMail({ transport: `smtp://127.0.0.1:${port}`, from, folder, log: silent })
      await mail.send({ ...message, subject: 'Hello\r\nBcc: everybody@example.com' })
    })
    const mails = join(folder, 'headers')
    const mail = openMail({ transport: 'file', from, folder: mails, log: silent })
    await mail.send({ ...message, subject: 'Hello\r\nBcc: everybody@example.com' })
    const [name] = await readdir(mails)
    expect(await readFile(join(mails, name), 'utf8')).toContain('\nSubject: Hello Bcc: everybody@example.com\n')
    expect(received).not.toMatch(/^Bcc:/m)
    expect(received.match(/RCPT TO/g)).toHaveLength(1)
  })

  it.each(['', 'carrier-pigeon', 'http://user:pass-word@mail.example', 'smtp://'])('refuses %j', (transport) => {
    const open = () => openMail({ transport, from, folder, log: silent })
    expect(open).toThrow(AgentGymError)
    expect(open).toThrow(/must be "file", "console"/)
    expect(open).not.toThrow(/pass-word/)
  })
})

/** Accepts mail on one connection, without TLS and login, and resolves to everything the client sent. */
async function withSmtpServer(work: (port: number) => Promise<void>): Promise<string> {
  let received = ''
  const server: Server = createServer((socket) => converse(socket, (line) => (received += `${line}\n`)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  try {
    await work(typeof address === 'object' && address !== null ? address.port : 0)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
  return received
}

function converse(socket: Socket, hear: (line: string) => void): void {
  let inData = false
  let pending = ''
  socket.write('220 mail.test ESMTP\r\n')
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    const lines = (pending + chunk.toString()).split('\r\n')
    pending = lines.pop() ?? ''
    for (const line of lines) {
      hear(line)
      if (inData) {
        if (line !== '.') continue
        inData = false
        socket.write('250 taken\r\n')
      } else if (line.startsWith('DATA')) {
        inData = true
        socket.write('354 go on\r\n')
      } else if (line.startsWith('STARTTLS')) socket.write('502 not here\r\n')
      else if (line.startsWith('QUIT')) socket.end('221 bye\r\n')
      else socket.write('250 ok\r\n')
    }
  })
}
