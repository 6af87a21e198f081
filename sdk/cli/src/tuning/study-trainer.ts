import type { Evaluation, TrainingPlan } from '@agentgym/contract'
import type { Runtime } from '../command-context.ts'
import type { Study, StudyFolder } from './study-folder.ts'

type Progress = { onProgress(steps: number): void }

/** Training of a candidate from rung to rung: up to `steps`, from where the rung before left it at `from`. */
export type CandidateJob = Progress & {
  candidate: number
  rung: number
  from: number
  steps: number
  plan: TrainingPlan
}

/** A whole run of the confirmation. */
export type WholeJob = Progress & { arm: 'best' | 'current'; candidate: number; seed: number; plan: TrainingPlan }

export type TrainedJob = {
  evaluation: Evaluation
  /** Mean return of training episodes over the iterations of the job; null without an episode. */
  meanReturn: number | null
}

/** Where the jobs of a study are trained: on this machine or on a server's workers, with the same results. */
export type StudyTrainer = {
  /** `checkpoint` is stored in the study's folder; null: it is kept elsewhere. */
  candidate(job: CandidateJob): Promise<TrainedJob & { checkpoint: Uint8Array | null }>
  whole(job: WholeJob): Promise<TrainedJob>
  /** Lets nothing go on that costs money, if the study has ended early. */
  close(): Promise<void>
}

export type BuiltScenario = Awaited<ReturnType<Runtime['loadScenario']>>
type Local = { study: Study; folder: StudyFolder; scenario: BuiltScenario; runtime: Runtime; signal: AbortSignal }

/** Trains on this machine, in a supervised process for each job. */
export function localTrainer({ study, folder, scenario, runtime, signal }: Local): StudyTrainer {
  return {
    candidate: async ({ candidate, rung, steps, plan, onProgress }) =>
      runtime.trainCandidate({
        ...{ scenario, plan, signal, onProgress },
        // The same for all: candidates meet the same episodes and begin with the same random numbers.
        seed: study.seed,
        checkpoint: rung === 0 ? null : await folder.checkpoint(candidate, rung - 1),
        pauseAt: steps,
      }),
    whole: ({ seed, plan, onProgress }) => runtime.trainWhole({ scenario, plan, seed, signal, onProgress }),
    close: async () => {},
  }
}
