import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { downloadPackage, jobAddress, leaseHeaders } from '@agentgym/client'
import { AgentGymError } from '@agentgym/contract'
import { type BuiltScenario, readBundle } from '../sandbox/build-scenario.ts'
import type { HeldLease } from './held-lease.ts'
import { scenarioFiles, unpackPackage, type WantedFiles } from './tarball.ts'

/** As a leased job names a package. */
export type PackageOfJob = { name: string; version: string; integrity: string; tarball_url: string }

/** A lease that lets its package be downloaded. */
type PackageLease = Pick<HeldLease, 'client' | 'request'> & { job: Pick<HeldLease['job'], 'lease'> }

const downloadLimitMs = 10 * 60_000

/** Calls `use` with a new empty folder, and removes it afterwards. */
export async function inFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'agentgym-work-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Downloads a job's package, checks its integrity, and writes the wanted files into a folder. */
export async function obtainPackage(
  lease: PackageLease,
  { name, version, integrity, tarball_url: tarball }: PackageOfJob,
  folder: string,
  files: WantedFiles,
): Promise<void> {
  const what = `${name}@${version}`
  const headers = leaseHeaders(lease.job.lease)
  const bytes = await lease.request(
    (signal) => downloadPackage(lease.client, { what, tarball: jobAddress(tarball), integrity, headers, signal }),
    { limitMs: downloadLimitMs },
  )
  await unpackPackage(bytes, folder, files)
}

/** A job's scenario: its published bundle, which must have the hash that the job names. */
export async function obtainScenario(
  lease: PackageLease,
  scenario: PackageOfJob & { hash: string },
  folder: string,
): Promise<BuiltScenario> {
  await obtainPackage(lease, scenario, folder, scenarioFiles)
  const bundle = readBundle(folder)
  if (bundle.hash === scenario.hash) return bundle
  throw new AgentGymError({
    code: 'integrity_mismatch',
    message: `The bundle of ${scenario.name}@${scenario.version} is ${bundle.hash.slice(0, 12)}, and the job needs ${scenario.hash.slice(0, 12)}.`,
    hint: 'Tell the operator of the server: its record of the version does not match the tarball.',
    data: { scenario: scenario.name, version: scenario.version, expected: scenario.hash, actual: bundle.hash },
  })
}
