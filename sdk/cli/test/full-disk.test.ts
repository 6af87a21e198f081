// @module-tag full
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeReadme } from '@agentgym/testkit/command-line'
import { noSmallDisk, onSmallDisk } from '@agentgym/testkit/small-disk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRegistry, type Person, password, type Registry } from './registry-people.ts'

const lastLine = (text: string) => JSON.parse(text.trim().split('\n').at(-1) ?? '')

/** Elsewhere, the reason is the title of the only test. */
if (noSmallDisk !== null) it(`cannot test full disks here: ${noSmallDisk}`, () => {})
else
  describe('on a full disk (C12)', { timeout: 300_000 }, () => {
    it('training fails naming the file; its last checkpoint is intact and gives the same agent', async () => {
      // One checkpoint fits, but not the next one beside it.
      const options = ['--steps 12000', '--seed 3', '--json', '--set evaluation_episodes=4', '--set evaluate_every=0']
      const train = `"$AGENTGYM" train cart-pole ${options.join(' ')} --set hidden=128,128 --set checkpoint_every=4000`
      const said = await onSmallDisk(
        '700k',
        `
        export AGENTGYM_HOME="$DISK.home"
        ${train} --out "$DISK/agent" | say failed
        find "$DISK/agent" -type f | sort | say files
        resize 64m
        "$AGENTGYM" train cart-pole --out "$DISK/agent" --resume --json | say resumed
        ${train} --out "$DISK/whole" | say straight
        sha256sum <"$DISK/agent/model.onnx" | say resumed_model
        sha256sum <"$DISK/whole/model.onnx" | say straight_model
        rm -r "$AGENTGYM_HOME"`,
      )
      const checkpoint = expect.stringMatching(/agent\/\.agentgym\/checkpoint\.safetensors$/)
      expect(lastLine(said.failed)).toMatchObject({
        event: 'error',
        error: {
          code: 'disk_full',
          message: expect.stringContaining('checkpoint.safetensors'),
          hint: expect.stringContaining('--resume'),
          data: { path: checkpoint, checkpoint, resume: expect.stringContaining('--resume') },
        },
      })
      expect(
        said.files
          .trim()
          .split('\n')
          .map((file) => file.replace(/^.*\/agent\//, '')),
      ).toEqual(['.agentgym/checkpoint.safetensors', 'run.json'])
      expect(lastLine(said.resumed)).toMatchObject({ event: 'result', steps: lastLine(said.straight).steps })
      expect(said.resumed_model).toBe(said.straight_model)
    })

    describe('with a server', () => {
      let registry: Registry
      let author: Person
      beforeAll(async () => {
        registry = await openRegistry()
        author = registry.person('ada')
        await author.join()
        await author.run(['scenario', 'init', 'maze', '--yes'])
        writeReadme(join(author.work, 'maze'))
        const path = join(author.work, 'maze', 'package.json')
        const manifest = JSON.parse(readFileSync(path, 'utf8'))
        writeFileSync(path, JSON.stringify({ ...manifest, name: '@ada/maze', license: 'MIT' }))
        expect(await author.run(['scenario', 'publish', 'maze'])).toMatchObject({ status: 0 })
      })
      afterAll(() => registry?.close())

      it('login, install and init fail naming the file, and keep existing files', async () => {
        const said = await onSmallDisk(
          '512k',
          `
          export AGENTGYM_HOME="$DISK/home" npm_config_userconfig="$DISK/npmrc"
          cd "$DISK"
          "$AGENTGYM" login --username ada --json >/dev/null
          cat "$AGENTGYM_HOME/credentials.json" npmrc | say before
          fill
          "$AGENTGYM" login --username ada --json | say login
          "$AGENTGYM" install @ada/maze --json | say install
          "$AGENTGYM" scenario init other --yes --json | say init
          cat "$AGENTGYM_HOME/credentials.json" npmrc | say after
          find . -name '*.tmp' | say leftovers
          rm filling && resize 64m
          "$AGENTGYM" install @ada/maze --json | say installed
          mount -o remount,ro "$DISK"
          "$AGENTGYM" scenario init another --yes --json | say read_only`,
          { AGENTGYM_SERVER: registry.server.url, AGENTGYM_PASSWORD: password },
        )
        const failure = (path: RegExp) => ({
          error: { code: 'disk_full', data: { path: expect.stringMatching(path) } },
        })
        expect(lastLine(said.login)).toMatchObject(failure(/credentials\.json|npmrc/))
        expect(lastLine(said.install)).toMatchObject(failure(/home\/packages/))
        expect(lastLine(said.init)).toMatchObject(failure(/other/))
        expect(lastLine(said.read_only)).toMatchObject({ error: { code: 'disk_read_only' } })
        expect(said.after).toBe(said.before)
        expect(said.leftovers).toBe('')
        expect(lastLine(said.installed)).toMatchObject({ ok: true, packages: [{ name: '@ada/maze' }] })
      })

      it('an upload that does not fit is refused completely, and the next one that fits is accepted', async () => {
        const store = join(import.meta.dirname, '../../../registry/src/core/storage/open-object-store.ts')
        const program = `
          const { openObjectStore } = await import(${JSON.stringify(store)})
          const store = await openObjectStore({ folder: process.env.DISK })
          const failed = await store.put(Buffer.alloc(2 ** 20, 1)).catch((error) => error)
          const keys = (await Array.fromAsync(store.list())).length
          const small = Buffer.from('small')
          const key = await store.put(small)
          const read = String(await store.get(key))
          console.log(JSON.stringify({ name: failed.name, report: failed.toReport(), keys, read }))`
        const said = await onSmallDisk(
          '512k',
          `"$NODE" --input-type=module -e "$PROGRAM" | say store
          find "$DISK/new" -type f | say leftovers`,
          { NODE: process.execPath, PROGRAM: program },
        )
        expect(lastLine(said.store)).toMatchObject({
          ...{ name: 'Outage', report: { code: 'storage_unavailable' }, keys: 0, read: 'small' },
        })
        expect(said.leftovers).toBe('')
      })
    })
  })
