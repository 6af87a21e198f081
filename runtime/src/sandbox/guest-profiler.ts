import { setFlagsFromString } from 'node:v8'
import type ivm from 'isolated-vm'

/** A function in a call tree, with what was measured in it alone. Lines and columns count from 1; 0 where there are none. */
export type ProfileNode = {
  name: string
  /** Of the script: the scenario's bundle, the harness, or empty for V8's own entries. */
  script: string
  line: number
  column: number
  self: number
  children: ProfileNode[]
}

/** From V8's CPU profiler: samples. `collections` counts those of the garbage collector that do not follow each other. */
export type CpuProfile = { trees: ProfileNode[]; collections: number }

const TITLE = 'scenario'
/** Bytes between two samples of allocations, on average. */
const HEAP_INTERVAL = 16_384

/**
 * Keeps every function a frame of its own, in isolates that are made from now on in this process: V8 knows only roughly where
 * in inlined code a sample was taken, and a loop would be counted for the engine that calls it.
 */
export function stopInlining(): void {
  for (const flag of ['--no-turbo-inlining', '--no-maglev-inlining']) setFlagsFromString(flag)
}

/** V8's profilers in one isolate. They run no author's code; what they return holds its names. */
export class GuestProfiler {
  readonly #isolate: ivm.Isolate
  readonly #session: ivm.InspectorSession
  readonly #pending = new Map<number, (response: string) => void>()
  #calls = 0

  /** `isolate` was made with the inspector. */
  constructor(isolate: ivm.Isolate) {
    this.#isolate = isolate
    this.#session = isolate.createInspectorSession()
    this.#session.onResponse = (call, response) => this.#pending.get(call)?.(response)
    this.#session.onNotification = () => undefined
  }

  startCpu(): void {
    this.#isolate.startCpuProfiler(TITLE)
  }

  async stopCpu(): Promise<CpuProfile> {
    const profiles = await this.#isolate.stopCpuProfiler(TITLE)
    let collections = 0
    const trees = profiles.map(({ profile }) => {
      const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
      const collectors = new Set(profile.nodes.filter(isCollector).map(({ id }) => id))
      collections += profile.samples.filter(
        (id, index) => collectors.has(id) && !collectors.has(profile.samples[index - 1]),
      ).length
      const build = (id: number): ProfileNode => {
        const node = nodes.get(id)
        const children = (node?.children ?? []).map(build)
        const { functionName = '', url = '', columnNumber = 0 } = node?.callFrame ?? {}
        return {
          name: functionName,
          script: url,
          line: lineOf(node?.callFrame),
          column: columnNumber,
          self: node?.hitCount ?? 0,
          children,
        }
      }
      return build(profile.nodes[0]?.id ?? 0)
    })
    return { trees, collections }
  }

  async startHeap(): Promise<void> {
    await this.#call('HeapProfiler.enable', {})
    await this.#call('HeapProfiler.startSampling', {
      samplingInterval: HEAP_INTERVAL,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    })
  }

  /** Bytes that were allocated, also those that have been collected. */
  async stopHeap(): Promise<ProfileNode> {
    const { profile } = (await this.#call('HeapProfiler.stopSampling', {})) as { profile: { head: HeapNode } }
    return fromHeap(profile.head)
  }

  /** Bytes of the heap in use, garbage included, and of array buffers. */
  heapBytes(): number {
    const { used_heap_size: used, externally_allocated_size: external } = this.#isolate.getHeapStatisticsSync()
    return used + external
  }

  dispose(): void {
    this.#session.dispose()
  }

  #call(method: string, params: object): Promise<unknown> {
    this.#calls += 1
    const id = this.#calls
    const { promise, resolve } = Promise.withResolvers<string>()
    this.#pending.set(id, resolve)
    this.#session.dispatchProtocolMessage(JSON.stringify({ id, method, params }))
    return promise.then((response) => {
      this.#pending.delete(id)
      return JSON.parse(response).result
    })
  }
}

type CpuNode = ivm.CpuProfile['nodes'][number]

function isCollector({ callFrame }: CpuNode): boolean {
  return callFrame.functionName === '(garbage collector)'
}

/** isolated-vm 7 misspells the name of the field in its types, and may mend that. */
function lineOf(frame: object | undefined): number {
  const { lineNumber, lineNubmer } = (frame ?? {}) as { lineNumber?: number; lineNubmer?: number }
  return lineNumber ?? lineNubmer ?? 0
}

type HeapNode = {
  callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number }
  selfSize: number
  children: HeapNode[]
}

function fromHeap({ callFrame, selfSize, children }: HeapNode): ProfileNode {
  const { functionName, url, lineNumber, columnNumber } = callFrame
  return {
    ...{ name: functionName, script: url, line: lineNumber + 1, column: columnNumber + 1, self: selfSize },
    children: children.map(fromHeap),
  }
}
