/** One candidate's training up to a rung; it goes on from where the rung before left it. */
export type TuningJob = { candidate: number; rung: number; from: number; steps: number }

/** A candidate's result at a rung: larger is better; null where it failed. `tie` decides between equal scores. */
export type TuningScore = { score: number | null; tie: number }

export type AshaOptions = {
  /** Steps of each rung, rising. */
  rungs: number[]
  /** The best 1 / reduction of a rung go on to the next. */
  reduction: number
  /** Environment steps of all jobs together. */
  budget: number
}

/** Steps of each rung: `most`, and reductions of it down to about `least`. */
export function rungsOf({ most, least, reduction }: { most: number; least: number; reduction: number }): number[] {
  const rungs = [most]
  while (rungs[0] / reduction >= least) rungs.unshift(rungs[0] / reduction)
  return rungs.map(Math.round)
}

/**
 * Asynchronous successive halving (Li et al. 2018, "Massively Parallel Hyperparameter Tuning", algorithm 2): a free
 * worker promotes a candidate that is among the best 1 / reduction of its rung, highest rung first, or else starts a new
 * candidate. It never waits for a rung to fill.
 *
 * What comes next is a function of the jobs and results so far.
 */
export class Asha {
  readonly #options: AshaOptions
  readonly #results: (TuningScore & { candidate: number })[][]
  readonly #promoted: Set<number>[]
  #candidates = 0
  #spent = 0

  constructor(options: AshaOptions) {
    this.#options = options
    this.#results = options.rungs.map(() => [])
    this.#promoted = options.rungs.map(() => new Set())
  }

  /** Steps of all jobs that were given. */
  get spent(): number {
    return this.#spent
  }

  /** Null: nothing more fits into the budget, as far as results are known. */
  next(): TuningJob | null {
    const { rungs, budget } = this.#options
    for (let rung = rungs.length - 2; rung >= 0; rung--) {
      if (this.#spent + rungs[rung + 1] - rungs[rung] > budget) continue
      const candidate = this.#promotable(rung)
      if (candidate === undefined) continue
      this.#promoted[rung].add(candidate)
      return this.#take({ candidate, rung: rung + 1, from: rungs[rung], steps: rungs[rung + 1] })
    }
    if (this.#spent + rungs[0] > budget) return null
    return this.#take({ candidate: this.#candidates++, rung: 0, from: 0, steps: rungs[0] })
  }

  report({ candidate, rung }: TuningJob, result: TuningScore): void {
    this.#results[rung].push({ ...result, candidate })
  }

  /** Candidates of a rung with a score, best first. */
  ranking(rung: number): number[] {
    return this.#results[rung]
      .filter(({ score }) => score !== null)
      .sort((a, b) => (b.score as number) - (a.score as number) || b.tie - a.tie || a.candidate - b.candidate)
      .map(({ candidate }) => candidate)
  }

  /** Best candidate of the highest rung that any has reached. */
  best(): { candidate: number; rung: number } | null {
    for (let rung = this.#results.length - 1; rung >= 0; rung--) {
      const [candidate] = this.ranking(rung)
      if (candidate !== undefined) return { candidate, rung }
    }
    return null
  }

  #promotable(rung: number): number | undefined {
    const most = Math.floor(this.#results[rung].length / this.#options.reduction)
    return this.ranking(rung)
      .slice(0, most)
      .find((candidate) => !this.#promoted[rung].has(candidate))
  }

  #take(job: TuningJob): TuningJob {
    this.#spent += job.steps - job.from
    return job
  }
}

/**
 * Runs the jobs of a study, `workers` at once. Job n is decided with the results of jobs 0 to n - workers, in that order,
 * whichever ended first: a study is a function of its seed and its results, and can be replayed from a log of them.
 * Rejects with the first failure of `run`.
 */
export async function runStudy(
  asha: Asha,
  workers: number,
  run: (job: TuningJob, index: number) => Promise<TuningScore>,
): Promise<void> {
  const jobs: { job: TuningJob; result: Promise<TuningScore> }[] = []
  let reported = 0
  const reportNext = async () => {
    const { job, result } = jobs[reported]
    asha.report(job, await result)
    reported += 1
  }
  for (;;) {
    while (reported <= jobs.length - workers) await reportNext()
    const job = asha.next()
    if (job !== null) {
      const result = run(job, jobs.length)
      // Awaited later, in its turn.
      result.catch(() => {})
      jobs.push({ job, result })
    } else if (reported < jobs.length) await reportNext()
    else return
  }
}
