import { accounts } from './0001-accounts.ts'
import { packages } from './0002-packages.ts'
import { catalog } from './0003-catalog.ts'
import { installation } from './0004-installation.ts'
import { readmeHtml } from './0005-readme-html.ts'
import { training } from './0006-training.ts'
import { ledger } from './0007-ledger.ts'
import { market } from './0008-market.ts'
import { moderation } from './0009-moderation.ts'
import { pictures } from './0010-pictures.ts'
import { dependents } from './0011-dependents.ts'
import { hostedCalls } from './0012-hosted-calls.ts'
import { ledgerSpeed } from './0013-ledger-speed.ts'
import { versionDocuments } from './0014-version-documents.ts'
import { jobs } from './0015-jobs.ts'
import { verdicts } from './0016-verdicts.ts'
import { tokenParents } from './0017-token-parents.ts'
import { operators } from './0018-operators.ts'
import { holds } from './0019-holds.ts'
import { evaluationRuns } from './0020-evaluation-runs.ts'
import { signOn } from './0021-sign-on.ts'
import { seasons } from './0022-seasons.ts'
import { invitations } from './0023-invitations.ts'
import { fairQueue } from './0024-fair-queue.ts'
import { agreedPrices } from './0025-agreed-prices.ts'
import { starMean } from './0026-star-mean.ts'
import { measuredSpeed } from './0027-measured-speed.ts'
import { secondFactor } from './0028-second-factor.ts'
import { trainingPayments } from './0029-training-payments.ts'
import { chargedTokens } from './0030-charged-tokens.ts'
import { emailChanges } from './0031-email-changes.ts'
import { securityKeys } from './0032-security-keys.ts'
import { jobOwners } from './0033-job-owners.ts'
import { renderedLater } from './0034-rendered-later.ts'
import { startedFrom } from './0035-started-from.ts'
import { pausedRuns } from './0036-paused-runs.ts'
import { notifications } from './0037-notifications.ts'
import { webhooks } from './0038-webhooks.ts'
import { queueSamples } from './0039-queue-samples.ts'
import { versionFiles } from './0040-version-files.ts'
import { sharedRuns } from './0041-shared-runs.ts'
import { hostedEpisodes } from './0042-hosted-episodes.ts'
import { demonstrations } from './0043-demonstrations.ts'
import { discovery } from './0044-discovery.ts'
import { packageDays } from './0045-package-days.ts'
import { packedCurves } from './0046-packed-curves.ts'
import { gpus } from './0047-gpus.ts'
import { runEpisodes } from './0048-run-episodes.ts'
import { arrivals } from './0049-arrivals.ts'
import { appeals } from './0050-appeals.ts'
import { largeTables } from './0051-large-tables.ts'
import { agentSums } from './0052-agent-sums.ts'
import { rentals } from './0053-rentals.ts'
import { gangs } from './0055-gangs.ts'
import type { Migration } from './migration.ts'

/** All of them, in order. The next one is added at the end. */
export const migrations: readonly Migration[] = [
  accounts,
  packages,
  catalog,
  installation,
  readmeHtml,
  training,
  ledger,
  market,
  moderation,
  pictures,
  dependents,
  hostedCalls,
  ledgerSpeed,
  versionDocuments,
  jobs,
  verdicts,
  tokenParents,
  operators,
  holds,
  evaluationRuns,
  signOn,
  seasons,
  invitations,
  fairQueue,
  agreedPrices,
  starMean,
  measuredSpeed,
  secondFactor,
  trainingPayments,
  chargedTokens,
  emailChanges,
  securityKeys,
  jobOwners,
  renderedLater,
  startedFrom,
  pausedRuns,
  notifications,
  webhooks,
  queueSamples,
  versionFiles,
  sharedRuns,
  hostedEpisodes,
  demonstrations,
  discovery,
  packageDays,
  packedCurves,
  gpus,
  runEpisodes,
  arrivals,
  appeals,
  largeTables,
  agentSums,
  rentals,
  gangs,
]
