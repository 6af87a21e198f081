import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findReadmePlaceholder, scenarioPackageSchema } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { checkName, checkTitle, nameFromFolder, titleFromName } from '../packages/scenario-folder.ts'
import { scenarioTemplates, writeTemplate } from './scenario-init.ts'

describe('names and titles', () => {
  it.each([
    ['scenarios/My Maze', 'my-maze'],
    ['./Übung_2', 'bung_2'],
    ['...', ''],
  ])('the folder %s gives the name %j', (folder, name) => {
    expect(nameFromFolder(folder)).toBe(name)
  })

  it('a name gives a title', () => {
    expect(titleFromName('@you/my-maze')).toBe('My maze')
  })

  it('are validated like in the manifest', () => {
    expect(checkName('@you/my-maze')).toBeUndefined()
    for (const name of ['', 'My Maze', '@you', '../x', 'a'.repeat(215)]) expect(checkName(name)).toBeTypeOf('string')
    expect(checkTitle('My maze')).toBeUndefined()
    for (const title of ['', '  ', 'x'.repeat(81)]) expect(checkTitle(title)).toBeTypeOf('string')
  })
})

describe.each(scenarioTemplates)('the template %s', (template) => {
  it('has a valid manifest, and a README with a line to write', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentgym-template-'))
    const files = await writeTemplate(folder, { name: '@you/my-maze', title: "A $& maze's {{end}}", template })
    const manifest = scenarioPackageSchema.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
    expect(manifest).toMatchObject({ name: '@you/my-maze', agentgym: { title: "A $& maze's {{end}}" } })
    const readme = readFileSync(join(folder, 'README.md'), 'utf8')
    expect(readme).toMatch(/^# A \$& maze's/)
    expect(readme).toContain('agentgym eval agents/my-maze')
    expect(findReadmePlaceholder(readme)).toMatchObject({ line: 3 })
    for (const file of files)
      expect(readFileSync(join(folder, file), 'utf8')).not.toMatch(/\{\{(title|agent)\}\}|scenario-name/)
    await expect(writeTemplate(folder, { name: 'other', title: 'Other', template })).rejects.toThrow(/EEXIST/)
    rmSync(folder, { recursive: true })
  })
})
