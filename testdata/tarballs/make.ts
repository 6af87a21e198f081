// Writes every tarball of this folder, the same bytes each time: node testdata/tarballs/make.ts
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { badTarballs } from './bad-tarballs.ts'
import { goodTarball } from './good-package.ts'

const folder = import.meta.dirname
for (const file of readdirSync(folder)) if (file.endsWith('.tgz')) rmSync(join(folder, file))
writeFileSync(join(folder, 'good.tgz'), goodTarball())
for (const { name, bytes } of badTarballs) writeFileSync(join(folder, `${name}.tgz`), bytes)
