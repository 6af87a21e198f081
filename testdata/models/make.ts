// Writes every model of this folder, the same bytes each time: node testdata/models/make.ts
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { badModels } from './bad-models.ts'
import { goodModel } from './good-models.ts'

const folder = import.meta.dirname
for (const file of readdirSync(folder)) if (file.endsWith('.onnx')) rmSync(join(folder, file))
writeFileSync(join(folder, 'good.onnx'), goodModel())
for (const { name, bytes } of badModels) writeFileSync(join(folder, `${name}.onnx`), bytes)
